// The data-flow diagram as SVG. Knows the payload of viz/flow.py, the places of flow_place.js and
// the pictures of flow_picture.js; reports the id of the op a reader chose. Knows no
// op by name.

const ARROW = 6.5;

function mix(a, b, share) {
  const [x, y] = [rgbOf(a), rgbOf(b)];
  return `rgb(${x.map((c, i) => Math.round(c * share + y[i] * (1 - share))).join(",")})`;
}

// ---- edges --------------------------------------------------------------------------------------

// Along the lane of the source up to the gap before the target, then over to its lane.
function reach(x, y, end, goal, gap) {
  const bend = Math.max(x, end - gap), middle = (bend + end) / 2, tip = end - ARROW + 1;
  if (goal === y) return `M${x} ${y}H${tip}`;
  return `M${x} ${y}H${bend}C${middle} ${y} ${middle} ${goal} ${tip} ${goal}`;
}

// One piece per row: where a row ends the line runs out, and comes in again on the next row.
function pieces(from, to, plan) {
  const rowOf = (column) => plan.rows.findIndex((row) => column < row.end);
  const start = rowOf(from.column), stop = rowOf(to.column);
  return plan.rows.slice(start, stop + 1).map((row, i) => {
    const x = i ? row.left : plan.x[from.column] + plan.widths[from.column];
    const last = start + i === stop, y = row.y(from.lane);
    const [end, goal] = last ? [plan.x[to.column], row.y(to.lane)] : [row.right, y];
    return { path: reach(x, y, end, goal, plan.gap), end, goal };
  });
}

// Between two boxes above each other.
function drawStep(svg, [from, to], plan, stroke) {
  const row = plan.rows.find(({ end }) => to.column < end), down = to.lane > from.lane ? 1 : -1;
  const x = plan.x[to.column] + plan.widths[to.column] / 2;
  const end = row.y(to.lane) - (down * plan.heights.box) / 2;
  draw("path", { d: `M${x} ${end}l-3.6 ${-down * ARROW}h7.2z`, fill: stroke }, svg);
}

function drawEdge(svg, [from, to], plan, meta, theme) {
  const strong = to.state === "current";
  const stream = from.lane === meta.stream && to.lane === meta.stream;
  const faded = mix(theme.faint, theme.background, to.state === "later" ? 0.45 : 0.8);
  const stroke = strong ? theme.text : faded;
  if (from.column === to.column) return drawStep(svg, [from, to], plan, stroke);
  for (const { path, end, goal } of pieces(from, to, plan)) {
    const width = strong ? 2 : stream ? 2.5 : 1.2;
    draw("path", { class: "edge", d: path, stroke, "stroke-width": width }, svg);
    draw("path", { d: `M${end} ${goal}l-${ARROW} -3.6v7.2z`, fill: stroke }, svg);
  }
}

// Strong edges last, so that no pale line crosses them.
function drawEdges(svg, plan, meta, theme) {
  const byId = new Map(meta.nodes.map((node) => [node.id, node]));
  const edges = meta.edges.map((edge) => edge.map((id) => byId.get(id)));
  edges.sort(([, a], [, b]) => (a.state === "current") - (b.state === "current"));
  for (const edge of edges) drawEdge(svg, edge, plan, meta, theme);
}

// ---- nodes --------------------------------------------------------------------------------------

function lookOf(node, meta, { dark, background, text, faint }) {
  const role = meta.colours[node.role][dark ? "dark" : "light"];
  if (node.door) return { fill: background, stroke: faint, text: faint, width: 1, dash: "3 3" };
  return {
    current: { fill: role, stroke: role, text: background, width: 1.5 },
    input: { fill: mix(role, background, 0.1), stroke: role, text, width: 2.5 },
    done: { fill: background, stroke: role, text, width: 1.3 },
    later: { fill: background, stroke: mix(role, background, 0.6), text: faint, width: 1.2 },
  }[node.state];
}

function drawNode(svg, node, plan, meta, theme) {
  const look = lookOf(node, meta, theme), row = plan.rows.find(({ end }) => node.column < end);
  const { box, picture } = plan.heights, width = plan.widths[node.column];
  const x = plan.x[node.column], y = row.y(node.lane) - box / 2;
  const label = node.title.join("\n");
  const group = draw("g", { class: "node", role: "button", "aria-label": label }, svg);
  group.dataset.id = node.id;
  if (node.state === "current") group.setAttribute("aria-current", "step");
  const ring = { x: x - 3, y: y - 3, width: width + 6, height: box + 6, rx: 8 };
  draw("rect", { class: "ring", ...ring }, group);
  const paint = { fill: look.fill, stroke: look.stroke, "stroke-width": look.width };
  if (look.dash) paint["stroke-dasharray"] = look.dash;
  draw("rect", { class: "box", x, y, width, height: box, rx: 5.5, ...paint }, group);
  const middle = { x: x + width / 2, y: y + (node.picture ? picture.top / 2 + 1 : box / 2) };
  const words = draw("text", { ...middle, "font-size": plan.size.font, fill: look.text }, group);
  words.textContent = node.label;
  if (node.weight) drawWeight(group, x + width, y, look, theme);
  if (node.number) drawNumber(group, x, y, node.number, theme);
  return { group, x, y, width, bottom: row.bottom };
}

