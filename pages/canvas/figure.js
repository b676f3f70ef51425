// What the drawn components share: two canvases (the picture, and the frames above it), a reader
// who points, clicks and presses arrow keys, device pixels, the line below with scale and buttons.
// Knows no figure and no sentence.

// The default export of a drawn component. `kind` is what differs:
//   state                           the name under which Python gets the chosen item
//   read(meta, arrays) -> view      what the functions below need
//   place(view, width, saves)       -> {outer, full, legend, ...}: where things lie, in CSS pixels;
//                                   `saves` is the width of the save buttons
//   base(canvas, view)              paints the picture
//   over(canvas, view, chosen, hover)     paints what moves
//   at(view, event)                 -> the item under the pointer, or null
//   beside(view, event, chosen)     -> the item under the pointer in an enlarged part; leave it out
//                                   where none is
//   after(view, event, chosen)      -> the item a key leads to, or null
//   size(view)                      -> [first, second]: an item is a pair of indices below these
//   words(view, item)               -> what the labels may name
//   notes(view)                     -> further lines of the tooltip; leave it out where none are
//   chosen(meta)                    -> the item Python wants chosen, or null
//   csv(view)                       -> lines; leave it out where there is no table
// Where the payload's meta says `opens`, a click or Enter does not choose an item but opens it:
// Python gets it as the trigger "open".
function drawn(kind) {
  return component((host, port) => {
    const parts = figureParts(host, Boolean(kind.csv));
    const { root, figure, base, over, live, saves, png, csv } = parts;
    const tip = makeTooltip(figure), choice = makeChoice(tellPython(port, kind.state));
    let view = null, hover = null;

    const frames = () => kind.over(over, view, choice.current, hover);
    const redraw = () => {
      if (!view || !root.clientWidth) return;
      view.theme = readTheme(host);
      view.place = kind.place(view, root.clientWidth, saves.offsetWidth);
      saves.classList.toggle("below", view.place.legend.below);
      saves.style.right = `${view.place.outer - view.place.full}px`;
      kind.base(base, view);
      frames();
    };
    const words = (label, item) => {
      const values = kind.words(view, item);
      return view.meta.labels[label].split("\n").map((line) => fill(line, values));
    };
    const choose = (item) => {
      choice.move(item);
      frames();
      live.textContent = words("selected", item).join(", ");
    };
    const open = (item) => port.setTriggerValue("open", item);
    const beside = (event) => kind.beside?.(view, event, choice.current) ?? null;
    const point = (item, x, y, named = item) => {
      hover = item;
      frames();
      const notes = (item && kind.notes?.(view)) ?? [];  // an enlarged part needs none
      if (named) tip.show([...words("tooltip", named), ...notes], x, y);
      else tip.hide();
    };

    over.addEventListener("pointermove", (event) => {
      const item = kind.at(view, event);
      point(item, event.offsetX, event.offsetY, item ?? beside(event));
    });
    over.addEventListener("pointerleave", () => point(null));
    over.addEventListener("click", (event) => {
      const item = hover ?? kind.at(view, event) ?? beside(event); // what the tooltip names
      if (item) (view.meta.opens ? open : choose)(item);
    });
    over.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && view.meta.opens && choice.current) return open(choice.current);
      const item = kind.after(view, event, choice.current);
      if (!item) return;
      event.preventDefault();
      event.stopPropagation();
      choose(item);
    });
    png.addEventListener("click", () => {
      savePng([base, over], view.theme.background, `${fileName(view.meta.name)}.png`);
    });
    csv?.addEventListener("click", () => {
      saveCsv(kind.csv(view), `${fileName(view.meta.name)}.csv`);
    });

    const resized = new ResizeObserver(() => {
      if (root.clientWidth !== view?.place?.outer) redraw();
    });
    resized.observe(root);
    const stopWatching = watchTheme(host, redraw);
    // A canvas does not redraw itself when the font it asked for has arrived.
    document.fonts.addEventListener("loadingdone", redraw);

    return {
      update(meta, arrays) {
        const luts = [arrays.lut_light.data, arrays.lut_dark.data];
        view = { meta, luts, ...kind.read(meta, arrays) };
        choice.adopt(kind.chosen(meta));
        const size = kind.size(view);
        if (choice.current?.some((index, axis) => index >= size[axis])) choice.drop();
        hover = null;
        tip.hide();
        png.textContent = meta.labels.save_png;
        if (csv) csv.textContent = meta.labels.save_csv;
        if (csv) csv.hidden = meta.exact === false;
        saves.hidden = meta.saves === false;
        over.setAttribute("aria-label", meta.labels.aria);
        redraw();
      },
      stop() {
        resized.disconnect();
        stopWatching();
        document.fonts.removeEventListener("loadingdone", redraw);
        choice.stop();
        root.remove();
      },
    };
  });
}

