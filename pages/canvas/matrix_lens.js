// What moves above a matrix: outlines of its parts, frames of the pointed-at and the chosen cell, and
// the lens.
// Knows the places of matrix_place.js and no event.

function paintOver(canvas, view, chosen, hover) {
  const { theme, place } = view;
  const context = sharpen(canvas, place.full, place.total);
  context.textBaseline = "middle";
  view.meta.marks.forEach((mark, i) => outline(context, view, mark, i > 0));
  if (hover) frame(context, view, hover, theme.faint, 1.5);
  if (chosen) paintChosen(context, view, chosen);
  if (place.lens) paintLens(context, view, hover || chosen);
}

// Around the outside of the cells, so that none is covered; a line of background keeps it readable.
function outline(context, { theme, place }, [row, column, stopRow, stopColumn], dashed) {
  const x = place.left + column * place.cw - 1, y = place.top + row * place.ch - 1;
  const box = [x, y, (stopColumn - column) * place.cw + 2, (stopRow - row) * place.ch + 2];
  context.strokeStyle = theme.background;
  context.lineWidth = 3;
  context.strokeRect(...box);
  context.setLineDash(dashed ? [5, 4] : []);
  context.strokeStyle = dashed ? theme.primary : theme.text;
  context.lineWidth = dashed ? 2 : 1.5;
  context.strokeRect(...box);
  context.setLineDash([]);
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
  const { theme, place } = view, [row, column] = cell || [0, 0];
  const { lens } = place, first = lensStart(view, column);
  context.fillStyle = theme.primary;
  const y = place.top + place.height + 1;
  context.fillRect(place.left + first * place.cw, y, lens.count * place.cw, 2);
  if (lens.named) paintLensName(context, view, row);
  context.font = place.small;
  context.textAlign = "center";
  for (let i = 0; i < lens.count; i++) {
    const box = [lens.left + i * lens.cell, lens.top, lens.cell - 2, lens.height];
    const here = Boolean(cell) && first + i === column;
    paintLensCell(context, view, [row, first + i], box, here);
  }
}

// The first column that the lens around a column shows.
function lensStart({ place: { lens }, shape: [, columns] }, column) {
  return Math.min(columns - lens.count, Math.max(0, column - (lens.count >> 1)));
}

// The cell under the pointer in the lens, which stands around the chosen one.
function lensAt(view, event, chosen) {
  const { lens } = view.place, [row, column] = chosen || [0, 0];
  if (!lens) return null;
  const at = Math.floor((event.offsetX - lens.left) / lens.cell), down = event.offsetY - lens.top;
  if (at < 0 || at >= lens.count || down < 0 || down >= lens.height) return null;
  return [row, lensStart(view, column) + at];
}

function paintLensName(context, { meta, theme, place }, row) {
  context.font = place.mono;
  context.textAlign = "right";
  context.fillStyle = theme.text;
  const name = ellipsis(context, meta.rows[row], place.left - 8);
  context.fillText(name, place.left - 8, place.lens.top + place.lens.height / 2);
}

function paintLensCell(context, view, [row, column], box, here) {
  const { meta, theme, place, luts } = view, [x, y, width, height] = box;
  const middle = x + width / 2, value = valueAt(view, row, column);
  const code = codeAt(view, row * view.shape[1] + column);
  context.fillStyle = here ? theme.text : theme.faint;
  const name = ellipsis(context, String(columnName(meta, column)), width - 2);
  context.fillText(name, middle, place.lens.names);
  if (code < 0) paintHatch(context, theme, box);
  else {
    const colour = luts[theme.dark ? 1 : 0].subarray(code * 3, code * 3 + 3);
    context.fillStyle = `rgb(${colour.join()})`;
    context.fillRect(...box);
    context.fillStyle = inkOn(view, code);
    context.fillText(brief(value), middle, y + height / 2 + 0.5);
  }
  if (!here) return;
  context.strokeStyle = theme.text;
  context.lineWidth = 2;
  context.strokeRect(x, y, width, height);
}
