// The tree of a beam search as SVG that needs no style sheet, so that it can be kept as it is.
// Knows the columns of viz/branches.py and the theme; knows no reader and no sentence.

const BOX = { width: 108, height: 36, gap: 30, below: 7, head: 24, side: 6 };
const START = 74; // width of the box that the tree begins with
const FONT = 13, SMALL = 11;

// As much of a text as fits, with an ellipsis where something is missing.
function fitting(text, width, font) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = font;
  const letters = [...text];
  if (pen.measureText(text).width <= width) return text;
  while (letters.length && pen.measureText(`${letters.join("")}…`).width > width) letters.pop();
  return `${letters.join("")}…`;
}

function placeOf(column, place) {
  const x = BOX.side + START + BOX.gap + column * (BOX.width + BOX.gap);
  return { x, y: BOX.head + place * (BOX.height + BOX.below) };
}

function sizeOf({ columns }) {
  const most = Math.max(1, ...columns.map((column) => column.length));
  const { x } = placeOf(columns.length, 0), { y } = placeOf(0, most);
  return { width: x - BOX.gap + BOX.side, height: y + BOX.side };
}

// ---- looks --------------------------------------------------------------------------------------

// What runs on is filled, what finished has round ends and a double edge, what was dropped is dashed.
function lookOf({ state, best }, meta, theme) {
  const mode = theme.dark ? "dark" : "light";
  const { kept, end, best: winner } = meta.colours;
  const own = { kept: kept[mode], finished: end[mode], dropped: theme.line }[state];
  const stroke = best ? winner[mode] : own;
  const fill = state === "dropped" ? theme.background : stroke;
  const opacity = state === "dropped" ? 1 : best ? 0.24 : 0.14;
  const paint = { fill, "fill-opacity": opacity, stroke, "stroke-width": best ? 2 : 1.4 };
  if (state === "dropped") paint["stroke-dasharray"] = "4 3";
  return { paint, round: state === "finished" ? BOX.height / 2 : 6, stroke };
}

function shape(group, box, look, className) {
  draw("rect", { class: className, ...box, rx: look.round, ...look.paint }, group);
}

// ---- parts --------------------------------------------------------------------------------------

function drawEdge(svg, from, to, branch, look) {
  const middle = (from.x + to.x) / 2;
  const d = `M${from.x} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`;
  const width = branch.best ? 2.6 : branch.state === "dropped" ? 1 : 1.6;
  const dash = branch.state === "dropped" ? { "stroke-dasharray": "4 3" } : {};
  draw("path", { d, fill: "none", stroke: look.stroke, "stroke-width": width, ...dash }, svg);
}

function write(group, text, at, size, colour, family, weight = 400) {
  const font = { "font-size": size, "font-family": family, "font-weight": weight, fill: colour };
  const middle = { "text-anchor": "middle", "dominant-baseline": "central" };
  draw("text", { ...at, ...font, ...middle, "xml:space": "preserve" }, group, text);
}

function drawBranch(svg, branch, at, meta, theme, chosen) {
  const look = lookOf(branch, meta, theme), { width, height } = BOX;
  const label = branch.title.join("\n");
  const group = draw("g", { class: "branch", role: "button", "aria-label": label }, svg);
  if (chosen) group.setAttribute("aria-current", "true");
  const ring = { x: at.x - 3, y: at.y - 3, width: width + 6, height: height + 6, rx: look.round + 3 };
  draw("rect", { class: "ring", fill: "none", ...ring }, group);
  shape(group, { x: at.x, y: at.y, width, height }, look, "shape");
  if (branch.state === "finished") {
    const inner = { x: at.x + 3, y: at.y + 3, width: width - 6, height: height - 6 };
    const paint = { fill: "none", stroke: look.stroke, "stroke-width": 1 };
    shape(group, inner, { round: look.round - 3, paint });
  }
  if (chosen) {
    const paint = { fill: "none", stroke: theme.text, "stroke-width": 2.4 };
    shape(group, { x: at.x - 1, y: at.y - 1, width: width + 2, height: height + 2 },
      { round: look.round + 1, paint });
  }
  const ink = branch.state === "dropped" ? theme.faint : theme.text, x = at.x + width / 2;
  const token = fitting(branch.text, width - 18, `600 ${FONT}px ${theme.mono}`);
  write(group, token, { x, y: at.y + 12 }, FONT, ink, theme.mono, 600);
  write(group, branch.numbers, { x, y: at.y + 26 }, SMALL, ink, theme.sans);
  return group;
}

