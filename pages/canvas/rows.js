// Tells Python which row of a list was clicked: any row of a table of the page with a data-row.
// The list itself is ordinary HTML; so a click can also come from anywhere inside it.

export default function ({ setTriggerValue }) {
  const clicked = (event) => {
    const row = event.target.closest?.("tr[data-row]");
    if (row) setTriggerValue("row", Number(row.dataset.row));
  };
  document.addEventListener("click", clicked);
  return () => document.removeEventListener("click", clicked);
}
