"""Measure what a reader waits for on the pages that look inside (heads, layers) and on those of
decoding (sampling, beams, KV cache), in Chromium, for a text of 128 and of 512 tokens. Prints
medians, writes nothing. Pages named on the command line are measured alone.

Knows the harness of the browser tests, the views and the keys of their controls. Every first paint
is of a text that has not been run before, so that it counts the run, too: from the request, or from
the press of Ctrl + Enter that the page itself sees, to two frames after all is on the page. Bytes
are what the server sent over the socket in that time.
"""

import itertools
import statistics
import sys
from urllib.parse import urlencode

from bench_views import BUTTONS, TIMES, clicked, keyed, presses, report, typed, warm_reader

VIEWS = {
    "atlas": "every head reading effect compare roles rollout".split(),
    "lens": "layers parts neurons".split(),
    "sampling": "stages draw orders".split(),
    "loop": ["beams"],
    "cache": "grow saved jobs".split(),
}
BOUNDS = {128: 1.5, 512: 6.0}  # seconds of a first paint, by the tokens of the text
WORDS = "cat dog man tree house river stone bird hand door".split()  # a token each, with its space
CANVAS, SLIDER = "canvas.over", "input[type=range], [role=slider]"
# by view: what a reader does there; each is measured on the text of the view's last first paint
CHOSEN = "[role=option][aria-selected=true]"
HEAD = {"another head": typed("head", *"12357")}
LAYER = {"another layer": typed("layer", "3", "11", "17", "21", "26")}
TEMPERATURE = {"another temperature": keyed("set_temperature", SLIDER, "ArrowRight")}
CONTROLS = {
    "every": {
        "with the first token, or without": clicked("atlas_scale", BUTTONS),
        "another head by key": keyed("atlas_field", CANVAS, "ArrowLeft", "ArrowRight"),
    },
    "head": HEAD | LAYER | {"another cell": keyed("head_map_weights", CANVAS, "ArrowUp")},
    "reading": HEAD | LAYER | {"another token": keyed("reading_tokens", CHOSEN, "ArrowLeft")},
    "effect": HEAD | {"another token": keyed("effect_tokens", CHOSEN, "ArrowLeft")},
    "compare": HEAD | LAYER,
    "roles": HEAD | LAYER | {"another measure": clicked("roles_by", BUTTONS)},
    "rollout": HEAD | {"another token": keyed("rollout_tokens", CHOSEN, "ArrowLeft")},
    "layers": {"another token": keyed("lens_tokens", CHOSEN, "ArrowLeft")},
    "parts": {"another token": keyed("parts_tokens", CHOSEN, "ArrowLeft")},
    "neurons": {"another token": keyed("neurons_tokens", CHOSEN, "ArrowLeft")},
    "stages": TEMPERATURE | {"another token": keyed("stages_tokens", CHOSEN, "ArrowLeft")},
    "draw": {"another seed": clicked("draw_another", BUTTONS)},
    "orders": TEMPERATURE,
    "beams": {"another length penalty": keyed("beams_length_penalty", SLIDER, "ArrowRight")},
    "grow": HEAD | {"keys or values": clicked("grow_kind", BUTTONS)},
    "saved": {"another measure": clicked("saved_kind", BUTTONS)},
}
MEASURED = {"saved": "measure_saved"}  # what is pressed before a control is there
LONGEST = 180_000  # ms of what is measured then
SORTED = {"which maps": clicked("atlas_kind", BUTTONS)}
texts = itertools.count()


def a_text(n_tokens):
    """A text of so many tokens that has not been run before."""
    digits = [int(d) for d in f"{next(texts):06d}"]
    words = [WORDS[d] for d in digits] + [WORDS[n * 7 % 10] for n in range(n_tokens - 7)]
    return "The " + " ".join(words)


def first_paints(reader, page, view, n_tokens):
    """Milliseconds from the request to the painted page, and the bytes that were sent."""
    measured, sent = [], []
    for _ in range(TIMES):
        link = urlencode({"op": view, "prompt": a_text(n_tokens)})
        reader.page.goto(f"{reader.address}/{page}?{link}")
        measured.append(reader.page.evaluate("when(() => 0, 0)"))
        reader.calm()
        sent.append(reader.page.evaluate("walk.bytes"))
    print(f"  {statistics.median(sent) / 1e6:.2f} MB sent (bound 1.5 MB)", flush=True)
    return measured


def all_heads(reader, n_tokens, bound):
    """The page that most begin with: another text, and other maps in the order of their scores."""
    written = typed("prompt", *(a_text(n_tokens) for _ in range(TIMES)))
    name = f"{n_tokens} tokens, all heads: a new text (bound {bound} s)"
    report(name, presses(reader.open("/atlas"), written))
    reader.open("/atlas", by="previous", prompt=a_text(n_tokens))
    for name, press in SORTED.items():
        report(f"  sorted heads: {name} (bound 1 s)", presses(reader, press))


def press_first(reader, key):
    """Press a button and wait until all that it measures is on the page."""
    reader.key(key).locator("button").click()
    reader.page.wait_for_timeout(1_000)
    reader.calm(timeout=LONGEST)


def main(pages):
    """First paints and controls of every view of these pages, for a short and a long text."""
    views = [(page, view) for page in pages for view in VIEWS[page]]
    with warm_reader("/atlas") as reader:
        for n_tokens, bound in BOUNDS.items():
            if "atlas" in pages:
                all_heads(reader, n_tokens, bound)
            for page, view in views:
                measured = first_paints(reader, page, view, n_tokens)
                report(f"{n_tokens} tokens, {page} {view}: first paint of its link", measured)
                if view in MEASURED:
                    press_first(reader, MEASURED[view])
                for name, press in CONTROLS.get(view, {}).items():
                    report(f"  {name} (bound 1 s)", presses(reader, press))


if __name__ == "__main__":
    main(sys.argv[1:] or list(VIEWS))
