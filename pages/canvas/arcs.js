// The tokens of a text with the attention of one of them: what it looks at, or who looks at it; in
// colours on a running text, or below each other with arcs and bars. Pointing at a token shows its
// attention until the pointer leaves. Knows the payload of viz/arcs.py; reports the position a
// reader chose, and with Shift the other token of a pair; saves with arcs_save.js. Knows no
// sentence.

const DRAWN = 0.01, SHADES = 4, SHOWN = 4;

// ---- weights ------------------------------------------------------------------------------------

const pairOf = ({ back }, token, other) => (back ? [token, other] : [other, token]);

// Why a pair has no weight to show, as the name of a label; "" where it has one.
function whyNot({ window, first, back }, query, key) {
  if (key > query) return "later";
  if (window !== null && query - key >= window) return "outside";
  return !first && key === 0 ? "left" : "";
}

// The recorded weight; NaN where it was not sent.
function weightOf({ meta, weights }, query, key) {
  if (meta.whole) return weights[(query * (query + 1)) / 2 + key];
  const [token, other] = meta.back ? [query, key] : [key, query];
  return token === meta.selected ? weights[other] : NaN;
}

// What a row is divided by: what its first token left, where that is left out (looking back).
function leftBy(view, query) {
  if (view.meta.first) return 1;
  let sum = 0;
  for (let key = 1; key <= query; key++) sum += weightOf(view, query, key);
  return sum || 1;
}

// What is shown of every token, seen from one of them: [value or NaN, why not].
function rowOf(view, token) {
  const { meta } = view, left = leftBy(view, token);
  return meta.tokens.map((_, other) => {
    const [query, key] = pairOf(meta, token, other), why = whyNot(meta, query, key);
    return why ? [NaN, why] : [weightOf(view, query, key) / left, ""];
  });
}

function largestOf(row) {
  return row.reduce((best, [value], i) => (value > (row[best]?.[0] ?? 0) ? i : best), -1);
}

function pairWords(view, token, other, row = rowOf(view, token)) {
  const { meta } = view, [value, why] = row[other], [query, key] = pairOf(meta, token, other);
  const names = { query: meta.tokens[query], key: meta.tokens[key] };
  const at = { ...names, query_index: query, key_index: key };
  if (why) return fill(meta.labels[why], at);
  return Number.isNaN(value) ? "" : fill(meta.labels.pair, { ...at, weight: digits(value, SHOWN) });
}

// ---- colours ------------------------------------------------------------------------------------

// Background and ink of each code, as CSS.
function shadesOf(lut) {
  return Array.from({ length: 256 }, (_, code) => {
    const rgb = lut.subarray(code * 3, code * 3 + 3);
    return [`rgb(${rgb.join()})`, luminanceOf(rgb) > 0.18 ? "#000000" : "#ffffff"];
  });
}

const codeOf = (value) => Math.round(255 * Math.min(1, Math.max(0, value)));

function colour(view) {
  const { meta, host, holder, luts } = view, theme = readTheme(host);
  const mode = theme.dark ? "dark" : "light", roles = meta.colours;
  view.shades = shadesOf(luts[theme.dark ? 1 : 0]);
  const own = meta.back ? ["query", "key"] : ["key", "query"];
  const set = { faint: theme.faint, edge: theme.line, attention: roles.attention[mode] };
  Object.assign(set, { chosen: roles[own[0]][mode], other: roles[own[1]][mode] });
  for (const [name, value] of Object.entries(set)) holder.style.setProperty(`--${name}`, value);
  const stops = [0, 64, 128, 191, 255].map((code) => view.shades[code][0]);
  view.ramp.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
}

// ---- chips --------------------------------------------------------------------------------------

