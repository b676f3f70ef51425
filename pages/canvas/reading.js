// A text and its tokens, joined: pointing at a token lights the characters it touches, pointing at
// a character lights its tokens. Knows the payload of viz/reading.py; reports the position a reader
// chose. Knows no tokenizer: display texts arrive visible.

const LIT = "lit";

function fillText({ meta, text }) {
  text.replaceChildren(
    ...meta.parts.map(({ text: words, tokens }, n) => {
      const part = element("span", "part", words);
      part.dataset.part = n;
      part.classList.toggle("odd", tokens[0] % 2 === 1);
      part.classList.toggle("shared", tokens.length > 1);
      part.classList.toggle("lost", !tokens.length);
      return part;
    }),
  );
  text.setAttribute("aria-label", meta.labels.text);
}

function fillTokens(view) {
  const { meta, list } = view;
  keepChips(view, "text", "id", "bytes", "number").forEach((chip, i) => {
    const [text, id, bytes, number] = chip.children;
    text.textContent = meta.tokens[i];
    id.textContent = meta.ids[i];
    bytes.textContent = meta.bytes[i];
    number.textContent = i;
    chip.classList.toggle("special", meta.special[i]);
    chip.classList.toggle("unknown", meta.unknown[i]);
    chip.setAttribute("aria-label", nameOf(meta, i));
  });
  list.setAttribute("aria-label", meta.labels.aria);
}

function nameRows({ meta, names }) {
  names[0].textContent = meta.labels.text;
  names[1].textContent = meta.labels.tokens;
}

function colour({ meta, host, holder }) {
  const { dark, faint, line } = readTheme(host);
  const style = { faint, edge: line, role: meta.colour[dark ? "dark" : "light"] };
  for (const [name, value] of Object.entries(style)) holder.style.setProperty(`--${name}`, value);
}

// ---- what belongs together ----------------------------------------------------------------------

// The parts of the text that a token touches; a token of a template or a prefix may touch none.
function partsOf({ parts }, position) {
  return parts.flatMap(({ tokens }, n) => (tokens.includes(position) ? [n] : []));
}

const tokensOf = ({ parts }, part) => parts[part].tokens;

function joinedTo(meta, { part, position }) {
  if (part === undefined) return { parts: partsOf(meta, position), tokens: [position] };
  return { parts: [part], tokens: tokensOf(meta, part) };
}

function light(view, parts, tokens, name = LIT) {
  const { text, list } = view, before = view.marked[name] ?? [];
  for (const node of before) node.classList.remove(name);
  const nodes = [...parts.map((n) => text.children[n]), ...tokens.map((n) => list.children[n])];
  view.marked[name] = nodes.filter(Boolean);
  for (const node of view.marked[name]) node.classList.add(name);
}

// ---- pointing and choosing ----------------------------------------------------------------------

function pointedAt(event) {
  const node = event.target.closest(".part, .chip");
  if (!node) return null;
  const { part, index } = node.dataset;
  return part === undefined ? { position: Number(index) } : { part: Number(part) };
}

const nameOf = (meta, n) => `${describe(meta, n)} · ${meta.bytes[n]}`;

function wordsOf(meta, tokens) {
  if (!tokens.length) return [meta.labels.lost];
  return tokens.map((n) => nameOf(meta, n));
}

function point(view, event) {
  const at = pointedAt(event);
  if (!at) return unlight(view);
  const { parts, tokens } = joinedTo(view.meta, at);
  light(view, parts, tokens);
  const said = wordsOf(view.meta, tokens).map((words) => element("bdi", "", words));
  view.said.replaceChildren(...said);
}

function unlight(view) {
  light(view, [], []);
  view.said.replaceChildren();
}

function showJoined(view) {
  const { meta, choice, text } = view;
  const parts = choice.current === null ? [] : partsOf(meta, choice.current);
  light(view, parts, [], "chosen");
  if (parts.length) scrollInside(text, text.children[parts[0]]);
}

function listen(view) {
  const { text, list } = view;
  for (const box of [text, list]) {
    box.addEventListener("pointerover", (event) => point(view, event));
    for (const name of ["pointerleave", "scroll"]) box.addEventListener(name, () => unlight(view));
  }
  text.addEventListener("click", (event) => {
    const at = pointedAt(event), tokens = at ? tokensOf(view.meta, at.part) : [];
    if (tokens.length) moveTo(view, tokens[0]);
    showJoined(view);
  });
  for (const name of ["keydown", "click"]) list.addEventListener(name, () => showJoined(view));
}

export default component((host, port) => {
  const holder = element("div", "reading");
  const [text, list] = [element("div", "running"), element("div", "chips")];
  const names = [element("div", "name"), element("div", "name")];
  const row = element("div", "row"), said = element("div", "said");
  row.append(names[1], said);
  text.setAttribute("role", "group");
  text.tabIndex = 0;
  holder.append(names[0], text, row, list);
  host.append(holder);
  const choice = makeChoice(tellPython(port, "position"));
  const view = { host, holder, text, list, names, said, choice, marked: {} };
  listenToChips(view);
  listen(view);
  const stopTheme = watchTheme(host, () => colour(view));
  return {
    update(meta) {
      view.meta = meta;
      nameRows(view);
      fillText(view);
      fillTokens(view);
      colour(view);
      adoptChoice(view);
      showChoice(view);
      showJoined(view);
    },
    stop() {
      choice.stop();
      stopTheme();
    },
  };
});
