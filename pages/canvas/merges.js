// The player of merges: one piece of a text, joined pair by pair. It steps in the browser and
// reports where the reader came to rest. Knows the payload of viz/merging.py; draws with
// merges_tree.js, saves with merges_save.js; knows no tokenizer and no sentence.

const BEAT = 900; // milliseconds between two merges while it plays
const BUTTONS = [
  ["first", "«"], ["previous", "‹"], ["play", "▶"], ["next", "›"], ["last", "»"],
];

const lastStep = ({ meta }) => meta.merges.length;

// ---- where the reader is ------------------------------------------------------------------------

function go(player, step) {
  const goal = Math.max(0, Math.min(step, lastStep(player)));
  player.choice.move(goal);
  player.step = goal;
  show(player);
}

function stopPlaying(player) {
  clearInterval(player.timer);
  player.timer = 0;
  show(player);
}

function togglePlay(player) {
  if (player.timer) return stopPlaying(player);
  if (player.step === lastStep(player)) go(player, 0);
  player.timer = setInterval(() => {
    if (player.step < lastStep(player)) go(player, player.step + 1);
    if (player.step === lastStep(player)) stopPlaying(player);
  }, BEAT);
  show(player);
}

function press(player, name) {
  if (name === "play") return togglePlay(player);
  stopPlaying(player);
  const { step } = player;
  go(player, { first: 0, previous: step - 1, next: step + 1, last: lastStep(player) }[name]);
}

const KEYS = { ArrowLeft: "previous", ArrowRight: "next", Home: "first", End: "last", " ": "play" };

function onKey(player, event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !KEYS[event.key]) return;
  // These keys step here, not through the page; a button is pressed by its own Space.
  event.stopPropagation();
  if (event.key === " " && event.target.closest("button")) return;
  event.preventDefault();
  press(player, KEYS[event.key]);
}

// ---- what the reader sees -----------------------------------------------------------------------

// Scrolls a box to what it marks, where that is out of sight; scrollIntoView would move the page.
function keepInSight(box, node) {
  if (!node) return;
  const seen = box.getBoundingClientRect(), at = node.getBoundingClientRect();
  const [x, y] = [at.left - seen.left, at.top - seen.top];
  if (x < 0 || at.right > seen.right) box.scrollLeft += x - box.clientWidth / 3;
  if (y < 0 || at.bottom > seen.bottom) box.scrollTop += y - box.clientHeight / 3;
}

function showNow({ meta, step, parts, nameOf }) {
  const next = meta.merges[step];
  const boxes = partsAt(meta, step).map(([start, stop]) => {
    const name = nameOf(start, stop), box = element("span", "symbol");
    box.append(element("span", "text", name.text), element("span", "bytes", name.bytes));
    const chosen = next && start >= next.start && stop <= next.stop;
    box.classList.toggle("next", Boolean(chosen));
    box.classList.toggle("left", Boolean(chosen) && start === next.start);
    box.classList.toggle("made", step > 0 && name.made === step);
    return box;
  });
  parts.now.replaceChildren(...boxes);
  keepInSight(parts.now, parts.now.querySelector(".next"));
}

function showSteps({ step, parts }) {
  [...parts.steps.children].forEach((row, n) => {
    row.classList.toggle("later", n > step);
    row.classList.toggle("next", n === step);
    if (n === step) row.setAttribute("aria-current", "step");
    else row.removeAttribute("aria-current");
  });
  keepInSight(parts.steps, parts.steps.children[step] ?? parts.steps.lastChild);
}

function showTrees({ meta, step, parts }) {
  const next = meta.merges[step];
  const pair = next ? [[next.start, next.middle], [next.middle, next.stop]] : [];
  const marked = new Set(pair.map((part) => part.join("-")));
  for (const node of parts.trees.querySelectorAll("[data-made]")) {
    node.classList.toggle("later", Number(node.dataset.made) > step);
    node.classList.toggle("next", marked.has(node.dataset.part));
  }
  keepInSight(parts.trees, parts.trees.querySelector(".next"));
}

function showControls({ meta, step, timer, parts }) {
  const steps = meta.merges.length, { labels } = meta;
  const begun = step > 0, done = step === steps;
  const off = { first: !begun, previous: !begun, next: done, last: done };
  for (const [name] of BUTTONS) {
    parts[name].setAttribute("aria-label", name === "play" && timer ? labels.pause : labels[name]);
    // Not `disabled`: a button switched off under the reader's finger would lose the focus.
    parts[name].setAttribute("aria-disabled", Boolean(off[name]));
    parts[name].title = parts[name].getAttribute("aria-label");
  }
  parts.play.firstChild.textContent = timer ? "⏸" : "▶";
  parts.play.lastChild.textContent = timer ? labels.pause : labels.play;
  parts.slider.value = step;
  parts.slider.setAttribute("aria-valuetext", fill(labels.count, { step, steps }));
  parts.count.textContent = fill(done ? labels.done : labels.count, { step, steps });
}

function show(player) {
  showControls(player);
  showNow(player);
  showSteps(player);
  showTrees(player);
}

// ---- what stays while the reader steps ----------------------------------------------------------

