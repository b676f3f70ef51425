// The tree of a beam search: drawn by branches_draw.js, walked by arrow keys, a branch chosen by a
// click or Enter. Knows the payload of viz/branches.py; knows no model and no sentence.

const ONES = [["best", { state: "kept", best: true }], ["kept", { state: "kept" }]];
ONES.push(["finished", { state: "finished" }], ["dropped", { state: "dropped" }]);

function paint(tree) {
  const { meta, host, box } = tree, theme = readTheme(host);
  const focused = tree.groups?.flat().includes(host.activeElement ?? host.getRootNode().activeElement);
  Object.assign(tree, drawTree(meta, theme));
  tree.svg.setAttribute("role", "group");
  tree.svg.setAttribute("aria-label", meta.labels.aria);
  box.replaceChildren(tree.svg);
  rove(tree, ...held(tree));
  if (focused) focusOn(tree);
  explain(tree, theme);
}

// Where the keys are: the last place, if there is one still.
function held({ meta, at }) {
  const [column, place] = at ?? meta.chosen ?? [0, 0];
  return meta.columns[column]?.[place] ? [column, place] : meta.chosen ?? [0, 0];
}

function explain({ legend, meta, save }, theme) {
  const { labels } = meta;
  const samples = ONES.map(([name, branch]) => [name, drawSample(branch, meta, theme)]);
  samples.push(["chosen", drawSample({ state: "dropped" }, meta, theme, true)]);
  legend.replaceChildren(...samples.map(([name, sample]) => {
    const entry = element("span");
    entry.append(sample, labels[name]);
    return entry;
  }), save);
  save.textContent = labels.save;
}

// ---- keys ---------------------------------------------------------------------------------------

function rove(tree, column, place) {
  const old = tree.at && tree.groups[tree.at[0]]?.[tree.at[1]];
  old?.setAttribute("tabindex", -1);
  tree.groups.flat().forEach((group) => group.setAttribute("tabindex", -1));
  tree.at = [column, place];
  tree.groups[column]?.[place]?.setAttribute("tabindex", 0);
}

// Scrolls the box alone, to a branch that is out of sight in it.
function keepInSight({ box, groups, meta: { chosen } }) {
  const group = chosen && groups[chosen[0]]?.[chosen[1]];
  if (!group) return;
  const seen = box.getBoundingClientRect(), at = group.getBoundingClientRect();
  const [x, y] = [at.left - seen.left, at.top - seen.top];
  if (x < 0 || at.right > seen.right) box.scrollLeft += x - box.clientWidth / 2;
  if (y < 0 || at.bottom > seen.bottom) box.scrollTop += y - box.clientHeight / 2;
}

function focusOn({ groups, at: [column, place] }) {
  groups[column]?.[place]?.focus({ preventScroll: false });
}

// Up and down among the branches of a level, left to what it goes on from, right to its best child.
function goal(columns, [column, place], key) {
  const last = columns[column].length - 1;
  if (key === "ArrowUp") return [column, Math.max(place - 1, 0)];
  if (key === "ArrowDown") return [column, Math.min(place + 1, last)];
  if (key === "Home") return [0, 0];
  if (key === "End") return [columns.length - 1, 0];
  if (key === "ArrowLeft") return column ? [column - 1, columns[column][place].parent] : [0, place];
  const next = (columns[column + 1] ?? []).findIndex(({ parent }) => parent === place);
  return next < 0 ? [column, place] : [column + 1, next];
}

const WALKING = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"];

function onKey(tree, event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (!event.target.closest(".branch")) return;
  if (WALKING.includes(event.key)) {
    rove(tree, ...goal(tree.meta.columns, tree.at, event.key));
    focusOn(tree);
  } else if (event.key === "Enter" || event.key === " ") choose(tree, tree.at);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

// ---- choosing -----------------------------------------------------------------------------------

function placeIn({ groups }, event) {
  const group = event.target.closest?.(".branch");
  const column = groups?.findIndex((each) => each.includes(group)) ?? -1;
  return group && column >= 0 ? [column, groups[column].indexOf(group)] : null;
}

function choose(tree, at) {
  rove(tree, ...at);
  tree.port.setTriggerValue("branch", at);
}

function showTip(tree, at) {
  if (!at) return tree.tip.hide();
  const [column, place] = at, frame = tree.holder.getBoundingClientRect();
  const box = tree.groups[column][place].getBoundingClientRect();
  tree.tip.show(tree.meta.columns[column][place].title, box.left - frame.left,
    box.top - frame.top);
}

function listen(tree) {
  const { box, holder } = tree, on = (name, does) => box.addEventListener(name, does);
  on("click", (event) => {
    const at = placeIn(tree, event);
    if (at) choose(tree, at);
  });
  on("keydown", (event) => onKey(tree, event));
  for (const name of ["pointerover", "focusin"]) on(name, (e) => showTip(tree, placeIn(tree, e)));
  for (const name of ["pointerleave", "focusout", "scroll"]) on(name, tree.tip.hide);
  tree.save.addEventListener("click", () => {
    saveTree(tree.svg, readTheme(tree.host).background, tree.meta.name);
  });
  holder.setAttribute("role", "presentation");
}

export default component((host, port) => {
  const holder = element("div", "branches"), box = element("div", "scrolls");
  const tree = { host, holder, box, port, legend: element("div", "legend"), at: null };
  tree.save = element("button", "save");
  tree.save.type = "button";
  holder.append(box, tree.legend);
  tree.tip = makeTooltip(holder);
  host.append(holder);
  listen(tree);
  const stopTheme = watchTheme(host, () => paint(tree));
  return {
    update(meta) {
      const moved = JSON.stringify(tree.meta?.chosen) !== JSON.stringify(meta.chosen);
      Object.assign(tree, { meta, at: moved ? meta.chosen : tree.at });
      paint(tree);
      if (moved && meta.asked) keepInSight(tree);
    },
    stop: stopTheme,
  };
});