function figureParts(host, table) {
  const root = element("div", "root"), figure = element("div", "figure");
  const base = element("canvas", "base"), over = element("canvas", "over");
  const saves = element("div", "saves"), live = element("div", "hidden");
  const png = element("button", "save"), csv = table ? element("button", "save") : null;
  base.setAttribute("aria-hidden", "true");
  over.tabIndex = 0;
  over.setAttribute("role", "grid");
  live.setAttribute("aria-live", "polite");
  saves.append(...(csv ? [png, csv] : [png]));
  figure.append(base, over, saves);
  root.append(figure, live);
  host.append(root);
  return { root, figure, base, over, live, saves, png, csv };
}

// ---- keys ---------------------------------------------------------------------------------------

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

// Where a key leads, or null for a key that is none of ours. The first key press chooses cell 0, 0.
function cellAfterKey(event, current, [rows, columns]) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null;
  const step = STEPS[event.key], end = { Home: 0, End: columns - 1 }[event.key];
  if (!step && end === undefined) return null;
  if (!current) return [0, 0];
  const [row, column] = current;
  if (!step) return [row, end];
  const clamp = (i, count) => Math.min(count - 1, Math.max(0, i));
  return [clamp(row + step[0], rows), clamp(column + step[1], columns)];
}

// ---- drawing ------------------------------------------------------------------------------------

// Sets the size in CSS pixels and returns a context in CSS pixels on a device-sharp canvas.
function sharpen(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(canvas.width / width, 0, 0, canvas.height / height, 0, 0);
  return context;
}

// Which items each device pixel of an axis shows: {from, to} as Int32Array; from = -1 is a gap.
// Items wider than a pixel get `gap` empty pixels after them; narrower ones share a pixel, and none
// is lost.
function binPixels(count, pixels, gap = 0) {
  const from = new Int32Array(pixels).fill(-1), to = new Int32Array(pixels);
  for (let p = 0; pixels < count && p < pixels; p++) {
    from[p] = Math.floor((p * count) / pixels);
    to[p] = Math.floor(((p + 1) * count) / pixels);
  }
  for (let i = 0; pixels >= count && i < count; i++) {
    const start = Math.round((i * pixels) / count);
    const end = Math.max(start + 1, Math.round(((i + 1) * pixels) / count) - gap);
    from.fill(i, start, end);
    to.fill(i + 1, start, end);
  }
  return { from, to };
}

// The items under a place 0..1 of a binned axis, as [from, to]; a gap belongs to the item before.
function spanAt({ from, to }, place) {
  let pixel = Math.min(from.length - 1, Math.floor(place * from.length));
  while (from[pixel] < 0) pixel--;
  return [from[pixel], to[pixel]];
}

// A colour table [code, rgb] as one 32-bit pixel per code, ready for an ImageData buffer.
function pixelTable(lut) {
  const bytes = new Uint8ClampedArray(1024).fill(255);
  for (let code = 0; code < 256; code++) bytes.set(lut.subarray(code * 3, code * 3 + 3), code * 4);
  return new Uint32Array(bytes.buffer);
}

