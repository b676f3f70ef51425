"""Measure what a reader waits for on the pages of views, in Chromium: the first paint of each view,
and its controls. Prints medians, writes nothing.

Knows the harness of the browser tests and the keys of the controls. A first paint counts from the
request to the moment when everything stands on the page, figures included; a control counts from
the press that the page itself sees to two frames after all of its answer is there.
"""

import statistics
import sys
import tempfile
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from tests.browser import harness  # noqa: E402

TIMES = 5
A_PROMPT = "strawberry fields and the king of France"  # its first piece is three tokens
VIEWS = {
    "tokens": "merges compare chat space vocabulary".split(),
    "embedding": "row neighbours arithmetic map tied".split(),
    "positions": "rotation clocks distance longer".split(),
}
# Whether all that the page will show is there. `after`: script runs that had ended before.
THERE = """
window.there = (after) => {
  const all = (what) => [...document.querySelectorAll(what)];
  const app = document.querySelector("[data-testid=stApp]");
  return app?.dataset.testScriptState === "notRunning" && walk.ended > after
    && !document.querySelector("[data-testid=stSkeleton], [data-stale=true]")
    && all("[data-testid=stPlotlyChart]").every((chart) => chart.querySelector(".main-svg"))
    && all("[data-testid=stBidiComponentIsolated]").every(
      (host) => host.shadowRoot?.querySelector("canvas, svg, button, [role=option]"));
};
window.when = (start, after) => new Promise((done) => {
  const stop = () => done(performance.now() - start());
  const look = () => there(after)
    ? requestAnimationFrame(() => requestAnimationFrame(stop)) : requestAnimationFrame(look);
  look();
});
"""
PRESSED = """() => {
  let start = Infinity;
  const mark = () => { start = Math.min(start, performance.now()); };
  for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, mark, true);
  const late = new Promise((_, fail) => setTimeout(fail, 20000, new Error("no answer")));
  window.measured = Promise.race([when(() => start, walk.ended), late]);
}"""


def typed(key, *texts):
    """Another text in a box, and Enter."""

    def press(reader, n):
        box = reader.key(key).locator("input, textarea").first
        box.fill(texts[n % len(texts)])
        reader.page.evaluate(PRESSED)  # what counts is the Enter
        box.press("Enter" if box.evaluate("box => box.tagName") == "INPUT" else "Control+Enter")

    return press


def clicked(key, what, first=1):
    """Each of the items in turn, from `first` on: one that is not chosen yet."""

    def press(reader, n):
        items = reader.key(key).locator(what)
        item = items.nth((n + first) % items.count())
        item.evaluate("item => item.scrollIntoView({block: 'center'})")  # not below the bar
        box = item.bounding_box()  # Plotly's own layer lies above its bars
        reader.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    return press


def keyed(key, what, *keys):
    """A key pressed in a figure or slider that has the focus."""

    def press(reader, n):
        reader.key(key).locator(what).first.focus()
        reader.page.evaluate(PRESSED)
        reader.page.keyboard.press(keys[n % len(keys)])

    return press


BUTTONS, CHIPS, BARS = "button", ".chip", ".point path"
TOKEN = {  # by page: another token in the strip of its first view
    "tokens": clicked("reading", CHIPS),
    "embedding": clicked("row_tokens", CHIPS),
    "positions": clicked("turned_strip", CHIPS),
}
CONTROLS = {
    "merges": {"another piece": clicked("pieces", CHIPS)},
    "compare": {
        "examples or own texts": clicked("compare_which", BUTTONS),
        "a text of one's own": typed("compare_ask", "one", "two words", "今天", "🙂 and", "x = 1"),
    },
    "chat": {"a system prompt": typed("chat_system", *"abcde")},
    "vocabulary": {
        "another search": typed("vocabulary_ask", "cat", "dog", "0xE4", "#314", "ing"),
        "another list": clicked("vocabulary_list", BUTTONS),
    },
    "row": {"another number": keyed("row_embed", "canvas.over", "ArrowRight")},
    "neighbours": {
        "a word of one's own": typed("neighbours_ask", "cat", "dog", "red", "seven", "Paris"),
        "another bar": clicked("neighbours_bars", BARS),
    },
    "arithmetic": {
        "another sum": clicked("arithmetic_examples", BUTTONS),
    },
    "map": {"another group": clicked("map_group", BUTTONS)},
    "tied": {"another bar": clicked("tied_bars", BARS)},
    "rotation": {"another pair": keyed("pair", "input", "ArrowUp")},
    "clocks": {"the hands of a query": clicked("real_hands", "label")},
    "distance": {
        "both moved": keyed("distance_both", "input[type=range]", "ArrowRight"),
        "the key moved": keyed("distance_one", "input[type=range]", "ArrowLeft"),
    },
    "longer": {"another factor": clicked("longer_factor", BUTTONS, first=2)},
}


@contextmanager
def warm_reader(path):
    """A reader with a server of its own, whose browser has the scripts of the app from a first page
    on; who is clean at the end.
    """
    log = Path(tempfile.mkdtemp()) / "server.log"
    with harness.server(log) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=harness.chromium(), args=harness.FLAGS
        )
        context = chromium.new_context(viewport={"width": 1440, "height": 900})
        reader = harness.Reader(context, address)
        reader.page.add_init_script(THERE)
        yield reader.open(path)
        reader.assert_clean()
        chromium.close()


def main():
    """First paints and controls of every view of every page."""
    with warm_reader("/tokens") as reader:
        for page, views in VIEWS.items():
            for view in views:
                report(f"{page} {view}: first paint (bound 2 s)", paints(reader, page, view))
                for name, press in CONTROLS.get(view, {}).items():
                    report(f"  {name} (bound 0.5 s)", presses(reader, press))
            reader.open(f"/{page}", prompt=A_PROMPT)
            report(f"{page}: another token (bound 0.5 s)", presses(reader, TOKEN[page]))
            report(f"{page}: one view on or back (bound 0.5 s)", steps(reader))


def paints(reader, page, view):
    """Milliseconds from the request to the painted page."""
    measured = []
    for _ in range(TIMES):
        link = urlencode({"op": view, "prompt": A_PROMPT})
        reader.page.goto(f"{reader.address}/{page}?{link}")
        measured.append(reader.page.evaluate("when(() => 0, 0)"))
        reader.calm()
    return measured


def presses(reader, press):
    """Milliseconds of several presses; press(reader, n) makes one."""
    measured = []
    for n in range(TIMES):
        reader.page.evaluate(PRESSED)
        press(reader, n)
        measured.append(reader.page.evaluate("measured"))
        reader.calm()
    return measured


def steps(reader):
    """Through the views by arrow key, there and back."""
    ways = cycle(("ArrowRight", "ArrowLeft"))
    return presses(reader, lambda reader, n: reader.press(next(ways)))


def report(name, measured):
    """One line: median, smallest and largest time."""
    low, middle, high = min(measured), statistics.median(measured), max(measured)
    print(f"{name}: {middle / 1000:.3f} s ({low / 1000:.3f} to {high / 1000:.3f})", flush=True)


if __name__ == "__main__":
    main()
