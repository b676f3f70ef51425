// The token strip: a listbox of chips. Knows the payload of viz/tokens.py; reports the position a
// reader chose. Knows no tokenizer: display texts arrive visible.

const DEFAULT_ROLE = "residual";

function fillChips(strip) {
  const { meta, holder, list } = strip, tall = meta.variant === "tall";
  keepChips(strip, "text", "number").forEach((chip, i) => {
    const [text, number] = chip.children;
    text.textContent = meta.tokens[i];
    number.textContent = tall ? meta.ids[i] : i;
    chip.classList.toggle("special", meta.special[i]);
    chip.setAttribute("aria-label", describe(meta, i));
  });
  list.setAttribute("aria-label", meta.labels.aria);
  list.setAttribute("aria-orientation", tall ? "vertical" : "horizontal");
  holder.classList.toggle("tall", tall);
}

function colourChips({ meta, host, holder, list }) {
  const theme = readTheme(host), mode = theme.dark ? "dark" : "light";
  holder.style.setProperty("--faint", theme.faint);
  holder.style.setProperty("--edge", theme.line);
  [...list.children].forEach((chip, i) => {
    const role = meta.roles[i];
    chip.classList.toggle("coloured", role !== null);
    chip.style.setProperty("--role", meta.colours[role ?? DEFAULT_ROLE][mode]);
  });
}

function showTip({ meta, holder, list, tip }, chip) {
  if (!chip) return tip.hide();
  const i = Number(chip.dataset.index), bottom = chip.offsetTop + chip.offsetHeight;
  const lines = [describe(meta, i), meta.details[i]].filter((line) => line);
  tip.show(lines, chip.offsetLeft - 14, bottom);
  // Below the chip, where it hides no neighbour.
  holder.querySelector(".tip").style.top = `${bottom - list.scrollTop + 5}px`;
}

function listen(strip) {
  const { list, tip } = strip;
  const on = (name, does) => list.addEventListener(name, does);
  for (const name of ["pointerover", "focusin"]) on(name, (event) => showTip(strip, chipOf(event)));
  for (const name of ["pointerleave", "focusout", "scroll"]) on(name, tip.hide);
}

export default component((host, port) => {
  const holder = element("div", "strip"), list = element("div", "chips");
  holder.append(list);
  host.append(holder);
  const choice = makeChoice(tellPython(port, "position"));
  const strip = { host, holder, list, choice, tip: makeTooltip(holder), meta: null };
  listenToChips(strip);
  listen(strip);
  const stopTheme = watchTheme(host, () => colourChips(strip));
  return {
    update(meta) {
      strip.meta = meta;
      fillChips(strip);
      colourChips(strip);
      adoptChoice(strip);
      showChoice(strip);
    },
    stop() {
      choice.stop();
      stopTheme();
    },
  };
});
