// Where the parts of a matrix lie, and how they are painted: cells, names, ticks, legend, lens,
// frames. Places are CSS pixels; cells are painted device pixel by device pixel, so that edges are
// sharp and no strong value vanishes when many cells share a pixel. Knows no event.

const MOST_CELL = 46, MOST_HEIGHT = 600, NARROW = 14, STRIP = 26, LINE = 14;
const MOST_NAME = 130, MOST_SLANT = 100, LEAST = 440;

// ---- places -------------------------------------------------------------------------------------

const pen = element("canvas").getContext("2d");

function widest(texts, font, most) {
  pen.font = font;
  const width = (text) => pen.measureText(text).width;
  return Math.min(most, texts.reduce((wide, text) => Math.max(wide, width(text)), 0));
}

function placeMatrix({ meta, shape: [rows, columns], theme }, outer) {
  const ratio = window.devicePixelRatio || 1;
  const mono = `12px ${theme.mono}`, sans = `12px ${theme.sans}`;
  const title = widest([downTitle(meta)], sans, MOST_NAME);
  const left = Math.ceil(Math.max(widest(meta.rows, mono, MOST_NAME), title)) + 10;
  const slant = meta.columns ? widest(meta.columns, mono, MOST_SLANT) * Math.SQRT1_2 : 0;
  const right = Math.ceil(Math.max(8, slant));
  const [cw, ch] = cellSize(meta, rows, columns, outer - left - right);
  const top = meta.columns ? Math.ceil(slant) + 36 : 26;
  const width = cw * columns, height = ch * rows;
  const lens = top + height + (meta.columns ? 8 : 26);
  const legend = lens + (cw < NARROW ? 58 : 0);
  const gap = (size) => (size < 10 ? 0 : Math.round((size < 20 ? 1 : 2) * ratio));
  return {
    ratio, outer, left, top, cw, ch, width, height, lens, legend, mono, sans,
    full: Math.min(outer, Math.max(LEAST, left + width + right)),
    total: legend + 26,
    across: binPixels(columns, Math.max(1, Math.round(width * ratio)), gap(cw)),
    down: binPixels(rows, Math.max(1, Math.round(height * ratio)), gap(ch)),
  };
}

// Square cells for token by token, rows of even height for vectors.
function cellSize(meta, rows, columns, room) {
  const across = Math.min(MOST_CELL, room / columns), down = MOST_HEIGHT / rows;
  if (!meta.columns) return [across, Math.min(STRIP, down)];
  if (rows < 3) return [across, Math.max(across, STRIP)];
  return [Math.min(across, down), Math.min(across, down)];
}

// The cell's rectangle, at least `least` pixels on each side so that a frame stays visible.
function cellBox({ place: { left, top, cw, ch } }, [row, column], least = 0) {
  const width = Math.max(least, cw), height = Math.max(least, ch);
  const x = left + (column + 0.5) * cw - width / 2, y = top + (row + 0.5) * ch - height / 2;
  return [x, y, width, height];
}

const downTitle = (meta) => `${meta.row_title} \u2193`;

// ---- the picture without its frames -------------------------------------------------------------

function paintBase(canvas, view) {
  const context = sharpen(canvas, view.place.outer, view.place.total);
  context.textBaseline = "middle";
  paintCells(context, view);
  paintTitles(context, view);
  paintRowNames(context, view);
  if (view.meta.columns) paintColumnNames(context, view);
  else paintTicks(context, view);
  if (view.place.cw >= 40 && view.place.ch >= 20) paintNumbers(context, view);
  paintLegend(context, view);
}

