// The bar that walks through the steps and layers of a page. It counts in the browser, shows each
// press at once and reports where the reader came to rest: no press is lost, however slow a page.
// Knows {steps, of, names, step, layer, n_layers, before, beyond, play, keys, labels, revision};
// knows no op and no sentence. How it plays stands in stepper_play.js.

const PAUSE = 70;
// Python answers a report with its revision. After a longer silence the report counts as lost.
const PATIENCE = 5000;
const LIST = 368; // pixels of the window that the list of keys takes
// What uses the arrow keys itself.
const ROLES = [
  "slider", "spinbutton", "textbox", "combobox", "listbox", "radio", "radiogroup", "tab", "tablist",
  "grid", "menu", "menuitem", "tree", "dialog",
];
const OWN_ARROWS = ["input", "textarea", "select", "[contenteditable]:not([contenteditable=false])"]
  .concat(ROLES.map((role) => `[role=${role}]`))
  .join();

const clamp = (value, first, last) => Math.max(first, Math.min(value, last));

// ---- where the reader is ------------------------------------------------------------------------

// The steps of a layer: where layers have lists of their own, the walk goes on from one to the next.
const stepsOf = ({ steps, of }, layer) => (of ? steps[of[layer]] : steps);

// What lies before or beyond the steps, as the next page does, counts as one more.
function onward(meta, at, steps) {
  if (!steps) return at;
  const last = stepsOf(meta, at.layer).length - 1, step = at.step + steps;
  if (step > last && meta.of && at.layer < meta.n_layers - 1) return { layer: at.layer + 1, step: 0 };
  if (step < 0 && meta.of && at.layer > 0) {
    return { layer: at.layer - 1, step: stepsOf(meta, at.layer - 1).length - 1 };
  }
  return { ...at, step: clamp(step, meta.before ? -1 : 0, last + (meta.beyond ? 1 : 0)) };
}

// Another layer at the same step, which may have another number there, or (where it is not) at 0.
function toLayer(meta, at, layers) {
  const layer = clamp(at.layer + layers, 0, Math.max(meta.n_layers - 1, 0));
  const here = stepsOf(meta, at.layer), there = stepsOf(meta, layer);
  if (here === there) return { ...at, layer };
  return { layer, step: Math.max(there.indexOf(here[at.step]), 0) };
}

function press(bar, steps, layers) {
  goTo(bar, toLayer(bar.meta, onward(bar.meta, bar.at, steps), layers));
}

function goTo(bar, at) {
  if (at.step === bar.at.step && at.layer === bar.at.layer) return;
  bar.at = at;
  bar.due = true;
  clearTimeout(bar.timer);
  bar.timer = setTimeout(() => settle(bar), PAUSE);
  show(bar);
}

function settle(bar) {
  const { step, layer } = bar.at, op = stepsOf(bar.meta, layer)[step] ?? null;
  bar.timer = 0;
  bar.revision += 1;
  bar.reportedAt = performance.now();
  bar.port.setTriggerValue("move", { step, op, layer, revision: bar.revision });
}

// Python's word counts once it has seen the last report and no press waits to be reported. Returns
// whether it counted: then the page shows where the reader is.
function adopt(bar, meta) {
  const answered = meta.revision >= bar.revision || performance.now() - bar.reportedAt > PATIENCE;
  if (bar.timer || !answered) return false;
  const layer = meta.layer ?? 0;
  bar.revision = Math.max(bar.revision, meta.revision);
  bar.at = { step: clamp(meta.step, 0, stepsOf(meta, layer).length - 1), layer };
  bar.due = false;
  return true;
}

// ---- what the reader sees -----------------------------------------------------------------------

