// A button that saves the view as one HTML file that opens without a network: the page's own HTML
// and styles as they stand, and every figure with its script and its data, so that it still answers
// to the pointer. Knows Streamlit's marks on a page and the figures that common.js notes.

// What belongs to the running app and not to the view.
const LEFT_OUT = ["[data-testid=stPageLink]", ".st-key-journey", "[data-testid=stButton]",
  "[data-testid=stDownloadButton]", "[data-testid=stIconMaterial]", "[role=tablist]", "template",
  "script", ".katex-html", "[data-testid=stSpinner]", "button[aria-label]"].join();
const FONTS = ["Source Sans", "Source Code Pro"];
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
  + "img-src data: blob:; font-src data:";
const OWN = `.kept-about { font-size: .9rem; margin: 0 0 1rem; }
.kept-about td { padding: .1rem .8rem .1rem 0; vertical-align: top; overflow-wrap: anywhere; }
.katex .katex-mathml { position: static; clip-path: none; height: auto; width: auto; overflow: visible; }
.katex { font: inherit; } .katex-display > .katex { overflow-x: auto; }
mtable[columnalign^=right] > mtr > mtd { padding-left: 0; padding-right: 0; text-align: left; }
mtable[columnalign^=right] > mtr > mtd:nth-child(odd) { text-align: right; }
.js-plotly-plot, .svg-container { max-width: 100%; }
.svg-container > svg { width: 100%; height: 100%; }
[data-testid=stTabPanel] { display: block !important; visibility: visible !important; }
[data-testid=stColumn] > div { position: static !important; max-height: none !important; }
[data-testid=stMainBlockContainer] { padding: 0; }
html, body { overflow: auto; height: auto; }
main { max-width: 1560px; margin: 0 auto; padding: 1.2rem 1.5rem 3rem; }`;

export default function ({ data, parentElement }) {
  const { keep: named, working, kept: done, file } = data;
  onlyButton(parentElement, { named, working, done }, async () => {
    download(await keptPage(data), `${file}.html`);
  });
}

function download(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/html" }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function keptPage(data) {
  const stage = document.querySelector("[data-testid=stMainBlockContainer]");
  const copy = stage.cloneNode(true), figures = copyFigures(stage, copy);
  copyPictures(stage, copy);
  fitCharts(copy);
  sayChoices(stage, copy);
  copy.querySelectorAll(LEFT_OUT).forEach((node) => node.remove());
  copy.querySelectorAll("button").forEach(asText);
  copy.querySelectorAll("[data-testid=stElementContainer]").forEach((box) => {
    if (!box.childElementCount) box.remove();
  });
  copy.querySelectorAll("[hidden], [inert]").forEach(show);
  copy.querySelectorAll("details:not([open])").forEach((box) => {
    if (!box.querySelector("[data-testid=stExpanderDetails]")?.textContent.trim()) box.remove();
  });
  copy.querySelectorAll("[tabindex]").forEach((node) => node.removeAttribute("tabindex"));
  const main = document.createElement("main");
  main.append(about(data), noteOf(data), copy);
  const styles = [await sheets(), OWN, variables()].join("\n");
  return [
    "<!doctype html>", `<html lang="${data.lang}"><head><meta charset="utf-8">`,
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    '<meta name="viewport" content="width=device-width">',
    `<title>${escaped(document.title)}</title>`,
    `<style>${styles.replaceAll("</", "<\\/")}</style></head>`,
    `<body>${main.outerHTML}`, ...(await scripts(figures)), "</body></html>",
  ].join("\n");
}

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

// A button inside a text leads nowhere in a file: its words stay.
function asText(button) {
  const text = document.createElement("span");
  text.className = button.className;
  text.append(...button.childNodes);
  text.style.cssText = "cursor: auto; text-decoration: none";
  button.replaceWith(text);
}

// What was behind a tab stands below the first now.
function show(node) {
  node.removeAttribute("hidden");
  node.removeAttribute("inert");
}

// What the view is of: a table of names and values.
function about({ about, saved }) {
  const table = document.createElement("table");
  table.className = "kept-about";
  const now = new Date().toISOString().slice(0, 16).replace("T", " ");
  for (const [name, value] of [...about, [saved, `${now} UTC`]]) {
    const row = table.insertRow();
    row.insertCell().textContent = name;
    row.insertCell().textContent = value;
  }
  return table;
}

function noteOf({ note }) {
  const said = document.createElement("p");
  said.className = "tw-caption";
  said.textContent = note;
  return said;
}

// ---- figures ------------------------------------------------------------------------------------

// Each figure's place in the copy gets a number; -> what stands there: script, data, styles.
function copyFigures(stage, copy) {
  const hosts = "[data-testid=stBidiComponentIsolated]";
  const places = [...copy.querySelectorAll(hosts)], found = [];
  [...stage.querySelectorAll(hosts)].forEach((host, n) => {
    const figure = globalThis.tokenwalkFigures?.get(host);
    if (!figure) return;
    const style = [...host.shadowRoot.querySelectorAll("style")].map((s) => s.textContent).join("\n");
    places[n].dataset.figure = found.length;
    found.push({ ...figure, style });
  });
  return found;
}

