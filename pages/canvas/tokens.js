// The token strip: a listbox of chips. Knows the payload of viz/tokens.py; reports the position a
// reader chose. Knows no tokenizer: display texts arrive visible.

const DEFAULT_ROLE = "residual";

function makeChip(index) {
  const chip = element("div", "chip");
  chip.dataset.index = index;
  chip.setAttribute("role", "option");
  chip.append(element("span", "text"), element("span", "number"));
  return chip;
}

function describe({ labels, tokens, ids }, position) {
  return fill(labels.token, { token: tokens[position], id: ids[position], position });
}

// Chips are reused, so that focus and scroll survive new data.
function fillChips({ meta, holder, list }) {
  const tall = meta.variant === "tall";
  while (list.children.length > meta.tokens.length) list.lastChild.remove();
  while (list.children.length < meta.tokens.length) list.append(makeChip(list.children.length));
  [...list.children].forEach((chip, i) => {
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

function showChoice({ list, choice }) {
  const chosen = choice.current;
  [...list.children].forEach((chip, i) => {
    chip.setAttribute("aria-selected", i === chosen);
    chip.tabIndex = i === (chosen ?? 0) ? 0 : -1;
  });
  if (list.children[chosen]) scrollInside(list, list.children[chosen]);
}

// scrollIntoView would move the page as well.
function scrollInside(list, chip) {
  const top = chip.offsetTop - list.offsetTop, bottom = top + chip.offsetHeight;
  const lowest = bottom - list.clientHeight + 4;
  if (top < list.scrollTop) list.scrollTop = top - 4;
  else if (list.scrollTop < lowest) list.scrollTop = lowest;
}

function move(strip, index) {
  strip.choice.move(index);
  showChoice(strip);
  strip.list.children[index].focus({ preventScroll: true });
}

function onKey(strip, event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const last = strip.meta.tokens.length - 1, at = strip.choice.current ?? 0;
  const back = Math.max(at - 1, 0), on = Math.min(at + 1, last);
  const goals = { ArrowLeft: back, ArrowRight: on, Home: 0, End: last };
  if (strip.meta.variant === "tall") Object.assign(goals, { ArrowUp: back, ArrowDown: on });
  if (!(event.key in goals)) return;
  event.preventDefault();
  event.stopPropagation();
  move(strip, goals[event.key]);
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
  const chipOf = (event) => event.target.closest(".chip");
  const on = (name, does) => list.addEventListener(name, does);
  on("keydown", (event) => onKey(strip, event));
  on("click", (event) => {
    const chip = chipOf(event);
    if (chip) move(strip, Number(chip.dataset.index));
  });
  for (const name of ["pointerover", "focusin"]) on(name, (event) => showTip(strip, chipOf(event)));
  for (const name of ["pointerleave", "focusout", "scroll"]) on(name, tip.hide);
}

export default component((host, port) => {
  const holder = element("div", "strip"), list = element("div", "chips");
  list.setAttribute("role", "listbox");
  holder.append(list);
  host.append(holder);
  const choice = makeChoice(tellPython(port, "position"));
  const strip = { host, holder, list, choice, tip: makeTooltip(holder), meta: null };
  listen(strip);
  const stopTheme = watchTheme(host, () => colourChips(strip));
  return {
    update(meta) {
      strip.meta = meta;
      fillChips(strip);
      colourChips(strip);
      choice.adopt(meta.selected ?? undefined);
      if (choice.current >= meta.tokens.length) choice.drop();
      showChoice(strip);
    },
    stop() {
      choice.stop();
      stopTheme();
    },
  };
});
