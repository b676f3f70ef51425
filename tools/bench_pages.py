"""Measure what a reader waits for on the block page, in Chromium: prints medians, writes nothing.

Knows the harness of the browser tests and the block page. The clock starts at the key press the
page itself sees and stops two frames after all of the new step is there, figures included.
"""

import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from tests.browser import harness  # noqa: E402
from tests.llama_ops import BLOCK_IDS  # noqa: E402

# 31 tokens; one word more makes it 32.
SENTENCE = (
    "The old man walked slowly down the long road to the small town, and when he came to the"
    " bridge over the river he saw that it was all very"
)
WORDS = "red blue green black white old new long cold warm".split()
TIMES = len(WORDS)
CLOCK = """({op, token, tokens}) => {
  const bytes = walk.bytes, ended = walk.ended;
  let start = null;
  addEventListener("keydown", () => { start = performance.now(); }, true);
  const inside = (key, what) => [...document.querySelectorAll(`[class*="st-key-${key}"]`)].flatMap(
    (box) => [...box.querySelectorAll("*")].flatMap(
      (host) => [...host.shadowRoot?.querySelectorAll(what) ?? []]));
  const there = () => {
    const panel = document.querySelector("[data-testid=explain]")?.textContent ?? "";
    return start !== null && walk.ended > ended && panel.includes(op + " ") && panel.includes(token)
      && document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning"
      && !document.querySelector("[data-stale=true]")
      && inside("block_tokens", ".chip").length === tokens
      && inside("output_" + op.replaceAll(".", "-"), "canvas").length > 0;
  };
  window.measured = new Promise((done) => {
    const stop = () => done([performance.now() - start, walk.bytes - bytes]);
    const look = () => there()
      ? requestAnimationFrame(() => requestAnimationFrame(stop)) : requestAnimationFrame(look);
    look();
  });
}"""


def main():
    """Both measurements, one after the other."""
    log = Path(tempfile.mkdtemp()) / "server.log"
    with harness.server(log) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=harness.chromium(), args=harness.FLAGS
        )
        context = chromium.new_context(viewport={"width": 1440, "height": 900})
        reader = harness.Reader(context, address).open("/block")
        report(
            f"new prompt of 32 tokens to painted page (bound 2 s), {TIMES} times", prompts(reader)
        )
        report(f"one step forward (bound 0.5 s), {TIMES} times", steps(reader))
        reader.close()
        chromium.close()


def measure(reader, key, token, op):
    """Milliseconds from a key press to the painted page, and bytes received over the websocket."""
    reader.page.evaluate(CLOCK, {"op": op, "token": token, "tokens": 32})
    reader.page.keyboard.press(key)
    measured = reader.page.evaluate("measured")
    reader.calm()
    return measured


def prompts(reader):
    """Another text for every measurement, so that none has been run before."""
    box, measured = reader.key("prompt").locator("textarea"), []
    for word in WORDS:
        box.fill(f"{SENTENCE} {word}")
        measured.append(measure(reader, "Control+Enter", f"␣{word} (31)", BLOCK_IDS[0]))
    return measured


def steps(reader):
    """Through the first steps of the layer, one after the other."""
    reader.press()  # takes the focus out of the prompt box
    token = f"␣{WORDS[-1]} (31)"
    return [measure(reader, "ArrowRight", token, op) for op in BLOCK_IDS[1 : TIMES + 1]]


def report(name, measured):
    """One line: median, smallest and largest time, median of the bytes."""
    times, sizes = zip(*measured, strict=True)
    print(
        f"{name}: median {statistics.median(times) / 1000:.3f} s"
        f" ({min(times) / 1000:.3f} to {max(times) / 1000:.3f}),"
        f" {statistics.median(sizes) / 1000:.0f} kB received"
    )


if __name__ == "__main__":
    main()