function fillChips(view) {
  const { meta, list, holder } = view;
  holder.classList.toggle("tall", meta.variant === "tall");
  keepChips(view, "text", "position", "bar", "number").forEach((chip, i) => {
    chip.children[0].textContent = meta.tokens[i];
    chip.children[1].textContent = i;
    chip.classList.toggle("special", meta.special[i]);
    chip.classList.toggle("end", meta.ends[i]);
  });
  list.setAttribute("aria-label", meta.labels.aria);
  view.amount.textContent = meta.labels.amount;
  view.masked.textContent = meta.labels.masked;
  view.save.textContent = meta.labels.save;
}

function paintChip(view, chip, [value, why]) {
  const [text, , bar, number] = chip.children, tall = view.meta.variant === "tall";
  const known = !Number.isNaN(value), [back, ink] = view.shades[codeOf(known ? value : 0)];
  chip.classList.toggle("unseen", why === "later" || why === "outside");
  chip.classList.toggle("left", why === "left");
  text.style.background = known && !tall ? back : "";
  text.style.color = known && !tall ? ink : "";
  bar.style.setProperty("--share", known ? Math.min(1, value) : 0);
  const named = value >= view.meta.named ? value.toFixed(2) : "";
  number.textContent = tall ? named : "";
  text.dataset.weight = tall ? "" : named;
}

// Shows the attention of the token that is pointed at, else of the chosen one.
function paint(view) {
  const { meta, list, choice } = view, chosen = choice.current ?? meta.selected;
  const token = (meta.whole ? view.pointed : null) ?? chosen, row = rowOf(view, token);
  const chips = [...list.children], other = chosen === meta.selected ? view.other.current : null;
  chips.forEach((chip, i) => {
    paintChip(view, chip, row[i]);
    chip.classList.toggle("shown", i === token);
    chip.classList.toggle("other", i === other);
  });
  drawArcs(view, token, row);
  say(view, token, row, view.pointed ?? other, chosen);
}

// Whose attention is shown, its largest number, and the number of one pair.
function say(view, token, row, other, chosen) {
  const { meta, now, pair } = view, most = largestOf(row);
  const shown = fill(meta.labels.now, { token: meta.tokens[token], position: token });
  const weight = most < 0 ? "" : digits(row[most][0], SHOWN);
  const largest = { token: meta.tokens[most], position: most, weight };
  now.textContent = shown + (most < 0 ? "" : fill(meta.labels.most, largest));
  const said = other === null || (token === chosen && other === most);
  pair.textContent = said ? "" : pairWords(view, chosen, other);
}

function nameChips(view) {
  const { meta, list, choice } = view, chosen = choice.current ?? meta.selected;
  const row = rowOf(view, chosen);
  [...list.children].forEach((chip, i) => {
    chip.setAttribute("aria-label", `${describe(meta, i)}. ${pairWords(view, chosen, i, row)}`);
  });
}

// ---- arcs ---------------------------------------------------------------------------------------

function path(group, d, name, width, opacity) {
  draw("path", { d, class: name, "stroke-width": width, "stroke-opacity": opacity }, group);
}

// From one token to another, the further the wider; never wider than there is room.
function arcOf({ wide, high }, from, to) {
  const apart = Math.abs(from - to), out = wide - ((wide - 6) * apart) / (apart + 5) * (4 / 3);
  const [top, bottom] = [from, to].map((i) => (i + 0.5) * high);
  return `M${wide},${top}C${out},${top} ${out},${bottom} ${wide},${bottom}`;
}

function measure(view) {
  const { svg, list } = view;
  return { wide: svg.clientWidth, high: list.children[0]?.offsetHeight ?? 0 };
}

// The strongest arcs of the whole head: one path for each of a few shades.
function drawBehind(view) {
  const { meta, behind, pairs } = view;
  behind.replaceChildren();
  if (meta.variant !== "tall" || !meta.whole) return;
  const size = measure(view), shades = Array.from({ length: SHADES }, () => []);
  for (let n = 0; n < pairs.length; n += 2) {
    const [query, key] = [pairs[n], pairs[n + 1]];
    const value = weightOf(view, query, key) / leftBy(view, query);
    shades[Math.min(SHADES - 1, Math.floor(value * SHADES))].push(arcOf(size, query, key));
  }
  shades.forEach((arcs, n) => {
    if (arcs.length) path(behind, arcs.join(""), "behind", 1 + n * 0.4, 0.25 + n * 0.15);
  });
}