function paintCells(context, { meta, values, shape, theme, luts, place }) {
  const { across, down, ratio } = place;
  const colours = pixelTable(luts[theme.dark ? 1 : 0]), hatch = pixelOf(rgbOf(theme.line));
  const stripe = Math.round(6 * ratio), ink = Math.max(1, Math.round(ratio));
  const wide = across.from.length, tall = down.from.length;
  const image = context.createImageData(wide, tall);
  const pixels = new Uint32Array(image.data.buffer), codes = new Int16Array(wide);
  for (let y = 0; y < tall; y++) {
    if (down.from[y] < 0) continue;
    if (y === 0 || down.from[y] !== down.from[y - 1]) {
      for (let x = 0; x < wide; x++) {
        if (across.from[x] < 0) continue;
        const span = [down.from[y], down.to[y], across.from[x], across.to[x]];
        codes[x] = codeOf(values[strongest({ values, shape }, ...span)], meta);
      }
    }
    for (let x = 0; x < wide; x++) {
      if (across.from[x] < 0) continue;
      if (codes[x] >= 0) pixels[y * wide + x] = colours[codes[x]];
      else if ((x + y) % stripe < ink) pixels[y * wide + x] = hatch;
    }
  }
  context.putImageData(image, Math.round(place.left * ratio), Math.round(place.top * ratio));
}

function paintTitles(context, { meta, theme, place }) {
  context.font = place.sans;
  context.fillStyle = theme.faint;
  context.textAlign = "left";
  context.fillText(`${meta.column_title} \u2192`, place.left, 10);
  context.textAlign = "right";
  const y = meta.columns ? place.top - 15 : 10;
  context.fillText(ellipsis(context, downTitle(meta), MOST_NAME), place.left - 8, y);
}

function paintRowNames(context, { meta, theme, place }) {
  context.font = place.mono;
  context.fillStyle = theme.text;
  context.textAlign = "right";
  const step = Math.ceil(LINE / place.ch);
  for (let row = 0; row < meta.rows.length; row += step) {
    const text = ellipsis(context, meta.rows[row], MOST_NAME);
    context.fillText(text, place.left - 8, place.top + (row + 0.5) * place.ch);
  }
}

function paintColumnNames(context, { meta, theme, place }) {
  context.font = place.mono;
  context.fillStyle = theme.text;
  context.textAlign = "left";
  const step = Math.ceil((LINE * 1.2) / place.cw);
  for (let column = 0; column < meta.columns.length; column += step) {
    context.save();
    context.translate(place.left + (column + 0.5) * place.cw, place.top - 6);
    context.rotate(-Math.PI / 4);
    context.fillText(ellipsis(context, meta.columns[column], MOST_SLANT), 0, 0);
    context.restore();
  }
}

function paintTicks(context, { shape, theme, place }) {
  context.font = place.sans;
  context.fillStyle = theme.faint;
  context.textAlign = "center";
  const bottom = place.top + place.height;
  for (let column = 0; column < shape[1]; column += tickStep(place.cw, 34)) {
    const x = place.left + (column + 0.5) * place.cw;
    context.fillRect(x - 0.5, bottom + 1, 1, 4);
    context.fillText(column, x, bottom + 13);
  }
}

function paintNumbers(context, view) {
  const { shape: [rows, columns], place } = view;
  context.font = `11px ${view.theme.mono}`;
  context.textAlign = "center";
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const [x, y, width, height] = cellBox(view, [row, column]);
      const value = valueAt(view, row, column);
      context.fillStyle = inkOn(view, value);
      context.fillText(brief(value), x + width / 2 - 1, y + height / 2, place.cw - 3);
    }
  }
}

// Black or white, whichever reads better on the value's colour.
function inkOn({ meta, theme, luts }, value) {
  const code = codeOf(value, meta);
  if (code < 0) return theme.faint;
  const colour = luts[theme.dark ? 1 : 0].subarray(code * 3, code * 3 + 3);
  return luminanceOf(colour) > 0.18 ? "#000000" : "#ffffff";
}