// On the upper edge, at the right: the step reads the file.
function drawWeight(group, right, y, look, theme) {
  const paint = { fill: look.stroke, stroke: theme.background, "stroke-width": 1.5 };
  draw("rect", { x: right - 11, y: y - 3.5, width: 7, height: 7, ...paint }, group);
}

// On the upper left corner: which of the marked steps it is.
function drawNumber(group, x, y, number, theme) {
  const paint = { fill: theme.text, stroke: theme.background, "stroke-width": 1.5 };
  draw("circle", { cx: x + 1, cy: y + 1, r: 7.5, ...paint }, group);
  const place = { class: "number", x: x + 1, y: y + 1.5, "font-size": 10, fill: theme.background };
  draw("text", place, group).textContent = number;
}

// ---- the whole ----------------------------------------------------------------------------------

function paint(flow) {
  const { meta, host, holder } = flow, width = holder.clientWidth;
  if (!meta || !width) return;
  const theme = readTheme(host), plan = place(meta, theme.mono, width);
  const focused = host.activeElement?.dataset.id;
  const svg = draw("svg", { width, height: plan.height, role: "toolbar", "aria-label": meta.aria });
  drawEdges(svg, plan, meta, theme);
  flow.drawn = meta.nodes.map((node) => drawNode(svg, node, plan, meta, theme));
  flow.svg.replaceWith(svg);
  flow.svg = svg;
  paintPictures(flow, plan, width, theme);
  flow.tip.hide();
  const kept = meta.nodes.findIndex(({ id }) => id === focused);
  rove(flow, kept < 0 ? meta.nodes.findIndex((node) => node.state === "current") : kept);
  if (kept >= 0) flow.drawn[kept].group.focus({ preventScroll: true });
}

// The line below: what the marks mean.
function explain({ legend }, meta) {
  const lines = meta.legend.map(([mark, text]) => {
    const line = element("span", "means");
    line.append(element("i", mark), text);
    return line;
  });
  legend.replaceChildren(...lines);
}

// One node is in the tab order; the arrow keys hand that place on.
function rove(flow, index) {
  flow.at = index;
  flow.drawn.forEach(({ group }, i) => group.setAttribute("tabindex", i === index ? 0 : -1));
}

function choose(flow, index) {
  const node = flow.meta.nodes[index];
  if (node && node.state !== "current") flow.port.setTriggerValue("op", node.id);
}

function onKey(flow, event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const last = flow.drawn.length - 1;
  const back = Math.max(flow.at - 1, 0), on = Math.min(flow.at + 1, last);
  const goals = {
    ArrowLeft: back, ArrowUp: back, ArrowRight: on, ArrowDown: on, Home: 0, End: last,
  };
  if (event.key in goals) {
    rove(flow, goals[event.key]);
    flow.drawn[flow.at].group.focus();
  } else if (event.key === "Enter" || event.key === " ") choose(flow, flow.at);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

const indexOf = (flow, event) => {
  const group = event.target.closest(".node");
  return flow.drawn.findIndex((one) => one.group === group);
};

function showTip(flow, index) {
  if (index < 0) return flow.tip.hide();
  const { x, bottom } = flow.drawn[index];
  flow.tip.show(flow.meta.nodes[index].title, x - 14, bottom);
  // Below the row, where it hides no node of it.
  flow.holder.querySelector(".tip").style.top = `${bottom + 6}px`;
}

function listen(flow) {
  const { holder } = flow;
  const on = (name, does) => holder.addEventListener(name, does);
  on("click", (event) => {
    choose(flow, indexOf(flow, event));
    // The reader goes to that step; the arrow keys of the page should walk on from there.
    flow.host.activeElement?.blur();
  });
  on("keydown", (event) => onKey(flow, event));
  const tell = (event) => showTip(flow, indexOf(flow, event));
  for (const name of ["pointerover", "focusin"]) on(name, tell);
  for (const name of ["pointerleave", "focusout"]) on(name, flow.tip.hide);
}

export default component((host, port) => {
  const holder = element("div", "flow");
  const flow = { host, holder, port, svg: draw("svg", {}, holder), drawn: [], at: 0 };
  flow.above = element("canvas", "above");
  flow.legend = element("div", "legend");
  holder.append(flow.above);
  flow.tip = makeTooltip(holder);
  host.append(holder, flow.legend);
  listen(flow);
  const sizes = new ResizeObserver(() => paint(flow));
  sizes.observe(holder);
  const stopTheme = watchTheme(host, () => paint(flow));
  return {
    update(meta, arrays) {
      Object.assign(flow, { meta, arrays });
      paint(flow);
      explain(flow, meta);
    },
    stop() {
      sizes.disconnect();
      stopTheme();
    },
  };
});
