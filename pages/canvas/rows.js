// Tells Python what was chosen in the page's own HTML, by a click or by Enter: any element with the
// attribute that `data.name` names (data-row, data-key), so that lists do not mix. A row is chosen
// from anywhere inside it, but for a button there: that is chosen for itself.

// A page that runs makes its lists anew: the row that was chosen gets back the focus, and its list the
// place that it was scrolled to.
function stayAt(row, name) {
  const same = `tr[data-${name}="${row.dataset[name]}"]`;
  const nth = [...document.querySelectorAll(same)].indexOf(row);
  const top = row.closest(".tw-scroll")?.scrollTop ?? 0, focused = document.activeElement === row;
  const watch = new MutationObserver(() => {
    const next = row.isConnected ? null : document.querySelectorAll(same)[nth];
    if (!next) return;
    watch.disconnect();
    const box = next.closest(".tw-scroll");
    if (box) box.scrollTop = top;
    if (focused && document.activeElement === document.body) next.focus({ preventScroll: true });
  });
  watch.observe(document.body, { subtree: true, childList: true });
  setTimeout(() => watch.disconnect(), 5000);
}

export default function ({ data, setTriggerValue }) {
  const chosen = ({ target }) => {
    const found = target.closest?.(`[data-${data.name}]`);
    const button = target.closest?.("button");
    if (!found || (button && button !== found && found.contains(button))) return;
    if (found.matches("tr")) stayAt(found, data.name);
    setTriggerValue("row", found.dataset[data.name]);
  };
  const pressed = (event) => {
    if (event.key === "Enter" && event.target.matches?.("tr")) chosen(event);
  };
  document.addEventListener("click", chosen);
  document.addEventListener("keydown", pressed);
  return () => {
    document.removeEventListener("click", chosen);
    document.removeEventListener("keydown", pressed);
  };
}