function paintLegend(context, view) {
  const { meta, theme, place, masked } = view, y = place.legend + 13;
  const low = digits(meta.palette === "signed" ? -meta.limit : 0, 3);
  context.font = place.sans;
  const start = place.full - place.left > 330 ? place.left : 0;
  const end = paintScale(context, view, low, digits(meta.limit, 3), start, y);
  if (!masked) return;
  paintHatch(context, theme, [end + 20, y - 6, 18, 12]);
  context.fillText(meta.labels.masked, end + 44, y);
}

function paintHatch(context, theme, [left, top, width, height]) {
  context.save();
  context.beginPath();
  context.rect(left, top, width, height);
  context.clip();
  context.strokeStyle = theme.line;
  for (let x = left - height; x < left + width; x += 6) {
    context.beginPath();
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
    context.stroke();
  }
  context.restore();
}

// ---- what moves: frames and lens ----------------------------------------------------------------

function paintOver(canvas, view, chosen, hover) {
  const { theme, place } = view;
  const context = sharpen(canvas, place.full, place.total);
  context.textBaseline = "middle";
  for (const cell of view.meta.marks) {
    context.setLineDash([3, 2]);
    frame(context, view, cell, theme.text, 1.5);
    context.setLineDash([]);
  }
  if (hover) frame(context, view, hover, theme.faint, 1.5);
  if (chosen) paintChosen(context, view, chosen);
  if (place.cw < NARROW) paintLens(context, view, hover || chosen);
}

function frame(context, view, cell, colour, thick) {
  const [x, y, width, height] = cellBox(view, cell, 6);
  context.strokeStyle = colour;
  context.lineWidth = thick;
  context.strokeRect(x - 1, y - 1, width, height);
}

function paintChosen(context, view, cell) {
  const { theme, place } = view, [x, y, width, height] = cellBox(view, cell, 4);
  frame(context, view, cell, theme.background, 4);
  frame(context, view, cell, theme.text, 2.5);
  context.fillStyle = theme.primary;
  context.fillRect(place.left - 5, y, 3, height);
  context.fillRect(x, place.top - 5, width, 3);
}

// The neighbours of a narrow cell, large enough for their numbers.
function paintLens(context, view, cell) {
  const { meta, theme, place, shape: [, columns] } = view, [row, column] = cell || [0, 0];
  const count = Math.min(columns, Math.max(5, Math.min(15, Math.floor(place.width / 58) | 1)));
  const first = Math.min(columns - count, Math.max(0, column - (count >> 1)));
  const width = place.width / count, top = place.lens + 18, height = 28;
  const middle = top + height / 2;
  context.fillStyle = theme.primary;
  const from = place.left + first * place.cw;
  context.fillRect(from, place.top + place.height + 1, count * place.cw, 2);
  context.font = place.mono;
  context.textAlign = "right";
  context.fillStyle = theme.text;
  context.fillText(ellipsis(context, meta.rows[row], MOST_NAME), place.left - 8, middle);
  context.textAlign = "center";
  for (let i = 0; i < count; i++) {
    const at = first + i, x = place.left + i * width, value = valueAt(view, row, at);
    const code = codeOf(value, meta), box = [x, top, width - 2, height];
    context.font = `11px ${theme.mono}`;
    context.fillStyle = cell && at === column ? theme.text : theme.faint;
    const name = meta.columns ? ellipsis(context, meta.columns[at], width - 4) : at;
    context.fillText(name, x + width / 2 - 1, top - 9);
    if (code < 0) paintHatch(context, theme, box);
    else {
      const lut = view.luts[theme.dark ? 1 : 0];
      context.fillStyle = `rgb(${lut.subarray(code * 3, code * 3 + 3).join()})`;
      context.fillRect(...box);
      context.fillStyle = inkOn(view, value);
      context.fillText(brief(value), x + width / 2 - 1, middle, width - 5);
    }
    if (!cell || at !== column) continue;
    context.strokeStyle = theme.text;
    context.lineWidth = 2;
    context.strokeRect(x, top, width - 2, height);
  }
}
