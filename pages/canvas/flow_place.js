// From columns and lanes to pixels, in one row or wrapped into several. Knows the payload of
// viz/flow.py and how wide a word is; draws nothing.

const NARROWEST = 40, MARGIN = 5, WIDEST_GAP = 34;
// Heights of a lane, of a box and of the room between rows, and the picture in a box (from its top,
// and its height): of one row, and of several, which would push the figures off the screen.
const TALL = { lane: 38, box: 31, between: 20, picture: { top: 18, height: 9 } };
const LOW = { lane: 29, box: 23, between: 12, picture: { top: 15, height: 5 } };
// From roomy to tight, in pixels; the first with which the rows fit is taken.
const SIZES = [
  { font: 12.5, pad: 9, gap: 17 },
  { font: 12, pad: 7, gap: 14 },
  { font: 11, pad: 4, gap: 9 },
];

// The width of each column: its widest label and the padding.
function columnWidths(nodes, size, family) {
  const context = document.createElement("canvas").getContext("2d");
  context.font = `${size.font}px ${family}`;
  const widths = [];
  for (const { column, label } of nodes) {
    const width = Math.ceil(context.measureText(label).width) + 2 * size.pad;
    widths[column] = Math.max(widths[column] ?? NARROWEST, width);
  }
  return widths;
}

const lengthOf = (widths, gap) => widths.reduce((sum, width) => sum + width + gap, -gap);

const fitter = (widths, gap, room) => (first, end) =>
  lengthOf(widths.slice(first, end), gap) <= room;

// The rows as [[first, end], ...], each as long as fits and cut behind one of `breaks`;
// null if a stretch between two breaks is too long for a row.
function cutAtBreaks(widths, breaks, fits) {
  const ends = [...breaks.map((column) => column + 1), widths.length];
  const rows = [];
  for (let first = 0; first < widths.length; first = rows.at(-1)[1]) {
    const fitting = ends.filter((end) => end > first && fits(first, end));
    if (!fitting.length) return null;
    rows.push([first, Math.max(...fitting)]);
  }
  return rows;
}

// Fills every row, but keeps a stretch between two breaks whole where it fits a row of its own.
function cutAnywhere(widths, breaks, fits) {
  const rows = [[0, 1]];
  for (let column = 1; column < widths.length; column++) {
    const row = rows.at(-1), stretch = (breaks.find((one) => one >= column) ?? column) + 1;
    const after = breaks.includes(column - 1);
    const whole = after && fits(column, stretch) && !fits(row[0], stretch);
    if (!whole && fits(row[0], column + 1)) row[1] = column + 1;
    else rows.push([column, column + 1]);
  }
  return rows;
}

// One row in the roomiest size that fits, else rows cut at the stream, else rows cut anywhere: then
// in the tight size only if that saves a row.
function chooseRows(meta, family, width) {
  const tries = SIZES.map((size) => {
    const widths = columnWidths(meta.nodes, size, family), room = width - 2 * MARGIN;
    // A cut row needs room for the ends of the lines that run on.
    const [one, several] = [room, room - 2 * size.gap].map((r) => fitter(widths, size.gap, r));
    return { size, widths, one, several };
  });
  for (const breaks of [[], meta.breaks]) {
    for (const { size, widths, one, several } of tries) {
      const rows = cutAtBreaks(widths, breaks, breaks.length ? several : one);
      if (rows) return { size, widths, rows };
    }
  }
  const cut = tries.slice(1).map(({ size, widths, several }) => {
    return { size, widths, rows: cutAnywhere(widths, meta.breaks, several) };
  });
  return cut.reduce((roomy, tight) => (tight.rows.length < roomy.rows.length ? tight : roomy));
}

// The gap that fills the room, up to a limit: a long line says nothing more than a short one.
function widen(widths, gap, room) {
  const spare = Math.max(0, room - lengthOf(widths, gap));
  return Math.min(WIDEST_GAP, gap + spare / Math.max(1, widths.length - 1));
}

// The lanes of [first, end): those of its nodes and of the lines that pass through.
function lanesOf(meta, first, end) {
  const column = new Map(meta.nodes.map((node) => [node.id, node.column]));
  const leaving = meta.edges.filter(([, to]) => column.get(to) >= first).map(([from]) => from);
  const seen = (node) => node.column >= first || leaving.includes(node.id);
  return meta.nodes.filter((node) => node.column < end && seen(node)).map((node) => node.lane);
}

// Everything drawing needs: {size, heights, widths, gap, height, x: [left edge of a column],
// rows: [{first, end, left, right, bottom, y(lane)}]}.
function place(meta, family, width) {
  const { size, widths, rows } = chooseRows(meta, family, width);
  const inset = rows.length > 1 ? MARGIN + size.gap : MARGIN, room = width - 2 * inset;
  const gaps = rows.map(([first, end]) => widen(widths.slice(first, end), size.gap, room));
  const heights = rows.length > 1 ? LOW : TALL, gap = Math.min(...gaps);
  const plan = { size, heights, widths, gap, x: [], rows: [], height: MARGIN };
  for (const [first, end] of rows) addRow(plan, meta, first, end, first ? inset : MARGIN, inset);
  return plan;
}

function addRow(plan, meta, first, end, start, inset) {
  let x = start;
  for (let column = first; column < end; column++) {
    plan.x[column] = x;
    x += plan.widths[column] + plan.gap;
  }
  const lanes = lanesOf(meta, first, end), low = Math.min(...lanes);
  const { lane: apart, box, between } = plan.heights;
  const top = plan.height + (first ? between : 0) + box / 2;
  const right = x - plan.gap + inset - MARGIN;
  const y = (lane) => top + (lane - low) * apart;
  const bottom = y(Math.max(...lanes)) + box / 2;
  plan.rows.push({ first, end, left: MARGIN, right, bottom, y });
  plan.height = bottom + MARGIN;
}
