// Tells Python what was chosen in the page's own HTML, by a click or by Enter: any element with the
// attribute that `data.name` names (data-row, data-key), so that lists do not mix. A row is chosen
// from anywhere inside it, but for a button there: that is chosen for itself.

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
