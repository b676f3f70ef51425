// What every component shares: payload, tooltip, theme, the chosen item, its life on the page.
// Knows no figure and no sentence: words come in the payload. Text enters the page only through
// textContent. This file is put in front of each component's own script: define no name twice.

const TYPES = { uint8: Uint8Array, uint16: Uint16Array, int32: Int32Array, uint32: Uint32Array };
TYPES.float32 = Float32Array;

// The inverse of viz/payload.py: Uint8Array -> {meta, arrays: {name: {data, shape}}}.
function unpack(bytes) {
  // A typed array must start on a multiple of its item size; a websocket message need not.
  const whole = bytes.byteOffset % 4 ? bytes.slice() : bytes;
  const length = new DataView(whole.buffer, whole.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(whole.subarray(4, 4 + length)));
  const arrays = {};
  for (const [name, { dtype, shape, offset }] of Object.entries(header.arrays)) {
    const count = shape.reduce((a, b) => a * b, 1);
    const start = whole.byteOffset + 4 + length + offset;
    arrays[name] = { data: new TYPES[dtype](whole.buffer, start, count), shape };
  }
  return { meta: header.meta, arrays };
}

// "row {row}" with {row: "a"} -> "row a". A name that is not given stays, so a fault is visible.
function fill(template, values) {
  const put = (hole, name) => (name in values ? String(values[name]) : hole);
  return template.replace(/\{(\w+)\}/g, put);
}

// ---- elements -----------------------------------------------------------------------------------

function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// A tooltip inside the (relatively positioned) holder; show(lines, x, y) in the holder's pixels.
function makeTooltip(holder) {
  const box = element("div", "tip");
  box.hidden = true;
  holder.append(box);
  const show = (lines, x, y) => {
    box.replaceChildren(...lines.map((line) => element("div", "", line)));
    box.hidden = false;
    const left = Math.min(x + 14, holder.clientWidth - box.offsetWidth - 4);
    box.style.left = `${Math.max(0, left)}px`;
    box.style.top = `${y - box.offsetHeight - 10 < 0 ? y + 18 : y - box.offsetHeight - 10}px`;
  };
  return { show, hide: () => { box.hidden = true; } };
}

// ---- theme --------------------------------------------------------------------------------------

function cssVariable(host, name, otherwise = "") {
  const node = host instanceof ShadowRoot ? host.host : host;
  return getComputedStyle(node).getPropertyValue(name).trim() || otherwise;
}

// Any CSS colour -> [r, g, b], 0..255.
function rgbOf(colour) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

// WCAG relative luminance, 0 (black) to 1 (white).
function luminanceOf([r, g, b]) {
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
}

// {dark, background, text, faint, line, primary, sans, mono}, from Streamlit's --st-* variables.
function readTheme(host) {
  const background = cssVariable(host, "--st-background-color", "#ffffff");
  const dark = luminanceOf(rgbOf(background)) < 0.25;
  return {
    dark,
    background,
    text: cssVariable(host, "--st-text-color", dark ? "#fafafa" : "#31333f"),
    faint: dark ? "#a5adb8" : "#5b6575",
    line: dark ? "#4a5160" : "#c3c9d2",
    primary: cssVariable(host, "--st-primary-color", dark ? "#b187f5" : "#8346e5"),
    sans: cssVariable(host, "--st-font", "sans-serif"),
    mono: cssVariable(host, "--st-code-font", "monospace"),
  };
}

// Calls onChange when the theme changes; returns the function that stops it. Streamlit rewrites the
// variables without an event, hence the look twice a second.
function watchTheme(host, onChange) {
  const names = ["--st-background-color", "--st-text-color", "--st-primary-color"];
  const mark = () => names.map((name) => cssVariable(host, name)).join();
  let seen = mark();
  const timer = setInterval(() => {
    if (mark() === seen) return;
    seen = mark();
    onChange();
  }, 500);
  return () => clearInterval(timer);
}

// ---- the chosen item ----------------------------------------------------------------------------

// The item a reader chose in the browser, as a small array or a number. It moves at once and is
// reported once, when the reader has paused. `adopt` takes what Python sends, unless that is only
// the echo of a move of the last seconds which the reader has since left. report(value, again):
// `again` says that this very value was the last report, though Python chose another in between.
function makeChoice(report, { pause = 120, quiet = 300, echo = 3000 } = {}) {
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  let current = null, known = null, told, received, reports = [], movedAt = -Infinity, timer = 0;
  const settle = () => {
    timer = 0;
    if (same(current, known)) return;
    const again = same(current, told);
    known = told = current;
    reports.push({ value: current, at: performance.now() });
    report(current, again);
  };
  return {
    get current() { return current; },
    move(value) {
      if (same(value, current)) return;
      current = value;
      movedAt = performance.now();
      clearTimeout(timer);
      timer = setTimeout(settle, pause);
    },
    // Returns whether the choice changed.
    adopt(value) {
      if (value === undefined || same(value, received)) return false;
      received = value;
      const now = performance.now();
      reports = reports.filter(({ at }) => now - at < echo);
      const echoed = reports.findLastIndex((one) => same(one.value, value));
      const stale = echoed >= 0 && echoed < reports.length - 1;
      if (stale || timer || now - movedAt < quiet) return false;
      known = value;
      const changed = !same(value, current);
      current = value;
      return changed;
    },
    // For a choice that the new data no longer have.
    drop() {
      clearTimeout(timer);
      timer = 0;
      current = known = null;
    },
    // Reports now what waits for a pause.
    tell() {
      if (!timer) return;
      clearTimeout(timer);
      settle();
    },
    stop: () => clearTimeout(timer),
  };
}

// Streamlit ignores a state value that equals the one it has. When the reader comes back to it
// after Python chose another, a trigger of the same name makes the page run and its callback fire.
function tellPython(port, name) {
  return (value, again) => (again ? port.setTriggerValue : port.setStateValue)(name, value);
}

// ---- life of a component ------------------------------------------------------------------------

const views = new WeakMap();

// Every figure of the page by its element, with the address of its script and its newest data: what
// a saved page takes along (keep.js).
const figures = (globalThis.tokenwalkFigures ??= new Map());
const elementOf = (host) => host.getRootNode().host ?? host;

// The default export of a component. build(host, port) -> {update(meta, arrays), stop()} runs once
// per place on the page; update runs for every message and when the theme changes. `port` always
// holds the newest setStateValue and setTriggerValue.
function component(build) {
  return ({ data, parentElement: host, setStateValue, setTriggerValue }) => {
    if (!views.has(host)) {
      const port = {};
      views.set(host, { port, ...build(host, port) });
    }
    const view = views.get(host);
    Object.assign(view.port, { setStateValue, setTriggerValue });
    figures.set(elementOf(host), { from: import.meta.url, data });
    const { meta, arrays } = unpack(data);
    view.update(meta, arrays);
    // Streamlit also calls this after an update that a newer one overtook: then the view lives on.
    return () => {
      if (host.isConnected) return;
      view.stop();
      views.delete(host);
      figures.forEach((_, node) => node.isConnected || figures.delete(node));
    };
  };
}
