// Playing: the bar steps by itself to the end of the layer, until the reader does anything else.
// Knows the bar of stepper.js.

const atEnd = ({ meta, at }) => at.step >= stepsOf(meta, at.layer).length - 1;

// From where the reader is to the end of the layer; at the end, from its beginning.
function play(bar) {
  bar.playing = true;
  if (atEnd(bar)) goTo(bar, { ...bar.at, step: 0 });
  else wait(bar);
  show(bar);
}

function stopPlaying(bar) {
  if (!bar.playing) return;
  clearTimeout(bar.next);
  bar.playing = false;
  bar.next = 0;
  show(bar);
}

// The pace counts from when the page shows the step, so that playing never outruns a slow page.
function wait(bar) {
  if (!bar.playing || bar.next || bar.due) return;
  bar.next = setTimeout(() => {
    bar.next = 0;
    press(bar, 1, 0);
  }, 1000 * bar.parts.pace.value);
}

// The page shows where the reader is.
function follow(bar) {
  if (bar.playing && atEnd(bar)) stopPlaying(bar);
  else wait(bar);
}
