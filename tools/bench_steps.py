"""Measure what a reader waits for on the walk through a block, in Chromium: every step of a layer,
for one position and for all, another layer, and all layers at once; at 64 and at 256 tokens. Prints
medians, writes nothing.

Knows the harness of the browser tests, the clock of bench_views and the keys of the page. A step
counts from the key that the page sees to two frames after all of its answer is there.
"""

import statistics
import sys
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.llama_ops import BLOCK_IDS  # noqa: E402
from tools.bench_views import PRESSED, warm_reader  # noqa: E402

WORDS = "The old man walked down the long road to the small town and saw the river".split()
LAYER, HEAD = 12, 4
LAYERS = 8  # other layers that are gone to
BOUNDS = {"step": "0.4 s", "layer": "0.6 s", "bytes": "600 kB"}


def main():
    """Both lengths, one after the other."""
    with warm_reader("/block") as reader:
        for n_tokens in (64, 256):
            measure(reader, n_tokens)


def measure(reader, n_tokens):
    """Everything for a text of so many tokens."""
    link = {"prompt": text(n_tokens), "layer": LAYER, "head": HEAD}
    for name, more in (("one position", {}), ("all positions", {"together": 1})):
        reader.open("/block", op=BLOCK_IDS[0], **link, **more)
        assert reader.chips("block_tokens").count() == n_tokens
        steps = [pressed(reader, "ArrowRight") for _ in BLOCK_IDS[1:]]
        report(f"{n_tokens} tokens, {name}: a step (bound {BOUNDS['step']})", steps, BLOCK_IDS[1:])
        layers = [pressed(reader, "Shift+ArrowUp") for _ in range(LAYERS)]
        report(f"{n_tokens} tokens, {name}: another layer (bound {BOUNDS['layer']})", layers)
    opened(reader, n_tokens, link)


def opened(reader, n_tokens, link):
    """All layers at once: the first paint, then another layer."""
    reader.open("/tokens", prompt=link["prompt"])  # the run itself is there
    reader.page.goto(f"{reader.address}/block?{urlencode(link | {'walk': 'layers'})}")
    first = reader.page.evaluate("when(() => 0, 0)")
    reader.calm()
    report(f"{n_tokens} tokens, all layers: first paint", [(first, bytes_so_far(reader))])
    layers = [pressed(reader, "Shift+ArrowUp") for _ in range(LAYERS)]
    report(f"{n_tokens} tokens, all layers: another layer (bound {BOUNDS['layer']})", layers)


def text(n_tokens):
    """Words that are one token each."""
    return " ".join(WORDS[i % len(WORDS)] for i in range(n_tokens))


def pressed(reader, key):
    """Milliseconds from a key press to the painted answer, and bytes that were sent for it."""
    before = bytes_so_far(reader)
    reader.page.evaluate(PRESSED)
    reader.press(key)
    milliseconds = reader.page.evaluate("measured")
    reader.calm()
    return milliseconds, bytes_so_far(reader) - before


def bytes_so_far(reader):
    """What the page has received over its websocket."""
    return reader.page.evaluate("walk.bytes")


def report(name, measured, steps=()):
    """One line: median and largest time and size, with the steps where they were largest."""
    times, sizes = zip(*measured, strict=True)
    slowest, widest = (f" at {steps[v.index(max(v))]}" if steps else "" for v in (times, sizes))
    print(
        f"{name}: median {statistics.median(times) / 1000:.3f} s"
        f" (at most {max(times) / 1000:.3f}{slowest}),"
        f" {statistics.median(sizes) / 1000:.0f} kB"
        f" (at most {max(sizes) / 1000:.0f}{widest}, bound {BOUNDS['bytes']})",
        flush=True,
    )


if __name__ == "__main__":
    main()
