// A text as it is written: a pale beginning, then tokens that are coloured by probability and can be
// chosen. Knows the payload of viz/written.py; reports the position a reader chose. A text that is
// still being written is followed: its tokens come from the server one by one, without a run of the
// page, and when the last has come the page is told. Knows no tokenizer: display texts arrive
// visible.

const NEAR = 40; // pixels from its end at which a box follows what is written
const LOST_MS = 1000; // after which the page is run anew where a text can no longer be followed

// Background and ink of each code, as CSS.
function shadesOf(lut) {
  return Array.from({ length: 256 }, (_, code) => {
    const rgb = lut.subarray(code * 3, code * 3 + 3);
    return [`rgb(${rgb.join()})`, luminanceOf(rgb) > 0.18 ? "#000000" : "#ffffff"];
  });
}

const codeOf = (value) => Math.round(255 * Math.min(1, Math.max(0, value)));
const shown = (prob) => (prob < 0.0005 ? prob.toExponential(1) : prob.toFixed(3));

function nameOf({ meta, probs }, i) {
  const { labels, tokens, ids, first, forked } = meta;
  const said = [fill(labels.token, { token: tokens[i], id: ids[i], number: first + i + 1 })];
  if (!Number.isNaN(probs[i])) said.push(fill(labels.prob, { prob: shown(probs[i]) }));
  if (i === forked) said.push(labels.forked);
  return said;
}

function fillText(view) {
  const { meta, before, list, box, caret } = view;
  before.textContent = meta.before.join("");
  before.setAttribute("aria-label", meta.labels.before);
  keepChips(view).forEach((chip, i) => fillChip(view, chip, i));
  list.setAttribute("aria-label", meta.labels.aria);
  caret.hidden = !meta.follow;
  box.classList.toggle("running", Boolean(meta.follow));
  view.scale.firstChild.textContent = meta.labels.scale;
  view.scale.classList.toggle("none", !meta.labels.scale);
  say(view);
}

function fillChip(view, chip, i) {
  const { meta } = view;
  if (chip.textContent !== meta.tokens[i]) chip.textContent = meta.tokens[i];
  chip.classList.toggle("special", meta.special[i]);
  chip.classList.toggle("forked", i === meta.forked);
  chip.setAttribute("aria-label", nameOf(view, i).join(" · "));
}

// The line below the text: what it has cost so far.
function say({ meta, said }) {
  said.textContent = meta.values ? fill(meta.labels.said, meta.values) : meta.labels.reads;
}

function colourText(view) {
  const { host, holder, list, luts, scale } = view, theme = readTheme(host);
  const shades = (view.shades = shadesOf(luts[theme.dark ? 1 : 0]));
  holder.style.setProperty("--faint", theme.faint);
  holder.style.setProperty("--edge", theme.line);
  [...list.children].forEach((chip, i) => colourChip(view, chip, i));
  const stops = [0, 64, 128, 191, 255].map((code) => shades[code][0]);
  scale.children[2].style.background = `linear-gradient(to right, ${stops.join()})`;
}

function colourChip({ probs, shades }, chip, i) {
  const known = !Number.isNaN(probs[i]), [back, ink] = shades[known ? codeOf(probs[i]) : 0];
  chip.style.background = known ? back : "none";
  chip.style.color = known ? ink : "";
}

// ---- what is still to come ----------------------------------------------------------------------

// The browser asks again by itself when an answer has ended, and says what it has.
function followWriting(view) {
  leave(view);
  if (!view.meta.follow) return;
  const source = (view.source = new EventSource(location.origin + view.meta.follow));
  const whole = () => {
    leave(view);
    view.port.setTriggerValue("whole", true);
  };
  source.onmessage = ({ data }) => append(view, JSON.parse(data));
  source.addEventListener("whole", whole);
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) view.lost = setTimeout(whole, LOST_MS);
  };
}

function leave(view) {
  clearTimeout(view.lost);
  view.source?.close();
  view.source = null;
}

function append(view, { token, id, prob, special, values }) {
  const { meta, list, probs } = view, i = meta.tokens.length;
  meta.tokens.push(token);
  meta.ids.push(id);
  meta.special.push(special);
  if (meta.labels.said) meta.values = values;
  probs.push(prob);
  const chip = makeChip(i);
  list.append(chip);
  fillChip(view, chip, i);
  colourChip(view, chip, i);
  chip.setAttribute("aria-selected", false);
  chip.tabIndex = i ? -1 : 0;
  view.drawing ||= requestAnimationFrame(() => settle(view));
}

// Once for all tokens of one picture: it makes the browser measure the text.
function settle(view) {
  view.drawing = 0;
  say(view);
  if (view.atEnd) follow(view);
}

// ---- reading ------------------------------------------------------------------------------------

const isAtEnd = ({ box }) => box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;

// The box follows the writing while its end is in view; a choice is brought into view.
function follow(view) {
  if (view.meta.follow && view.atEnd) view.box.scrollTop = view.box.scrollHeight;
  else bringChoice(view);
}

function bringChoice({ box, list, choice }) {
  const chosen = list.children[choice.current];
  if (chosen) scrollInside(box, chosen);
}

function showTip({ holder, tip }, view, chip) {
  if (!chip) return tip.hide();
  const [first] = chip.getClientRects(), around = holder.getBoundingClientRect();
  tip.show(nameOf(view, Number(chip.dataset.index)), first.left - around.left - 14, 0);
  holder.querySelector(".tip").style.top = `${first.bottom - around.top + 5}px`;
}

function listen(view) {
  const { list, box, tip } = view;
  for (const name of ["pointerover", "focusin"]) {
    list.addEventListener(name, (event) => showTip(view, view, chipOf(event)));
  }
  for (const name of ["pointerleave", "focusout"]) list.addEventListener(name, tip.hide);
  box.addEventListener("scroll", () => {
    view.atEnd = isAtEnd(view);
    tip.hide();
  });
  list.addEventListener("keydown", () => bringChoice(view));
}

function makeScale() {
  const scale = element("div", "scale");
  scale.append(element("span"), element("span", "end", "0"), element("span", "ramp"));
  scale.append(element("span", "end", "1"));
  return scale;
}

export default component((host, port) => {
  const holder = element("div", "written"), box = element("div", "box"), scale = makeScale();
  const before = element("span", "before"), list = element("span", "chips");
  const caret = element("span", "caret"), said = element("p", "said");
  before.setAttribute("role", "note");
  box.append(before, list, caret);
  holder.append(box, scale, said);
  host.append(holder);
  const choice = makeChoice(tellPython(port, "position"));
  const view = { host, holder, box, before, list, caret, scale, said, choice };
  Object.assign(view, { port, meta: null, probs: [], shades: null });
  Object.assign(view, { source: null, lost: 0, atEnd: true, drawing: 0 });
  view.tip = makeTooltip(holder);
  listenToChips(view);
  listen(view);
  const stopTheme = watchTheme(host, () => colourText(view));
  return {
    update(meta, { probs, lut_light, lut_dark }) {
      view.atEnd = isAtEnd(view);
      Object.assign(view, { meta, probs: [...probs.data], luts: [lut_light.data, lut_dark.data] });
      fillText(view);
      colourText(view);
      if (meta.follow && meta.selected === null) choice.drop();
      adoptChoice(view);
      showChoice(view);
      follow(view);
      followWriting(view);
    },
    stop() {
      leave(view);
      choice.stop();
      stopTheme();
    },
  };
});
