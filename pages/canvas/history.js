// Streamlit notes two places in the browser's history when a script leads to another page: this page
// with the query of the next, then the next. The second takes the place of the first, so that Back
// leads to where the reader was. Knows addresses; no page.

const AT_ONCE = 3000; // ms: both come from one run of the script

function noteOnce() {
  if (history.once) return;
  history.once = true;
  const push = history.pushState;
  let half = { search: null, at: -Infinity };
  history.pushState = (state, title, url) => {
    const to = new URL(url, location.href), now = performance.now();
    const leaves = to.pathname !== location.pathname;
    const whole = leaves && half.search === to.search && now - half.at < AT_ONCE;
    half = { search: leaves ? null : to.search, at: now };
    if (whole) history.replaceState(state, title, url);
    else push.call(history, state, title, url);
  };
  // a link of the page notes one place, and what was noted before is another
  const forget = ({ target }) => { if (target.closest?.("a")) half.search = null; };
  document.addEventListener("click", forget, true);
}
