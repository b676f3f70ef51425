// How a growing cache is drawn: where the strips of all heads and the numbers of one lie, cells, what
// is written and what is only read. Knows the payload of viz/growing.py; no reader and no sentence.

const WIDEST = 44, GUTTER = 46, SLANTED = 78, BRACKET = 26, HEADING = 20, TICKED = 16, FOOT = 26;
const TALL = 330, LOWEST = 2, HIGHEST = 14, NUMBERS = 240, STRIPE = 4;

// ---- where things lie (CSS pixels) --------------------------------------------------------------

// {outer, cw, width, strips: {top, ch, rows}, head: {top, ch, rows}, ...}: one column per position,
// the same in both parts.
function placeGrowing({ meta, lengths, numbers }, outer, theme) {
  const [layers, heads, columns] = lengths.shape, dims = numbers.shape[1];
  const mono = `12px ${theme.mono}`, sans = `12px ${theme.sans}`, small = `11px ${theme.mono}`;
  const aside = Math.ceil(Math.min(SLANTED, widest(meta.tokens, mono, SLANTED)) * Math.SQRT1_2);
  const cw = Math.max(1, Math.min(WIDEST, (outer - GUTTER - aside) / columns));
  const part = (top, rows, most) => {
    const ch = Math.max(LOWEST, Math.min(HIGHEST, most / rows));
    return { top, rows, ch, bottom: top + rows * ch };
  };
  const strips = part(HEADING + aside + 12 + BRACKET, layers * heads, TALL);
  const head = part(strips.bottom + FOOT + HEADING + 8, dims, NUMBERS);
  const total = head.bottom + TICKED + FOOT;
  const ratio = window.devicePixelRatio || 1;
  return { outer, cw, columns, strips, head, total, mono, sans, small, aside, ratio, width: cw * columns };
}

// What lies at a point: {part, row, column}, or null where nothing is, or not yet.
function growingAt({ place, meta }, step, x, y) {
  const column = Math.floor((x - GUTTER) / place.cw);
  if (column < 0 || column >= place.columns || meta.first_position + column >= meta.steps[step].stop) return null;
  for (const part of ["strips", "head"]) {
    const { top, bottom, ch } = place[part];
    if (y >= top && y < bottom) return { part, row: Math.floor((y - top) / ch), column };
  }
  return null;
}

// ---- painting -----------------------------------------------------------------------------------

function paintGrowing(canvas, view, step) {
  const { meta, place, theme } = view, { first_position: before, labels } = meta;
  const context = sharpen(canvas, place.outer, place.total);
  const { first, stop } = meta.steps[step], from = Math.max(0, first - before), to = stop - before;
  context.textBaseline = "middle";
  const [layers, heads, columns] = view.lengths.shape, at = view.framed[0] * heads + view.framed[1];
  paintCells(context, view, "strips", to, (row, column) => view.lengths.data[row * columns + column]);
  const dims = view.numbers.shape[1];
  paintCells(context, view, "head", to, (row, column) => view.numbers.data[column * dims + row]);
  paintLayerNames(context, view, layers, heads);
  paintTokenNames(context, view, to);
  paintBrackets(context, view, from, to);
  paintWritten(context, view, from, to);
  paintHeading(context, theme, place, labels.strips, 10);
  paintHeading(context, theme, place, labels.head, place.head.top - 14);
  paintRowTicks(context, view, dims);
  paintPositions(context, view, to);
  const [most, largest] = meta.limits.map((limit) => digits(limit, 3));
  paintScale(context, view, "lengths", ["0", most], place.strips.bottom + FOOT / 2 + 2);
  const ends = [`\u2212${largest}`, largest];
  paintScale(context, view, "numbers", ends, place.head.bottom + TICKED + FOOT / 2);
  paintRowFrame(context, view, at);
}

// One pixel per cell, enlarged without smoothing; what is not in the cache yet stays open.
function paintCells(context, { place, theme, luts, meta }, part, to, valueAt) {
  const { top, rows, ch, bottom } = place[part], signed = part === "head", broken = [];
  const table = pixelTable(luts[signed ? "signed" : "amount"][theme.dark ? 1 : 0]);
  const small = element("canvas"), pen = small.getContext("2d");
  [small.width, small.height] = [Math.max(1, to), rows];
  const image = pen.createImageData(small.width, rows), pixels = new Uint32Array(image.data.buffer);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < to; column++) {
      const value = valueAt(row, column), part = value / meta.limits[signed ? 1 : 0];
      if (!Number.isFinite(value)) broken.push([GUTTER + column * place.cw, top + row * ch, place.cw, ch]);
      else pixels[row * small.width + column] = table[Math.round(255 * (signed ? (part + 1) / 2 : part))];
    }
  }
  pen.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  if (to) context.drawImage(small, GUTTER, top, to * place.cw, rows * ch);
  hatchAll(context, theme, broken);
  context.strokeStyle = theme.background;
  context.lineWidth = 1;
  for (let column = 1; place.cw >= 6 && column < to; column++) strokeLine(context, GUTTER + column * place.cw, top, bottom);
  context.strokeStyle = theme.line;
  context.strokeRect(GUTTER - 0.5, top - 0.5, place.width + 1, bottom - top + 1);
}

function hatchAll(context, { faint }, boxes) {
  if (!boxes.length) return;
  const tile = element("canvas"), pen = tile.getContext("2d");
  tile.width = tile.height = STRIPE;
  pen.fillStyle = faint;
  for (let i = 0; i < STRIPE; i++) pen.fillRect(i, STRIPE - 1 - i, 1, 1);
  context.fillStyle = context.createPattern(tile, "repeat");
  for (const box of boxes) context.fillRect(...box);
}

