// What lists of token chips share: a listbox of which one chip is chosen, by click or key.
// Knows {list, choice, meta: {labels, tokens, ids, selected, variant}}; knows no figure.

function makeChip(index, ...parts) {
  const chip = element("div", "chip");
  chip.dataset.index = index;
  chip.setAttribute("role", "option");
  chip.append(...parts.map((name) => element("span", name)));
  return chip;
}

// Chips are reused, so that focus and scroll survive new data.
function keepChips({ list, meta }, ...parts) {
  const missing = meta.tokens.length - list.children.length;
  for (let n = 0; n < missing; n++) list.append(makeChip(list.children.length, ...parts));
  while (list.children.length > meta.tokens.length) list.lastChild.remove();
  return [...list.children];
}

function describe({ labels, tokens, ids }, position) {
  return fill(labels.token, { token: tokens[position], id: ids[position], position });
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
function scrollInside(list, item) {
  const top = item.offsetTop - list.offsetTop, bottom = top + item.offsetHeight;
  const lowest = bottom - list.clientHeight + 4;
  if (top < list.scrollTop) list.scrollTop = top - 4;
  else if (list.scrollTop < lowest) list.scrollTop = lowest;
}

function moveTo(view, index) {
  view.choice.move(index);
  showChoice(view);
  view.list.children[index].focus({ preventScroll: true });
}

function onChipKey(view, event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const last = view.meta.tokens.length - 1, at = view.choice.current ?? 0;
  const back = Math.max(at - 1, 0), on = Math.min(at + 1, last);
  const goals = { ArrowLeft: back, ArrowRight: on, Home: 0, End: last };
  if (view.meta.variant === "tall") Object.assign(goals, { ArrowUp: back, ArrowDown: on });
  if (!(event.key in goals)) return;
  event.preventDefault();
  event.stopPropagation();
  moveTo(view, goals[event.key]);
}

const chipOf = (event) => event.target.closest(".chip");

function listenToChips(view) {
  view.list.setAttribute("role", "listbox");
  view.list.addEventListener("keydown", (event) => onChipKey(view, event));
  view.list.addEventListener("click", (event) => {
    const chip = chipOf(event);
    if (chip) moveTo(view, Number(chip.dataset.index));
  });
}

// Takes new data: the choice that Python sends, or the reader's newer one.
function adoptChoice(view) {
  const { choice, meta } = view;
  choice.adopt(meta.selected ?? undefined);
  if (choice.current >= meta.tokens.length) choice.drop();
}