function makeRow({ meta, nameOf }, merge, n) {
  const row = element("li"), { labels } = meta;
  const [left, right] = [nameOf(merge.start, merge.middle), nameOf(merge.middle, merge.stop)];
  const words = element("span", "pair");
  const parts = [left.text, "+", right.text, "→", merge.text];
  words.append(...parts.map((text, i) => element(i % 2 ? "i" : "bdi", i % 2 ? "" : "token", text)));
  row.append(element("span", "n", n + 1), words, element("span", "rank", merge.rank));
  row.title = fill(labels.row, { left: left.text, right: right.text, joined: merge.text });
  row.dataset.n = n;
  return row;
}

function fillPlayer(player) {
  const { meta, parts, host } = player, { labels } = meta, empty = !meta.merges.length;
  player.nameOf = namesOf(meta);
  parts.steps.replaceChildren(...meta.merges.map((merge, n) => makeRow(player, merge, n)));
  parts.trees.replaceChildren(...drawTrees(meta, readTheme(host).mono));
  parts.slider.max = meta.merges.length;
  for (const part of [parts.controls, parts.list, parts.now]) part.hidden = empty;
  parts.rank.textContent = labels.rank;
  parts.save.textContent = labels.save;
  player.holder.setAttribute("aria-label", labels.aria);
  for (const name of ["now", "trees", "steps", "slider"]) {
    parts[name].setAttribute("aria-label", labels[name === "trees" ? "tree" : name]);
  }
}

function colour({ meta, host, holder }) {
  const { dark, faint, line } = readTheme(host), mode = dark ? "dark" : "light";
  const style = { faint, edge: line, done: meta.colours.done[mode], next: meta.colours.next[mode] };
  for (const [name, value] of Object.entries(style)) holder.style.setProperty(`--${name}`, value);
}

function makeButton(name, sign) {
  const button = element("button", name);
  button.type = "button";
  button.append(element("span", "sign", sign));
  if (name === "play") button.append(element("span", "word"));
  return button;
}

function build() {
  const parts = { slider: element("input", "slider"), count: element("span", "count") };
  for (const [name, sign] of BUTTONS) parts[name] = makeButton(name, sign);
  parts.controls = element("div", "controls");
  parts.controls.append(...BUTTONS.map(([name]) => parts[name]), parts.slider, parts.count);
  Object.assign(parts.slider, { type: "range", min: 0, step: 1 });
  parts.count.setAttribute("aria-live", "polite");
  for (const name of ["now", "below", "trees", "list"]) parts[name] = element("div", name);
  for (const name of ["now", "trees"]) parts[name].setAttribute("role", "group");
  parts.now.tabIndex = 0;
  parts.steps = element("ol", "steps");
  parts.rank = element("div", "head");
  parts.list.append(parts.rank, parts.steps);
  parts.save = element("button", "save");
  parts.save.type = "button";
  parts.below.append(parts.list, parts.trees);
  return parts;
}

function listen(player) {
  const { parts, holder } = player;
  for (const [name] of BUTTONS) parts[name].addEventListener("click", () => press(player, name));
  holder.addEventListener("keydown", (event) => onKey(player, event));
  parts.save.addEventListener("click", () => {
    saveTrees(parts.trees, readTheme(player.host).background, "merges");
  });
  parts.slider.addEventListener("input", () => {
    stopPlaying(player);
    go(player, Number(parts.slider.value));
  });
  parts.steps.addEventListener("click", (event) => {
    const row = event.target.closest("li");
    if (!row) return;
    stopPlaying(player);
    go(player, Number(row.dataset.n));
  });
}

// Whatever the reader does elsewhere ends the playing, and the step is told before it: told later,
// it would be taken for one of the piece or text that the reader went to.
function watchOthers(player) {
  const heard = [[document, "pointerdown"], [document, "keydown"], [window, "popstate"]];
  const stop = () => heard.forEach(([on, name]) => on.removeEventListener(name, other, true));
  const other = (event) => {
    if (!player.host.isConnected) return stop();
    if (event.composedPath().includes(player.holder)) return;
    if (player.timer) stopPlaying(player);
    player.choice?.tell();
  };
  // `true` hears what a figure keeps for itself, too
  for (const [on, name] of heard) on.addEventListener(name, other, true);
  return stop;
}

// Another piece is another story: what was chosen in the one before does not count.
function adopt(player, meta) {
  const { step, ...piece } = meta, key = JSON.stringify(piece);
  if (key !== player.key) {
    player.choice?.stop();
    clearInterval(player.timer);
    Object.assign(player, { key, meta, timer: 0, choice: makeChoice(player.report) });
    fillPlayer(player);
  }
  player.choice.adopt(step);
  player.step = player.choice.current;
}

export default component((host, port) => {
  const parts = build(), holder = element("div", "merges");
  holder.setAttribute("role", "group");
  holder.append(parts.controls, parts.now, parts.below, parts.save);
  host.append(holder);
  const player = { host, holder, parts, timer: 0, report: tellPython(port, "cell") };
  listen(player);
  const stopWatching = watchOthers(player);
  const stopTheme = watchTheme(host, () => colour(player));
  return {
    update(meta) {
      adopt(player, meta);
      colour(player);
      show(player);
    },
    stop() {
      clearInterval(player.timer);
      player.choice.stop();
      stopWatching();
      stopTheme();
    },
  };
});
