// A text as it is written: a pale beginning, then tokens that are coloured by probability and can be
// chosen. Knows the payload of viz/written.py; reports the position a reader chose. Knows no
// tokenizer: display texts arrive visible.

const NEAR = 40; // pixels from its end at which a box follows what is written

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
  const named = { ...meta, tokens: { [meta.first + i]: meta.tokens[i] } };
  named.ids = { [meta.first + i]: meta.ids[i] };
  const said = [describe(named, meta.first + i)];
  if (!Number.isNaN(probs[i])) said.push(fill(meta.labels.prob, { prob: shown(probs[i]) }));
  if (i === meta.forked) said.push(meta.labels.forked);
  return said;
}

function fillText(view) {
  const { meta, before, list, box, caret } = view;
  before.textContent = meta.before.join("");
  before.setAttribute("aria-label", meta.labels.before);
  keepChips(view).forEach((chip, i) => {
    if (chip.textContent !== meta.tokens[i]) chip.textContent = meta.tokens[i];
    chip.classList.toggle("special", meta.special[i]);
    chip.classList.toggle("forked", i === meta.forked);
    chip.setAttribute("aria-label", nameOf(view, i).join(" · "));
  });
  list.setAttribute("aria-label", meta.labels.aria);
  caret.hidden = !meta.running;
  box.classList.toggle("running", meta.running);
  view.scale.firstChild.textContent = meta.labels.scale;
  view.scale.classList.toggle("none", !meta.labels.scale);
}

function colourText({ meta, host, holder, list, probs, luts, scale }) {
  const theme = readTheme(host), shades = shadesOf(luts[theme.dark ? 1 : 0]);
  holder.style.setProperty("--faint", theme.faint);
  holder.style.setProperty("--edge", theme.line);
  [...list.children].forEach((chip, i) => {
    const known = !Number.isNaN(probs[i]), [back, ink] = shades[known ? codeOf(probs[i]) : 0];
    chip.style.background = known ? back : "none";
    chip.style.color = known ? ink : "";
  });
  const stops = [0, 64, 128, 191, 255].map((code) => shades[code][0]);
  scale.children[2].style.background = `linear-gradient(to right, ${stops.join()})`;
}

// The box follows the writing while its end is in view; a choice is brought into view.
function follow({ box, list, meta, choice }, atEnd) {
  if (meta.running && atEnd) box.scrollTop = box.scrollHeight;
  else if (list.children[choice.current]) scrollInside(box, list.children[choice.current]);
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
  box.addEventListener("scroll", tip.hide);
  list.addEventListener("keydown", () => follow(view, false));
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
  const caret = element("span", "caret");
  before.setAttribute("role", "note");
  box.append(before, list, caret);
  holder.append(box, scale);
  host.append(holder);
  const choice = makeChoice(tellPython(port, "position"));
  const view = { host, holder, box, before, list, caret, scale, choice, meta: null, probs: [] };
  view.tip = makeTooltip(holder);
  listenToChips(view);
  listen(view);
  const stopTheme = watchTheme(host, () => colourText(view));
  return {
    update(meta, { probs, lut_light, lut_dark }) {
      const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
      Object.assign(view, { meta, probs: probs.data, luts: [lut_light.data, lut_dark.data] });
      fillText(view);
      colourText(view);
      adoptChoice(view);
      showChoice(view);
      follow(view, atEnd);
    },
    stop() {
      choice.stop();
      stopTheme();
    },
  };
});