function drawArcs(view, token, row) {
  const { meta, front } = view;
  front.replaceChildren();
  if (meta.variant !== "tall") return;
  const size = measure(view);
  row.forEach(([value], other) => {
    if (!(value >= DRAWN) || other === token) return;
    path(front, arcOf(size, token, other), "front", 1 + 7 * value, 0.35 + 0.65 * value);
  });
}

// The arcs stay beside their tokens while these are scrolled.
function follow({ list, arcs }) {
  const top = (list.children[0]?.offsetTop ?? 0) - list.offsetTop - list.scrollTop;
  arcs.setAttribute("transform", `translate(0,${top})`);
}

// ---- life ---------------------------------------------------------------------------------------

function chooseOther(view, event) {
  const chip = chipOf(event), { meta, choice } = view;
  if (!event.shiftKey || !chip) return;
  event.stopImmediatePropagation();
  const other = Number(chip.dataset.index);
  const why = whyNot(meta, ...pairOf(meta, choice.current ?? meta.selected, other));
  if (why && why !== "left") return;
  view.other.move(other);
  paint(view);
}

function listen(view) {
  const { list } = view;
  list.addEventListener("click", (event) => chooseOther(view, event));
  listenToChips(view);
  const point = (chip) => {
    const pointed = chip ? Number(chip.dataset.index) : null;
    if (pointed === view.pointed) return;
    view.pointed = pointed;
    paint(view);
  };
  list.addEventListener("pointerover", (event) => point(chipOf(event)));
  list.addEventListener("pointerleave", () => point(null));
  for (const name of ["click", "keydown"]) list.addEventListener(name, () => paint(view));
  list.addEventListener("scroll", () => follow(view));
  view.save.addEventListener("click", () => saveReading(view));
}

function parts(host) {
  const [holder, now, pair] = ["looking", "now", "pair"].map((name) => element("div", name));
  const [frame, list, legend] = ["frame", "chips", "legend"].map((name) => element("div", name));
  const [ramp, hatch] = [element("span", "ramp"), element("span", "hatch")];
  const [amount, masked] = [element("span", "amount"), element("span")];
  const [svg, arcs, behind, front] = ["svg", "g", "g", "g"].map((name) => draw(name, {}));
  const save = element("button", "save");
  save.type = "button";
  pair.setAttribute("aria-live", "polite");
  svg.setAttribute("aria-hidden", "true");
  arcs.append(behind, front);
  svg.append(arcs);
  frame.append(svg, list);
  legend.append(amount, element("span", "", "0"), ramp, element("span", "", "1"), hatch, masked, save);
  holder.append(now, pair, frame, legend);
  host.append(holder);
  return { host, holder, now, pair, list, svg, arcs, behind, front, ramp, amount, masked, save };
}

export default component((host, port) => {
  const view = { ...parts(host), pointed: null, meta: null };
  view.choice = makeChoice(tellPython(port, "position"));
  view.other = makeChoice(tellPython(port, "other"));
  listen(view);
  const redraw = () => {
    if (!view.meta) return;
    colour(view);
    drawBehind(view);
    paint(view);
  };
  const stopTheme = watchTheme(host, redraw), resized = new ResizeObserver(redraw);
  resized.observe(view.holder);
  return {
    update(meta, { weights, pairs, lut_light: light, lut_dark: dark }) {
      const data = { weights: weights.data, pairs: pairs.data, luts: [light.data, dark.data] };
      Object.assign(view, { meta, pointed: null, ...data });
      fillChips(view);
      adoptChoice(view);
      view.other.adopt(meta.other);
      showChoice(view);
      redraw();
      nameChips(view);
      follow(view);
    },
    stop() {
      view.choice.stop();
      view.other.stop();
      stopTheme();
      resized.disconnect();
    },
  };
});
