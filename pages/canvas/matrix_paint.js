// How a matrix is painted: cells, names, ticks, numbers. Cells are painted device pixel by device
// pixel, so that edges are sharp and no strong value vanishes when many cells share a pixel.
// Knows the places of matrix_place.js and no event.

function paintBase(canvas, view) {
  const { place, shape: [rows] } = view;
  const context = sharpen(canvas, place.outer, place.total);
  context.textBaseline = "middle";
  paintCells(context, view);
  if (place.names || rows > 1) paintTitles(context, view);
  paintRowNames(context, view);
  if (place.names === "flat") paintFlatNames(context, view);
  else if (place.names) paintSlantedNames(context, view);
  else paintTicks(context, view);
  if (place.cw >= NUMBERED && place.ch >= 20) paintNumbers(context, view);
  paintLegend(context, view);
}

function paintCells(context, view) {
  const { theme, luts, place } = view;
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
        codes[x] = codeAt(view, strongest(view, ...span));
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

// The rows' title above their names; where it is longer than they are, the columns' title moves on.
function paintTitles(context, { meta, theme, place, shape: [rows] }) {
  context.font = place.sans;
  context.fillStyle = theme.faint;
  let start = place.left;
  if (rows > 1) {
    const down = meta.row_title && `${meta.row_title} \u2193`;
    const length = context.measureText(down).width, fits = length <= place.left - 8;
    context.textAlign = fits ? "right" : "left";
    context.fillText(down, fits ? place.left - 8 : 0, 8);
    start = Math.max(start, fits ? 0 : length + 14);
  }
  context.textAlign = "left";
  const across = `${meta.column_title} \u2192`;
  context.fillText(ellipsis(context, across, place.outer - start), start, 8);
}

function paintRowNames(context, { meta, theme, place }) {
  context.font = place.mono;
  context.fillStyle = theme.text;
  context.textAlign = "right";
  const step = tickStep(place.ch, LINE);
  for (let row = 0; row < meta.rows.length; row += step) {
    const text = ellipsis(context, meta.rows[row], place.left - 8);
    context.fillText(text, place.left - 8, place.top + (row + 0.5) * place.ch);
  }
}

function paintFlatNames(context, { meta, theme, place }) {
  context.font = place.mono;
  context.fillStyle = theme.text;
  context.textAlign = "center";
  meta.columns.forEach((name, column) => {
    context.fillText(name, place.left + (column + 0.5) * place.cw - 1, place.top - 12);
  });
}

function paintSlantedNames(context, { meta, theme, place }) {
  context.font = place.mono;
  context.fillStyle = theme.text;
  context.textAlign = "left";
  for (let column = 0; column < meta.columns.length; column += nameStep(place.cw)) {
    context.save();
    context.translate(place.left + (column + 0.5) * place.cw, place.top - 8);
    context.rotate(-Math.PI / 4);
    context.fillText(ellipsis(context, meta.columns[column], place.slant), 0, 0);
    context.restore();
  }
}

// Numbers below the columns. Of a strip the last ones give way to the title.
function paintTicks(context, view) {
  const { meta, shape: [rows, columns], theme, place } = view;
  const bottom = place.top + place.height;
  context.fillStyle = theme.faint;
  const end = rows === 1 ? paintTickTitle(context, view, bottom + 9) : Infinity;
  context.font = place.small;
  context.textAlign = "center";
  const step = tickStep(place.cw, 34), first = Math.ceil(meta.first_column / meta.column_step);
  for (let column = -first % step; column < columns; column += step) {
    if (column < 0) continue;
    const x = place.left + (column + 0.5) * place.cw, text = columnNumber(meta, column);
    const half = context.measureText(text).width / 2;
    if (x + half >= end) break;
    context.fillRect(x - 0.5, bottom + 1, 1, 3);
    context.fillText(text, Math.min(x, place.outer - half), bottom + 9);
  }
}

// Returns where the title starts, less some air. It stands below the last cells, or beside a strip
// that is too short for it.
function paintTickTitle(context, { meta, place }, y) {
  if (!meta.column_title) return Infinity;
  context.font = place.sans;
  const whole = `${meta.column_title} \u2192`, edge = place.left + place.width;
  const length = context.measureText(whole).width;
  context.textAlign = "left";
  if (length > place.width * 0.7 && length <= place.outer - edge - 8) {
    context.fillText(whole, edge + 8, y);
    return Infinity;
  }
  const title = ellipsis(context, whole, place.width * 0.7);
  const start = edge - context.measureText(title).width;
  context.fillText(title, start, y);
  return start - 8;
}

function paintNumbers(context, view) {
  const { shape: [rows, columns], place } = view;
  context.font = place.small;
  context.textAlign = "center";
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const [x, y, width, height] = cellBox(view, [row, column]);
      const value = valueAt(view, row, column);
      context.fillStyle = inkOn(view, codeAt(view, row * columns + column));
      context.fillText(fitting(context, value, width - 5), x + width / 2 - 1, y + height / 2);
    }
  }
}

// The number with as many digits as the width holds: it is never squeezed.
function fitting(context, value, width) {
  if (!Number.isFinite(value)) return "";
  const power = value.toExponential(0).replace("e+", "e").replaceAll("-", "\u2212");
  const texts = [brief(value), digits(value, 2), digits(value, 1), power];
  return texts.find((text) => context.measureText(text).width <= width) ?? "";
}

// Black or white, whichever reads better on the colour.
function inkOn({ theme, luts }, code) {
  if (code < 0) return theme.faint;
  const colour = luts[theme.dark ? 1 : 0].subarray(code * 3, code * 3 + 3);
  return luminanceOf(colour) > 0.18 ? "#000000" : "#ffffff";
}
