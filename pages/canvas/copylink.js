// A button that puts the address of this view on the clipboard. Works without HTTPS too, where
// navigator.clipboard does not exist. It stands on every page, and so keeps their history in order,
// too (history.js).

export default function ({ data, parentElement }) {
  noteOnce();
  document.documentElement.lang = data.lang;  // for screen readers, and for the right glyphs
  const said = { named: data.copy, done: data.copied };
  onlyButton(parentElement, said, () => copy(window.location.href));
}

async function copy(text) {
  if (navigator.clipboard) {
    try {
      return await navigator.clipboard.writeText(text);
    } catch {
      // refused (the page has no focus, or no permission): the old way below
    }
  }
  const field = document.createElement("textarea");
  field.value = text;
  document.body.appendChild(field);
  field.select();
  document.execCommand("copy");
  field.remove();
}
