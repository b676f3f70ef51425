// Where the parts of a matrix lie, in CSS pixels: row names, column names or ticks, cells, lens and
// legend. Knows sizes and the widths of texts; paints nothing and knows no event.

const MOST_CELL = 46, MOST_HEIGHT = 600, NARROW = 14, NUMBERED = 40, STRIP = 26, LINE = 14;
const MOST_NAME = 130, MOST_SLANT = 100, MOST_FLAT = 76, TITLES = 16, TICKS = 15, MARGIN = 3;

// With one row there is no title line: the title stands at the end of the ticks.
function placeMatrix(view, outer, saves) {
  const { meta, shape: [rows, columns], theme } = view;
  const ratio = window.devicePixelRatio || 1;
  const mono = `12px ${theme.mono}`, sans = `12px ${theme.sans}`, small = `11px ${theme.mono}`;
  const left = gutter(meta, mono, outer);
  const slant = Math.min(MOST_SLANT, outer / 4);
  const { names, right, cell } = placeColumns(meta, rows, columns, outer - left, mono, slant);
  const [cw, ch] = cell;
  const width = cw * columns, height = ch * rows;
  const top = topOf(meta, rows, names, cw, mono, slant), under = top + height + (names ? 5 : TICKS);
  const narrow = meta.lens && cw < NARROW;
  const lens = narrow ? placeLens(rows, columns, left, width, under, small) : null;
  const several = severalOf(view, width * ratio, height * ratio);
  const scale = { ...legendOf(view), several };
  const wanted = left + Math.max(width + right, legendWidth(scale, sans, saves));
  const full = Math.min(outer, Math.ceil(wanted));
  const gap = (size) => (size < 10 ? 0 : Math.round((size < 20 ? 1 : 2) * ratio));
  return {
    ratio, outer, full, left, top, cw, ch, width, height, names, slant, lens, mono, sans, small,
    total: (lens ? lens.bottom : under) + 3 + LEGEND, several,
    legend: placeLegend(scale, sans, left, full, saves),
    across: binPixels(columns, Math.max(1, Math.round(width * ratio)), gap(cw)),
    down: binPixels(rows, Math.max(1, Math.round(height * ratio)), gap(ch)),
  };
}

// The room for row names. Names never take more than a third of a narrow figure.
function gutter(meta, font, outer) {
  if (meta.indent !== null) return Math.min(meta.indent, outer / 2);
  return Math.ceil(widest(meta.rows, font, Math.min(MOST_NAME, outer / 3))) + 10;
}

// How the columns are named: "flat" where every name fits above its cell, else "slanted"; null for
// numbers on ticks, also in a strip of cells too narrow for names, where the lens shows them.
function placeColumns(meta, rows, columns, room, font, slant) {
  const sized = (names, right, most) => {
    const across = Math.min(most, Math.max(1, room - right) / columns); // never 0 or below
    return { names, right, cell: [across, cellHeight(meta, rows, across, names)] };
  };
  if (!meta.columns) return sized(null, MARGIN, MOST_CELL);
  const longest = widest(meta.columns, font, MOST_SLANT) + 8;
  const flat = sized("flat", MARGIN, Math.max(MOST_CELL, longest));
  if (longest <= Math.min(MOST_FLAT, flat.cell[0])) return flat;
  const aside = Math.ceil(Math.min(slant, longest) * Math.SQRT1_2);
  const slanted = sized("slanted", aside, MOST_CELL);
  if (rows === 1 && meta.lens && slanted.cell[0] < NARROW) return sized(null, MARGIN, MOST_CELL);
  return slanted;
}

// Square cells for token by token (or as high as there is room), rows of even height for vectors,
// one low row for a strip.
function cellHeight(meta, rows, across, names) {
  const down = (meta.height ?? MOST_HEIGHT) / rows;
  if (rows === 1) return Math.min(across < NUMBERED ? 18 : 24, down);
  if (!names) return Math.min(STRIP, down);
  if (meta.square === false) return Math.min(MOST_CELL, down);
  return Math.min(rows < 3 ? Math.max(across, STRIP) : across, MOST_CELL, down);
}

function topOf(meta, rows, names, cw, font, slant) {
  if (!names) return rows === 1 ? 5 : TITLES + 5;
  if (names === "flat") return TITLES + 19;
  const shown = meta.columns.filter((_, column) => column % nameStep(cw) === 0);
  return TITLES + Math.ceil((widest(shown, font, slant) + 8) * Math.SQRT1_2) + 8;
}

// Every how many columns a slanted name has room.
const nameStep = (cw) => Math.ceil((LINE * 1.2) / cw);

// 9 to 15 neighbours of the chosen cell where there is room, never so many that a number does not
// fit. Where not even three fit beside the row names, it takes their room too.
function placeLens(rows, columns, left, width, top, font) {
  const least = widest(["\u22120.0000"], font) + 5, height = rows === 1 ? 19 : 24;
  const fit = (room) => Math.min(columns, 15, Math.floor(room / least));
  const beside = fit(width) >= 3, room = beside ? width : left + width;
  const cells = top + (rows === 1 ? 13 : 16);
  const count = fit(room) - (fit(room) % 2 ? 0 : 1);
  if (count < 3) return null;
  return {
    left: beside ? left : 0, named: beside && rows > 1, count, cell: room / count, height,
    names: cells - 6, top: cells, bottom: cells + height,
  };
}

// What is said where several numbers share a device pixel; "" where none do.
function severalOf({ meta, shape: [rows, columns] }, width, height) {
  const share = (count, pixels) => Math.max(1, Math.ceil(count / Math.max(1, Math.round(pixels))));
  const n = share(rows, height) * share(columns, width);
  return n > 1 && meta.labels.several ? fill(meta.labels.several, { n }) : "";
}

function legendOf({ meta, masked }) {
  const { low, high, hatched, masked: words } = meta.labels;
  const least = meta.low || (meta.palette === "signed" ? -meta.limit : 0);
  return {
    low: low ?? digits(least, 3), high: high ?? digits(meta.limit, 3),
    masked: masked ? hatched ?? words : "",
  };
}

// The cell's rectangle, at least `least` pixels on each side so that a frame stays visible.
function cellBox({ place: { left, top, cw, ch } }, [row, column], least = 0) {
  const width = Math.max(least, cw), height = Math.max(least, ch);
  const x = left + (column + 0.5) * cw - width / 2, y = top + (row + 0.5) * ch - height / 2;
  return [x, y, width, height];
}
