"""Measure what a reader waits for on the Loop page, in Chromium: the first token of a text of 200,
how many follow in a second, and how long a stop takes to be seen. Prints medians, writes nothing.

Knows the harness of the browser tests and the keys of the page. Everything is timed by the page
itself, from the click that it sees to the change in its figure or button: who asks it for numbers
meanwhile slows it down.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools.bench_views import report, warm_reader  # noqa: E402

TOKENS, TIMES = 200, 3
LONGEST = 60_000  # ms
TEXT = {"prompt": "The history of the city of Paris", "temperature": 0.9}
WATCH_TOKENS = """() => {
  const host = document.querySelector(".st-key-loop_text [data-testid=stBidiComponentIsolated]");
  const list = host.shadowRoot.querySelector(".chips");
  window.grown = [];
  const note = () => grown.push([performance.now(), list.children.length]);
  new MutationObserver(note).observe(list, {childList: true});
}"""
WATCH_CLICK = """(name) => {
  const button = document.querySelector(`.st-key-writing_${name} button`);
  button.addEventListener("click", () => { window.clicked = performance.now(); }, true);
  button.click();
}"""
STOPPED = """() => new Promise((done) => {
  const look = () => document.querySelector(".st-key-writing_stop button")?.disabled
    ? done(performance.now() - clicked) : requestAnimationFrame(look);
  look();
})"""


def main():
    """Texts that nobody has asked for: each time another seed."""
    with warm_reader("/loop") as reader:
        runs = [run(reader, seed) for seed in range(TIMES)]
        report("first token (bound 1 s)", [first for first, _ in runs])
        rates = sorted(rate for _, rate in runs)
        shown = f"{rates[TIMES // 2]:.1f} ({rates[0]:.1f} to {rates[-1]:.1f})"
        print(f"tokens per second after it (bound 20): {shown}", flush=True)
        report("a stop is seen (bound 0.5 s)", [stop(reader, seed) for seed in range(TIMES)])


def run(reader, seed):
    """Milliseconds to the first token of a text, and tokens per second from there on."""
    reader.open("/loop", **TEXT, seed=seed, max_new_tokens=TOKENS)
    reader.page.evaluate(WATCH_TOKENS)
    reader.page.evaluate(WATCH_CLICK, "run")
    reader.page.wait_for_timeout(1_000 * TOKENS / 12)  # no look meanwhile
    reader.calm(timeout=LONGEST)
    clicked, grown = reader.page.evaluate("[clicked, grown.filter(([, n]) => n > 1)]")
    (begun, some), (ended, all_) = grown[0], grown[-1]
    return begun - clicked, 1_000 * (all_ - some) / (ended - begun)


def stop(reader, seed):
    """Milliseconds from the click to the button that can no longer be pressed."""
    reader.open("/loop", **TEXT, seed=100 + seed, max_new_tokens=400)
    reader.page.evaluate(WATCH_CLICK, "run")
    reader.page.wait_for_timeout(3_000)
    reader.page.evaluate(WATCH_CLICK, "stop")
    taken = reader.page.evaluate(STOPPED)
    reader.calm()
    return taken


if __name__ == "__main__":
    main()