function show({ meta, at, holder, parts, playing }) {
  const { labels, n_layers } = meta, steps = stepsOf(meta, at.layer);
  holder.setAttribute("aria-label", labels.aria);
  nameStep(parts.previous, labels.previous, beside(meta, at, -1), labels);
  nameStep(parts.next, labels.next, beside(meta, at, 1), labels);
  const step = clamp(at.step + 1, 1, steps.length);
  parts.count.textContent = fill(labels.count, { step, steps: steps.length });
  parts.layer.hidden = !n_layers;
  parts.depth.textContent = fill(labels.layer, { layer: at.layer, last: n_layers - 1 });
  limit(parts.up, labels.layer_up, at.layer >= n_layers - 1);
  limit(parts.down, labels.layer_down, at.layer <= 0);
  showPlay(parts, meta, playing);
  showKeys(parts, meta);
}

// What a press leads to, in words; undefined where it leads nowhere.
function beside(meta, at, steps) {
  const to = onward(meta, at, steps);
  if (to.step === at.step && to.layer === at.layer) return undefined;
  const op = stepsOf(meta, to.layer)[to.step];
  if (op === undefined) return to.step < 0 ? meta.before : meta.beyond;
  const name = meta.names?.[op] ?? op;
  if (to.layer === at.layer) return name;
  return `${name} · ${fill(meta.labels.to_layer, { layer: to.layer })}`;
}

function nameStep(button, label, step, { named }) {
  button.querySelector(".name").textContent = step ?? label;
  limit(button, step ? fill(named, { label, step }) : label, step === undefined);
}

// Not `disabled`: a button switched off under the reader's finger would lose the focus.
function limit(button, label, end) {
  button.setAttribute("aria-label", label);
  button.setAttribute("aria-disabled", end);
}

function showPlay({ player, play, pace }, { labels, play: paces }, playing) {
  player.hidden = !paces;
  if (!paces) return;
  const name = playing ? labels.stop : labels.play;
  play.textContent = `${playing ? "■" : "▶"} ${name}`;
  play.setAttribute("aria-pressed", Boolean(playing));
  pace.setAttribute("aria-label", labels.pace);
  if (pace.options.length !== paces.length) {
    pace.replaceChildren(...paces.map((seconds) => new Option("", seconds)));
    pace.value = paces[Math.floor(paces.length / 2)];
  }
  paces.forEach((seconds, i) => {
    pace.options[i].textContent = fill(labels.seconds, { seconds });
  });
}

function showKeys({ help, list }, { labels, keys }) {
  help.hidden = !keys?.length;
  help.firstChild.textContent = labels.keys;
  list.setAttribute("aria-label", labels.keys);
  list.replaceChildren(...(keys ?? []).map(([pressed, does]) => {
    const line = element("div", "line"), names = element("span", "pressed");
    names.append(...pressed.map((key) => element("kbd", "", key)));
    line.append(names, element("span", "", does));
    return line;
  }));
}

// Above its button, inside the window.
function placeKeys({ help, list }) {
  const { left, top } = help.getBoundingClientRect();
  list.style.left = `${Math.max(8, Math.min(left, innerWidth - LIST))}px`;
  list.style.bottom = `${innerHeight - top + 8}px`;
}

function colour({ host, holder }) {
  const { line, faint, primary } = readTheme(host);
  const onWhite = 1.05 / (luminanceOf(rgbOf(primary)) + 0.05);
  const style = { line, faint, lead: primary, "on-lead": onWhite >= 4.5 ? "#ffffff" : "#0e1117" };
  for (const [name, value] of Object.entries(style)) holder.style.setProperty(`--${name}`, value);
}

// ---- building -----------------------------------------------------------------------------------

function makeButton(className, ...children) {
  const button = element("button", className);
  button.type = "button";
  button.append(...children);
  return button;
}

function build() {
  const names = ["count", "layer", "depth", "player"];
  const [count, layer, depth, player] = names.map((name) => element("span", name));
  const parts = { count, layer, depth, player, pace: element("select", "pace") };
  parts.previous = makeButton("previous", "◀", element("span", "name"), element("kbd", "", "←"));
  parts.next = makeButton("next", element("span", "name"), "▶", element("kbd", "", "→"));
  parts.up = makeButton("up", "⇧↑");
  parts.down = makeButton("down", "⇧↓");
  parts.play = makeButton("play");
  parts.help = makeButton("help", element("span"), element("kbd", "", "?"));
  parts.list = element("div", "list");
  parts.list.popover = "auto";
  for (const live of [count, depth]) live.setAttribute("aria-live", "polite");
  layer.append(depth, parts.up, parts.down);
  player.append(parts.play, parts.pace);
  return parts;
}