function strokeLine(context, x, top, bottom) {
  context.beginPath();
  context.moveTo(x - 0.5, top);
  context.lineTo(x - 0.5, bottom);
  context.stroke();
}

function paintHeading(context, theme, place, text, y) {
  context.font = place.sans;
  context.fillStyle = theme.text;
  context.textAlign = "left";
  context.fillText(ellipsis(context, text, place.outer), 0, y);
}

// The number of every layer where there is room, in the middle of its heads; lines between layers.
function paintLayerNames(context, { place: { strips, small, width }, theme }, layers, heads) {
  const tall = heads * strips.ch, step = tickStep(tall, 14);
  context.font = small;
  context.textAlign = "right";
  for (let layer = 0; layer < layers; layer++) {
    const y = strips.top + layer * tall;
    context.fillStyle = theme.background;
    if (layer && strips.ch * heads >= 5) context.fillRect(GUTTER, y - 0.5, width, 1);
    context.fillStyle = theme.faint;
    if (layer % step === 0) context.fillText(layer, GUTTER - 6, y + tall / 2);
  }
}

function paintRowTicks(context, { place: { head, small }, theme }, dims) {
  const step = tickStep(head.ch, 14);
  context.font = small;
  context.textAlign = "right";
  context.fillStyle = theme.faint;
  for (let dim = 0; dim < dims; dim += step) context.fillText(dim, GUTTER - 6, head.top + (dim + 0.5) * head.ch);
}

function paintPositions(context, { place: { head, small, cw }, theme, meta }, to) {
  const step = tickStep(cw, 34), before = meta.first_position;
  context.font = small;
  context.textAlign = "center";
  context.fillStyle = theme.faint;
  for (let column = (step - (before % step)) % step; column < to; column += step) {
    context.fillText(before + column, GUTTER + (column + 0.5) * cw, head.bottom + 9);
  }
}

function paintTokenNames(context, { meta, place, theme }, to) {
  const { cw, mono, strips } = place, step = Math.max(1, Math.ceil(17 / cw));
  context.font = mono;
  context.textAlign = "left";
  context.fillStyle = theme.text;
  // where not every name has room, the newest keeps its own
  for (let column = to - 1; column >= 0; column -= step) {
    context.save();
    context.translate(GUTTER + (column + 0.5) * cw, strips.top - BRACKET - 6);
    context.rotate(-Math.PI / 4);
    context.fillText(ellipsis(context, meta.tokens[column], SLANTED), 0, 0);
    context.restore();
  }
}

// Above the columns: which of them are only read in this step, and which are written.
function paintBrackets(context, { place, theme, meta }, from, to) {
  const y = place.strips.top - 6, edge = (column) => GUTTER + column * place.cw;
  const bracket = (a, b, colour, text, left) => {
    if (b <= a) return;
    context.fillStyle = colour;
    context.fillRect(edge(a) + 1, y, Math.max(2, (b - a) * place.cw - 2), 4);
    context.textAlign = "left";
    context.fillText(text, left, y - 8);
  };
  context.font = `600 ${place.sans}`;
  const { read, written } = meta.labels, start = edge(from);
  const room = place.outer - context.measureText(written).width;
  const left = Math.max(0, Math.min(start, room)), fits = context.measureText(read).width + 8 <= left - GUTTER;
  bracket(0, from, theme.faint, fits ? read : "", GUTTER);
  bracket(from, to, meta.colours[theme.dark ? "dark" : "light"], written, left);
}

function paintWritten(context, { place, theme, meta }, from, to) {
  context.strokeStyle = meta.colours[theme.dark ? "dark" : "light"];
  context.lineWidth = 2;
  for (const { top, bottom } of [place.strips, place.head]) {
    context.strokeRect(GUTTER + from * place.cw, top, (to - from) * place.cw, bottom - top);
  }
}

function paintRowFrame(context, { place: { strips, width }, theme }, row) {
  const y = strips.top + row * strips.ch;
  context.strokeStyle = theme.text;
  context.lineWidth = 1.5;
  context.strokeRect(GUTTER - 2, y - 1, width + 4, strips.ch + 2);
  context.fillStyle = theme.text;
  context.fillRect(GUTTER - 5, y - 1, 4, strips.ch + 2);
}

// From one end value to the other; and what is hatched, where something is.
function paintScale(context, view, of, [low, high], y) {
  const { meta, theme, place, luts } = view;
  const lut = luts[of === "numbers" ? "signed" : "amount"][theme.dark ? 1 : 0];
  context.font = place.sans;
  context.textAlign = "left";
  context.fillStyle = theme.faint;
  context.fillText(low, GUTTER, y);
  const from = GUTTER + context.measureText(low).width + 6;
  for (let i = 0; i < HALF_BAR * 2; i++) {
    const code = Math.round((255 * i) / (HALF_BAR * 2 - 1));
    context.fillStyle = `rgb(${lut.subarray(code * 3, code * 3 + 3).join()})`;
    context.fillRect(from + i, y - 5, 1.5, 10);
  }
  context.fillStyle = theme.faint;
  context.fillText(high, from + HALF_BAR * 2 + 6, y);
  if (view[of].data.every(Number.isFinite)) return;
  const x = from + HALF_BAR * 2 + 6 + context.measureText(high).width + APART;
  hatchAll(context, theme, [[x, y - 5, 22, 10]]);
  context.fillStyle = theme.faint;
  context.fillText(meta.labels.broken, x + 28, y);
}