function pixelOf(rgb) {
  return new Uint32Array(Uint8ClampedArray.of(...rgb, 255).buffer)[0];
}

// The text, or as much of it as fits into `width` followed by an ellipsis.
function ellipsis(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  const letters = Array.from(text);
  const shown = () => letters.join("") + "\u2026";
  while (letters.length && context.measureText(shown()).width > width) letters.pop();
  return shown();
}

// 1, 2, 5, 10, 20 ...: the smallest step whose ticks lie at least `apart` pixels from each other.
function tickStep(pixelsPerItem, apart) {
  for (let scale = 1; ; scale *= 10) {
    for (const step of [1, 2, 5]) if (step * scale * pixelsPerItem >= apart) return step * scale;
  }
}

// ---- the line below a figure: colour scale left, save buttons right -----------------------------

const LEGEND = 19, BAR = 128, HALF_BAR = 64, LEAST_BAR = 36, SWATCH = 44, APART = 16;

const pen = element("canvas").getContext("2d");

function widest(texts, font, most = Infinity) {
  pen.font = font;
  const width = (text) => pen.measureText(text).width;
  return Math.min(most, texts.reduce((wide, text) => Math.max(wide, width(text)), 0));
}

// legend = {low, high, masked, several}: the end values, what the hatched swatch says ("" for none),
// and what is said where there is room for it.
function legendTexts({ low, high }, font) {
  return widest([low], font) + widest([high], font) + 12;
}

// The width at which nothing is cut.
function legendWidth(legend, font, saves) {
  const swatch = legend.masked ? SWATCH + widest([legend.masked], font) : 0;
  return legendTexts(legend, font) + BAR + swatch + (saves && saves + APART);
}

// In less room the scale first moves to the left edge, then shrinks, then the swatch's words are
// cut; where even that does not fit beside the buttons, they go to a line of their own: `below`.
function placeLegend(legend, font, left, full, saves) {
  const texts = legendTexts(legend, font), swatch = legend.masked ? SWATCH : 0;
  const beside = full - (saves && saves + APART);
  const below = texts + LEAST_BAR + (swatch && swatch + 30) > beside;
  const end = below ? full : beside, said = legend.several && !swatch ? legend.several : "";
  const note = said && widest([said], font) + APART + texts + HALF_BAR <= end ? said : "";
  const extra = note ? APART + widest([note], font) : 0;
  const words = swatch ? swatch + widest([legend.masked], font) : extra;
  const start = end - left >= texts + 90 + words ? left : 0;
  const bar = Math.min(BAR, Math.max(LEAST_BAR, end - start - texts - words));
  return { ...legend, start, bar, end, below, note };
}

function paintLegend(context, { luts, theme, place: { legend, total, sans } }) {
  const y = total - LEGEND / 2, { start, bar, low, high, masked, note } = legend;
  context.font = sans;
  context.textAlign = "left";
  context.fillStyle = theme.faint;
  context.fillText(low, start, y);
  const from = start + context.measureText(low).width + 6, lut = luts[theme.dark ? 1 : 0];
  for (let i = 0; i < bar; i++) {
    const code = Math.round((255 * i) / (bar - 1));
    context.fillStyle = `rgb(${lut.subarray(code * 3, code * 3 + 3).join()})`;
    context.fillRect(from + i, y - 5, 1.5, 10);
  }
  context.fillStyle = theme.faint;
  context.fillText(high, from + bar + 6, y);
  const x = from + bar + 6 + context.measureText(high).width;
  if (note) context.fillText(note, x + APART, y);
  if (!masked) return;
  paintHatch(context, theme, [x + 20, y - 6, 18, 12]);
  context.fillStyle = theme.faint;
  context.fillText(ellipsis(context, masked, legend.end - x - SWATCH), x + SWATCH, y);
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