function drawStart(svg, meta, theme) {
  const { y } = placeOf(0, 0), box = { x: BOX.side, y, width: START, height: BOX.height };
  draw("rect", { ...box, rx: 6, fill: "none", stroke: theme.faint, "stroke-width": 1.4 }, svg);
  const at = { x: BOX.side + START / 2, y: y + BOX.height / 2 };
  write(svg, fitting(meta.labels.start, START - 8, `${FONT}px ${theme.sans}`), at, FONT, theme.text,
    theme.sans);
}

// What is dropped lies below what runs on, and the best text above both.
function drawEdges(svg, meta, theme) {
  const edges = meta.columns.flatMap((column, n) => column.map((branch, place) => {
    const goal = placeOf(n, place), to = { x: goal.x, y: goal.y + BOX.height / 2 };
    const start = n ? placeOf(n - 1, branch.parent) : placeOf(0, 0);
    const x = n ? start.x + BOX.width : BOX.side + START;
    return { from: { x, y: start.y + BOX.height / 2 }, to, branch };
  }));
  const order = ({ branch }) => (branch.best ? 2 : branch.state === "dropped" ? 0 : 1);
  edges.sort((a, b) => order(a) - order(b));
  for (const { from, to, branch } of edges) {
    drawEdge(svg, from, to, branch, lookOf(branch, meta, theme));
  }
}

// The whole tree: {svg, groups[column][place]}.
function drawTree(meta, theme) {
  const size = sizeOf(meta), box = `0 0 ${size.width} ${size.height}`;
  const svg = draw("svg", { xmlns: SVG, ...size, viewBox: box });
  drawEdges(svg, meta, theme);
  drawStart(svg, meta, theme);
  const groups = meta.columns.map((column, n) => {
    const head = { x: placeOf(n, 0).x + BOX.width / 2, y: 10 };
    write(svg, fill(meta.labels.level, { level: n + 1 }), head, SMALL, theme.faint, theme.sans);
    return column.map((branch, place) => {
      const [c, p] = meta.chosen ?? [];
      return drawBranch(svg, branch, placeOf(n, place), meta, theme, c === n && p === place);
    });
  });
  return { svg, groups };
}

// The shapes of the legend, small.
function drawSample(branch, meta, theme, chosen) {
  const svg = draw("svg", { width: 26, height: 15, "aria-hidden": "true" });
  const look = lookOf(branch, meta, theme), box = { x: 2, y: 2, width: 22, height: 11 };
  look.round = Math.min(look.round, 5.5);
  if (chosen) look.paint = { fill: "none", stroke: theme.text, "stroke-width": 2.2 };
  shape(svg, box, look);
  if (branch.state === "finished") {
    const inner = { x: 4.5, y: 4.5, width: 17, height: 6 };
    shape(svg, inner, { round: 3, paint: { fill: "none", stroke: look.stroke } });
  }
  return svg;
}

function saveTree(svg, background, name) {
  const copy = svg.cloneNode(true);
  copy.querySelectorAll(".ring").forEach((ring) => ring.remove());
  const whole = draw("rect", { width: "100%", height: "100%", fill: background });
  copy.prepend(whole);
  const source = new XMLSerializer().serializeToString(copy);
  saveBlob(new Blob([source], { type: "image/svg+xml" }), `${fileName(name)}.svg`);
}
