// Tells Python what was chosen in the page's own HTML, by a click or by Enter: any element with the
// attribute that `data.name` names (data-row, data-key), so that lists do not mix. A row is chosen
// from anywhere inside it, but for a button there: that is chosen for itself.

// Streamlit notes two places in the browser's history when a page is left: this one with the query of
// the next, then the next. After a door the second takes the place of the first, so that Back leads to
// where the door was.
function noteOnce() {
  if (history.walked) return;
  const push = history.pushState;
  let clicked = -Infinity, half = null;
  history.walked = () => { clicked = performance.now(); };
  history.pushState = (state, title, url) => {
    const to = new URL(url, location.href), leaves = to.pathname !== location.pathname;
    const recent = performance.now() - clicked < 5000;
    const whole = recent && leaves && half === to.search;
    half = leaves ? null : to.search;
    if (whole) history.replaceState(state, title, url);
    else push.call(history, state, title, url);
  };
}

export default function ({ data, setTriggerValue }) {
  noteOnce();
  const chosen = ({ target }) => {
    const found = target.closest?.(`[data-${data.name}]`);
    const button = target.closest?.("button");
    if (!found || (button && button !== found && found.contains(button))) return;
    history.walked();
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
