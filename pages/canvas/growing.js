// A KV cache that grows step by step in the browser: a bar that steps and plays, the strips of all
// heads, the numbers of one. Knows the payload of viz/growing.py and the painting of
// growing_paint.js; reports the step where a reader came to rest, and the head that was chosen.

const PLAYED = 700, RESTED = 1100; // ms of a step while playing, and of rest before a step is told

export default component((host, port) => {
  const parts = growingParts(host), { root, bar, range, base, over, figure } = parts;
  const step = makeChoice(tellPython(port, "step"), { pause: RESTED });
  const row = makeChoice(tellPython(port, "row"));
  const tip = makeTooltip(figure);
  let view = null, timer = 0, drawnAt = 0;

  const last = () => view.meta.steps.length - 1;
  const redraw = () => {
    drawnAt = root.clientWidth;
    if (!view || !drawnAt) return;
    view.theme = readTheme(host);
    view.place = placeGrowing(view, drawnAt, view.theme);
    paintGrowing(base, view, step.current);
    sharpen(over, drawnAt, view.place.total);
  };
  const show = () => {
    sayStep(parts, view.meta, step.current, Boolean(timer));
    tip.hide();
    redraw();
  };
  const move = (to) => {
    step.move(Math.max(0, Math.min(last(), to)));
    show();
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
  };
  const play = () => {
    if (step.current >= last()) move(0);
    timer = setInterval(() => {
      if (step.current >= last() - 1) stop();
      move(step.current + 1);
    }, PLAYED);
    show();
  };
  const choose = (to) => {
    const [layers, heads] = view.lengths.shape, at = Math.max(0, Math.min(layers * heads - 1, to));
    view.framed = [Math.floor(at / heads), at % heads];
    row.move(view.framed);
    redraw();
  };
  const by = (n) => {
    stop();
    move(step.current + n);
  };

  parts.play.addEventListener("click", () => {
    if (!timer) return play();
    stop();
    show();
  });
  parts.previous.addEventListener("click", () => by(-1));
  parts.next.addEventListener("click", () => by(1));
  range.addEventListener("input", () => by(Number(range.value) - step.current));
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    const rows = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const [layer, head] = view.framed;
    if (steps) by(steps === -Infinity ? -step.current : steps === Infinity ? last() : steps);
    else if (rows && event.target === over) choose(layer * view.lengths.shape[1] + head + rows);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const pointed = ({ offsetX, offsetY }) => growingAt(view, step.current, offsetX, offsetY);
  over.addEventListener("pointermove", (event) => {
    const found = pointed(event);
    if (found) tip.show(sayCell(view, found), event.offsetX, event.offsetY);
    else tip.hide();
  });
  over.addEventListener("pointerleave", () => tip.hide());
  over.addEventListener("click", (event) => {
    const found = pointed(event);
    if (found?.part === "strips") choose(found.row);
  });
  parts.png.addEventListener("click", () => {
    savePng([base], view.theme.background, `${fileName(view.meta.name)}.png`);
  });
  parts.all.addEventListener("click", () => {
    saveCsv(lengthLines(view), `${fileName(view.meta.name)}-lengths.csv`);
  });
  parts.one.addEventListener("click", () => {
    saveCsv(numberLines(view), `${fileName(view.meta.name)}-numbers.csv`);
  });
  const resized = new ResizeObserver(() => root.clientWidth !== drawnAt && redraw());
  resized.observe(root);
  const stopWatching = watchTheme(host, redraw);
  document.fonts.addEventListener("loadingdone", redraw);

  return {
    update(meta, arrays) {
      const luts = {};
      for (const palette of ["amount", "signed"]) {
        luts[palette] = ["light", "dark"].map((mode) => arrays[`${palette}_lut_${mode}`].data);
      }
      view = { meta, luts, lengths: arrays.lengths, numbers: arrays.numbers };
      step.adopt(meta.step);
      row.adopt(meta.row);
      view.framed = row.current ?? meta.row; // the numbers are still those of meta.row
      range.max = last();
      over.setAttribute("aria-label", meta.labels.aria);
      range.setAttribute("aria-label", meta.labels.slider);
      bar.hidden = !last();
      parts.png.textContent = meta.labels.save_png;
      parts.all.textContent = meta.labels.save_lengths;
      parts.one.textContent = meta.labels.save_numbers;
      if (step.current > last()) move(last());
      show();
    },
    stop() {
      stop();
      step.stop();
      row.stop();
      resized.disconnect();
      stopWatching();
      document.fonts.removeEventListener("loadingdone", redraw);
      root.remove();
    },
  };
});