function assemble({ previous, player, count, layer, help, list, next }) {
  const holder = element("div", "stepper"), middle = element("div", "middle");
  const [left, right] = [element("div", "side"), element("div", "side")];
  left.append(previous);
  middle.append(player, count, layer, help, list);
  right.append(next);
  holder.append(left, middle, right);
  holder.setAttribute("role", "group");
  return holder;
}

// ---- keys ---------------------------------------------------------------------------------------

const PLAIN = { ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const SHIFTED = { ArrowUp: [0, 1], ArrowDown: [0, -1] };

// A box with the focus that holds more than its width shows.
function scrolls(box) {
  return box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX);
}

function onKey(bar, event) {
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
  const path = event.composedPath();
  if (path.some((node) => node.matches?.(OWN_ARROWS)) || scrolls(path[0])) return;
  const move = (event.shiftKey ? SHIFTED : PLAIN)[event.key];
  if (event.key === "?" && bar.meta.keys?.length) bar.parts.list.togglePopover();
  else if (move && (bar.meta.n_layers || !move[1])) {
    stopPlaying(bar);
    press(bar, ...move);
  } else return;
  event.preventDefault();
}

// A click on a tab or a switch leaves the arrows to the walk: it is who comes there by keyboard that
// moves on with them.
function letGo(event) {
  const chosen = event.detail && event.target.closest?.("[role=tab], [role=radio]");
  if (chosen) setTimeout(() => document.activeElement?.matches("[role=tab], [role=radio]")
    && document.activeElement.blur());
}

// Whatever else the reader does ends the playing: `true` hears what a figure keeps for itself, too.
function listen(bar) {
  const { previous, next, up, down, help, list, play: player } = bar.parts;
  const moves = [[previous, -1, 0], [next, 1, 0], [up, 0, 1], [down, 0, -1]];
  for (const [button, ...move] of moves) {
    button.addEventListener("click", () => press(bar, ...move));
  }
  player.addEventListener("click", () => (bar.playing ? stopPlaying : play)(bar));
  help.popoverTargetElement = list;
  list.addEventListener("beforetoggle", () => placeKeys(bar.parts));
  const stop = () => heard.forEach(([on, name, does, early]) => {
    on.removeEventListener(name, does, early);
  });
  const alive = (does) => (event) => (bar.host.isConnected ? does(event) : stop());
  const other = alive((event) => {
    const own = event.key !== "Escape" && event.composedPath().includes(bar.parts.player);
    if (!own) stopPlaying(bar);
  });
  const heard = [
    [document, "keydown", other, true],
    [document, "pointerdown", other, true],
    [document, "keydown", alive((event) => onKey(bar, event)), false],
    [document, "click", alive(letGo), true],
    [document, "visibilitychange", alive(() => document.hidden && stopPlaying(bar)), false],
    [window, "popstate", other, false], // Back and Forward
  ];
  for (const [on, name, does, early] of heard) on.addEventListener(name, does, early);
  return stop;
}

export default component((host, port) => {
  const parts = build(), holder = assemble(parts);
  const bar = { host, port, parts, holder, at: null, revision: 0, reportedAt: -Infinity };
  Object.assign(bar, { timer: 0, due: false, playing: false, next: 0 });
  const room = element("div", "room");
  room.append(holder);
  host.append(room);
  const stopListening = listen(bar);
  const stopTheme = watchTheme(host, () => colour(bar));
  return {
    update(meta) {
      bar.meta = meta;
      if (adopt(bar, meta)) follow(bar);
      colour(bar);
      show(bar);
    },
    stop() {
      clearTimeout(bar.timer);
      clearTimeout(bar.next);
      stopListening();
      stopTheme();
    },
  };
});
