// The bar that walks through the steps and layers of a page. It counts in the browser, shows each
// press at once and reports where the reader came to rest: no press is lost, however slow a page.
// Knows {steps, step, layer, n_layers, beyond, labels, revision}; knows no op and no sentence.

const PAUSE = 70;
// Python answers a report with its revision. After a longer silence the report counts as lost.
const PATIENCE = 5000;
// What uses the arrow keys itself.
const ROLES = [
  "slider", "spinbutton", "textbox", "combobox", "listbox", "radio", "radiogroup", "tab", "tablist",
  "grid", "menu", "menuitem", "tree", "dialog",
];
const OWN_ARROWS = ["input", "textarea", "select", "[contenteditable]:not([contenteditable=false])"]
  .concat(ROLES.map((role) => `[role=${role}]`))
  .join();

const clamp = (value, last) => Math.max(0, Math.min(value, last));

// ---- where the reader is ------------------------------------------------------------------------

// What lies beyond the steps, as the next page does, counts as one more.
const lastStep = ({ steps, beyond }) => steps.length - (beyond ? 0 : 1);

function press(bar, steps, layers) {
  const step = clamp(bar.at.step + steps, lastStep(bar.meta));
  const layer = clamp(bar.at.layer + layers, Math.max(bar.meta.n_layers - 1, 0));
  if (step === bar.at.step && layer === bar.at.layer) return;
  bar.at = { step, layer };
  clearTimeout(bar.timer);
  bar.timer = setTimeout(() => settle(bar), PAUSE);
  show(bar);
}

function settle(bar) {
  bar.timer = 0;
  bar.revision += 1;
  bar.reportedAt = performance.now();
  bar.port.setTriggerValue("move", { ...bar.at, revision: bar.revision });
}

// Python's word counts once it has seen the last report and no press waits to be reported.
function adopt(bar, { step, layer, steps, revision }) {
  const answered = revision >= bar.revision || performance.now() - bar.reportedAt > PATIENCE;
  if (bar.timer || !answered) return;
  bar.revision = Math.max(bar.revision, revision);
  bar.at = { step: clamp(step, steps.length - 1), layer: layer ?? 0 };
}

// ---- what the reader sees -----------------------------------------------------------------------

function show({ meta, at, holder, parts }) {
  const { labels, steps, n_layers, beyond } = meta;
  holder.setAttribute("aria-label", labels.aria);
  nameStep(parts.previous, labels.previous, steps[at.step - 1], labels);
  nameStep(parts.next, labels.next, [...steps, beyond][at.step + 1], labels);
  const step = Math.min(at.step + 1, steps.length);
  parts.count.textContent = fill(labels.count, { step, steps: steps.length });
  parts.layer.hidden = !n_layers;
  parts.depth.textContent = fill(labels.layer, { layer: at.layer, last: n_layers - 1 });
  limit(parts.up, labels.layer_up, at.layer >= n_layers - 1);
  limit(parts.down, labels.layer_down, at.layer <= 0);
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
  const [count, layer, depth] = ["count", "layer", "depth"].map((name) => element("span", name));
  const parts = { count, layer, depth };
  parts.previous = makeButton("previous", "◀", element("span", "name"), element("kbd", "", "←"));
  parts.next = makeButton("next", element("span", "name"), "▶", element("kbd", "", "→"));
  parts.up = makeButton("up", "⇧↑");
  parts.down = makeButton("down", "⇧↓");
  for (const live of [count, depth]) live.setAttribute("aria-live", "polite");
  layer.append(depth, parts.up, parts.down);
  return parts;
}

function assemble({ previous, count, layer, next }) {
  const holder = element("div", "stepper"), middle = element("div", "middle");
  const [left, right] = [element("div", "side"), element("div", "side")];
  left.append(previous);
  middle.append(count, layer);
  right.append(next);
  holder.append(left, middle, right);
  holder.setAttribute("role", "group");
  return holder;
}

// ---- keys ---------------------------------------------------------------------------------------

const PLAIN = { ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const SHIFTED = { ArrowUp: [0, 1], ArrowDown: [0, -1] };

function onKey(bar, event) {
  const move = (event.shiftKey ? SHIFTED : PLAIN)[event.key];
  if (!move || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.composedPath().some((node) => node.matches?.(OWN_ARROWS))) return;
  if (move[1] && !bar.meta.n_layers) return;
  event.preventDefault();
  press(bar, ...move);
}

function listen(bar) {
  const { previous, next, up, down } = bar.parts;
  const moves = [[previous, -1, 0], [next, 1, 0], [up, 0, 1], [down, 0, -1]];
  for (const [button, ...move] of moves) {
    button.addEventListener("click", () => press(bar, ...move));
  }
  const stop = () => document.removeEventListener("keydown", hear);
  const hear = (event) => (bar.host.isConnected ? onKey(bar, event) : stop());
  document.addEventListener("keydown", hear);
  return stop;
}

export default component((host, port) => {
  const parts = build(), holder = assemble(parts);
  const bar = { host, port, parts, holder, at: null, timer: 0, revision: 0, reportedAt: -Infinity };
  host.append(holder);
  const stopKeys = listen(bar);
  const stopTheme = watchTheme(host, () => colour(bar));
  return {
    update(meta) {
      bar.meta = meta;
      adopt(bar, meta);
      colour(bar);
      show(bar);
    },
    stop() {
      clearTimeout(bar.timer);
      stopKeys();
      stopTheme();
    },
  };
});