function growingParts(host) {
  const root = element("div", "root"), bar = element("div", "bar"), figure = element("div", "figure");
  const button = (name) => Object.assign(element("button", name), { type: "button" });
  const play = button("play"), previous = button("previous"), next = button("next");
  const range = Object.assign(element("input", "range"), { type: "range", min: 0 });
  const where = element("div", "where"), lines = element("ul", "lines");
  const base = element("canvas", "base"), over = element("canvas", "over");
  const saves = element("div", "saves");
  const [png, all, one] = ["save", "save", "save"].map(button);
  where.setAttribute("aria-live", "polite");
  base.setAttribute("aria-hidden", "true");
  over.tabIndex = 0;
  over.setAttribute("role", "grid");
  bar.append(play, previous, next, range);
  figure.append(base, over);
  saves.append(png, all, one);
  root.append(bar, where, lines, figure, saves);
  host.append(root);
  return { root, bar, figure, play, previous, next, range, where, lines, base, over, png, all, one };
}

// ---- words --------------------------------------------------------------------------------------

function sayStep({ play, previous, next, range, where, lines }, { steps, labels }, step, playing) {
  const limit = (button, text, off) => {
    button.textContent = text;
    button.setAttribute("aria-disabled", off);
  };
  play.textContent = playing ? labels.pause : labels.play;
  limit(previous, labels.previous, step <= 0);
  limit(next, labels.next, step >= steps.length - 1);
  range.value = step;
  range.setAttribute("aria-valuetext", steps[step].title);
  where.textContent = steps[step].title;
  lines.replaceChildren(...steps[step].lines.map((line) => element("li", "", line)));
}

// The step that wrote a position, in words.
function writtenIn({ steps, labels }, position) {
  const step = steps.findIndex(({ stop }) => position < stop);
  return step ? fill(labels.step, { step }) : labels.prefill;
}

function sayCell({ meta, lengths, numbers }, { part, row, column }) {
  const [, heads, columns] = lengths.shape, position = meta.first_position + column;
  const strips = part === "strips", [layer, kv_head] = strips ? [Math.floor(row / heads), row % heads] : meta.row;
  const value = strips ? lengths.data[row * columns + column] : numbers.data[column * numbers.shape[1] + row];
  const told = { layer, kv_head, position, token: meta.tokens[column], when: writtenIn(meta, position) };
  const shown = Number.isFinite(value) ? shortest(value).replaceAll("-", "\u2212") : meta.labels.broken;
  const words = { ...told, dim: row, value: shown };
  return meta.labels[strips ? "tooltip" : "cell"].split("\n").map((line) => fill(line, words));
}

// ---- tables: all columns, also those of later steps ---------------------------------------------

function lengthLines({ meta, lengths: { data, shape: [, heads, columns] } }) {
  const lines = [[meta.labels.layer, meta.labels.part, ...columnNames(meta)].map(csvText).join(",")];
  for (let row = 0; row * columns < data.length; row++) {
    const numbers = Array.from(data.subarray(row * columns, (row + 1) * columns), shortest);
    lines.push([Math.floor(row / heads), row % heads, ...numbers].join(","));
  }
  return lines;
}

function numberLines({ meta, numbers: { data, shape: [columns, dims] } }) {
  const lines = [[meta.labels.number, ...columnNames(meta)].map(csvText).join(",")];
  for (let dim = 0; dim < dims; dim++) {
    lines.push([dim, ...Array.from({ length: columns }, (_, i) => shortest(data[i * dims + dim]))].join(","));
  }
  return lines;
}

const columnNames = ({ tokens, first_position: first }) => tokens.map((token, i) => `${token} (${first + i})`);