// Charts are drawings already; a picture on a canvas of the page itself becomes an image.
function copyPictures(stage, copy) {
  const copies = [...copy.querySelectorAll("canvas")];
  [...stage.querySelectorAll("canvas")].forEach((canvas, n) => {
    const image = document.createElement("img");
    try {
      image.src = canvas.toDataURL();
    } catch {
      return;
    }
    image.style.cssText = canvas.style.cssText;
    copies[n].replaceWith(image);
  });
}

// A chart keeps its proportions where the window is narrower than the page was.
function fitCharts(copy) {
  copy.querySelectorAll(".svg-container").forEach((box) => {
    const { width, height } = box.style;
    box.style.cssText += `; aspect-ratio: ${parseFloat(width)} / ${parseFloat(height)}; height: auto`;
    box.querySelectorAll(":scope > svg").forEach((svg) => {
      svg.setAttribute("viewBox", `0 0 ${svg.getAttribute("width")} ${svg.getAttribute("height")}`);
    });
  });
}

// Every script once, with the figures that it draws.
async function scripts(figures) {
  const urls = [...new Set(figures.map((figure) => figure.from))];
  return Promise.all(urls.map(async (url) => {
    const text = await (await fetch(url)).text();
    const own = figures.flatMap((figure, n) => (figure.from === url ? [[n, figure]] : []));
    const mounts = own.map(([n, { data, style }]) =>
      `mountKept(${n}, ${JSON.stringify(style)}, "${base64(data)}");`);
    const code = text.replace(/^export default /m, "const kept = ") + `\n${MOUNT}\n${mounts.join("\n")}`;
    return `<script type="module">${code.replaceAll("</script", "<\\/script")}</script>`;
  }));
}

const MOUNT = `function mountKept(n, style, data) {
  const host = document.querySelector('[data-figure="' + n + '"]');
  const root = host.attachShadow({ mode: "open" });
  const sheet = document.createElement("style");
  sheet.textContent = style;
  root.append(sheet);
  const nobody = () => {};
  kept({ data: Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0)), parentElement: root,
    setStateValue: nobody, setTriggerValue: nobody });
}`;

function base64(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

// ---- choices ------------------------------------------------------------------------------------

// Switches and boxes do nothing in a file: each says what was chosen, if anything was. A list
// without a name stands for the clicks on a figure, which shows itself what is chosen.
function sayChoices(stage, copy) {
  const kinds = "stButtonGroup stTextInput stTextArea stNumberInput stSelectbox stSlider stCheckbox";
  const all = kinds.split(" ").map((kind) => `[data-testid=${kind}]`).join();
  const nameless = [...stage.querySelectorAll(all)].map(isNameless);
  [...copy.querySelectorAll(all)].forEach((widget, n) => {
    const value = valueOf(widget);
    if (!value || nameless[n]) return widget.remove();
    const said = document.createElement("p");
    said.className = "tw-caption";
    said.textContent = [labelOf(widget), value].filter((part) => part).join(": ");
    widget.replaceWith(said);
  });
}

const LABEL = "[data-testid=stWidgetLabel]";
const labelOf = (widget) => widget.querySelector(LABEL)?.textContent.trim() ?? "";

function isNameless(widget) {
  const label = widget.querySelector(LABEL);
  return widget.dataset.testid === "stSelectbox" && (!label || !label.offsetHeight);
}

function valueOf(widget) {
  const box = widget.querySelector("input, textarea"), id = box?.id;
  if (box?.type === "checkbox") return document.getElementById(id)?.checked ?? box.checked ? "✓" : "–";
  const pressed = widget.querySelector("[aria-checked=true], [aria-pressed=true], [aria-selected=true]");
  return (pressed?.textContent ?? box?.getAttribute("value") ?? box?.textContent ?? "").trim();
}

// ---- styles -------------------------------------------------------------------------------------

// All rules of the page. Of the fonts only those of text, as they are: the others are not needed.
async function sheets() {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const texts = rules.map((rule) => (rule instanceof CSSFontFaceRule ? font(rule) : rule.cssText));
  return (await Promise.all(texts)).join("\n");
}

async function font(rule) {
  const named = (name) => rule.style.getPropertyValue(name).replaceAll('"', "").trim();
  if (!FONTS.includes(named("font-family")) || named("font-style") === "italic") return "";
  const address = rule.cssText.match(/url\("?([^")]+)"?\)/)?.[1];
  const base = rule.parentStyleSheet?.href ?? location.href;
  const file = await fetch(new URL(address, base));
  const data = base64(new Uint8Array(await file.arrayBuffer()));
  return rule.cssText.replace(/url\("?[^")]+"?\)/, `url("data:font/woff2;base64,${data}")`);
}

// The colours that figures read, as they are here: from the theme that the reader chose.
function variables() {
  const host = document.querySelector("[data-testid=stBidiComponentIsolated]") ?? document.body;
  const style = getComputedStyle(host), app = document.querySelector("[data-testid=stApp]");
  const names = ["background-color", "secondary-background-color", "text-color", "primary-color",
    "border-color", "font", "code-font", "heading-font"].map((name) => `--st-${name}`);
  const set = names.map((name) => [name, style.getPropertyValue(name)]).filter(([, value]) => value);
  const { backgroundColor, color, fontFamily, colorScheme } = getComputedStyle(app);
  return `:root { ${set.map(([name, value]) => `${name}: ${value};`).join(" ")} }
body { background: ${backgroundColor}; color: ${color}; font-family: ${fontFamily};
  color-scheme: ${colorScheme}; margin: 0; }`;
}
