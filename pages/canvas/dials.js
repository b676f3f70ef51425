// Dials with hands: one or two large ones (a pair of numbers before and after its turn), or a clock
// for each pair, whose hands a slider moves. Knows the payload of viz/dials.py and the painting of
// dials_paint.js; reports the position and the clock that a reader chose. Knows no model and no sentence.

const EACH = 170, REST = 450; // ms of a step while playing, and of rest before a position is told

// ---- the position -------------------------------------------------------------------------------

// Where a key leads from a position, or null for a key that is none of ours.
function positionAfterKey(event, at, last) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null;
  const page = Math.max(2, Math.round((last + 1) / 32));
  const steps = {
    ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -page, PageUp: page,
    Home: -last, End: last,
  };
  if (!(event.key in steps)) return null;
  return Math.max(0, Math.min(last, at + steps[event.key]));
}

// The dials with their hands at a position; what they have swept is their arc.
function turnedTo(meta, position) {
  const dials = meta.dials.map((dial, i) => {
    const [hand] = dial.hands, by = position * meta.slider.speeds[i];
    return { ...dial, hands: [{ ...hand, angle: hand.angle + by }], arc: [hand.angle, by] };
  });
  return { ...meta, dials };
}

function sayPosition({ labels, slider: { speeds, tokens } }, position) {
  const n = speeds.filter((speed) => position * speed >= FULL).length;
  const here = position < tokens.length ? labels.position : labels.beyond;
  const at = fill(here, { position, token: tokens[position] });
  return [at, fill(labels.round, { n, count: speeds.length })];
}

// ---- the whole ----------------------------------------------------------------------------------

function dialParts(host) {
  const root = element("div", "root"), bar = element("div", "bar"), canvas = element("canvas");
  const play = element("button", "play"), range = element("input", "range");
  const where = element("bdi", "where"), round = element("span", "round");
  const png = element("button", "save"), saves = element("div", "saves");
  const said = element("div", "said");
  play.type = png.type = "button";
  range.type = "range";
  canvas.setAttribute("role", "img");
  saves.append(png);
  said.append(where, round);
  bar.append(play, range, said);
  root.append(bar, canvas, saves);
  host.append(root);
  return { root, bar, canvas, play, range, where, round, png };
}

export default component((host, port) => {
  const { root, bar, canvas, play, range, where, round, png } = dialParts(host);
  const choice = makeChoice(tellPython(port, "position"), { pause: REST });
  let meta = null, timer = 0, drawnAt = 0;

  const redraw = () => {
    drawnAt = root.clientWidth;
    if (!meta || !drawnAt) return;
    const shown = meta.slider ? turnedTo(meta, choice.current) : meta;
    paintDials(canvas, shown, drawnAt, readTheme(host));
  };
  const show = () => {
    const [at, gone] = sayPosition(meta, choice.current);
    range.value = choice.current;
    range.setAttribute("aria-valuetext", at);
    where.textContent = at;
    round.textContent = gone;
    redraw();
  };
  const move = (position) => {
    choice.move(position);
    show();
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    if (meta?.slider) play.textContent = meta.labels.play;
  };
  const start = () => {
    if (choice.current >= meta.slider.last) move(0);
    play.textContent = meta.labels.pause;
    timer = setInterval(() => {
      if (choice.current >= meta.slider.last) stop();
      else move(choice.current + 1);
    }, EACH);
  };

  play.addEventListener("click", () => (timer ? stop() : start()));
  range.addEventListener("input", () => move(Number(range.value)));
  bar.addEventListener("keydown", (event) => {
    const position = positionAfterKey(event, choice.current, meta.slider.last);
    if (position === null) return;
    event.preventDefault();
    event.stopPropagation();
    move(position);
  });
  const clockAt = ({ offsetX, offsetY }) =>
    meta.slider ? dialAt(meta, placeDials(meta, drawnAt), offsetX, offsetY) : -1;
  canvas.addEventListener("pointermove", (event) => {
    canvas.style.cursor = clockAt(event) < 0 ? "" : "pointer";
  });
  canvas.addEventListener("click", (event) => {
    const index = clockAt(event);
    if (index < 0) return;
    choice.stop(); // the position is told along; told later, it would come to another view
    port.setTriggerValue("dial", { index, position: choice.current });
  });
  png.addEventListener("click", () => {
    savePng([canvas], readTheme(host).background, `${fileName(meta.name)}.png`);
  });
  const resized = new ResizeObserver(() => root.clientWidth !== drawnAt && redraw());
  resized.observe(root);
  const stopWatching = watchTheme(host, redraw);
  document.fonts.addEventListener("loadingdone", redraw);

  return {
    update(news) {
      meta = news;
      bar.hidden = !meta.slider;
      canvas.setAttribute("aria-label", meta.labels.aria);
      png.textContent = meta.labels.save_png;
      if (!meta.slider) return redraw();
      range.max = meta.slider.last;
      range.setAttribute("aria-label", meta.labels.slider);
      choice.adopt(meta.slider.value);
      if (choice.current > meta.slider.last) move(meta.slider.last);
      play.textContent = timer ? meta.labels.pause : meta.labels.play;
      show();
    },
    stop() {
      stop();
      choice.stop();
      resized.disconnect();
      stopWatching();
      document.fonts.removeEventListener("loadingdone", redraw);
      root.remove();
    },
  };
});
