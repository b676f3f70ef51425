"""The payload of the text with its attention, and what the browser makes of it, run by Node."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from viz.arcs import LABELS, MOST_WHOLE, arcs
from viz.payload import unpack

CANVAS = Path(__file__).parents[2] / "pages" / "canvas"
NODE = shutil.which("node")
MAP = np.float32([[1, 0, 0], [0.7, 0.3, 0], [0.6, 0.1, 0.3]])
WORDS = dict.fromkeys(LABELS, "x") | {
    "pair": "{query}{query_index} {key}{key_index} {weight}",
    "later": "{key}{key_index} later",
    "outside": "{key}{key_index} outside",
    "left": "{key}{key_index} left",
}


def payload(weights=MAP, **changes):
    n = len(weights)
    wanted = {"selected": n - 1, "other": 0, "labels": WORDS} | changes
    tokens = wanted.pop("tokens", list("abcdefgh"[:n]) if n < 9 else ["t"] * n)
    return arcs(weights, tokens, wanted.pop("ids", range(n)), **wanted)


def test_the_half_of_the_map_that_holds_numbers_is_sent_row_by_row():
    meta, sent = unpack(payload())
    assert (
        meta["whole"]
        and sent["weights"].tolist() == np.float32([1, 0.7, 0.3, 0.6, 0.1, 0.3]).tolist()
    )
    assert sent["pairs"].shape == (0, 2)


def test_of_a_long_text_one_row_or_column_is_sent():
    n = MOST_WHOLE + 1
    weights = np.tril(np.random.default_rng(0).random((n, n), np.float32))
    meta, sent = unpack(payload(weights, selected=7))
    assert not meta["whole"] and sent["weights"].tolist() == weights[7].tolist()
    _, sent = unpack(payload(weights, selected=7, back=False))
    assert sent["weights"].tolist() == weights[:, 7].tolist()
    most = payload(weights[:-1, :-1], selected=7)
    assert unpack(most)[0]["whole"] and len(most) < 600_000


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"weights": MAP[:2]}, "shape"),
        ({"weights": MAP * 2}, "wanted 0..1"),
        ({"weights": MAP * np.nan}, "wanted 0..1"),
        ({"ids": [1]}, "ids has 1"),
        ({"ends": [True]}, "ends has 1"),
        ({"selected": 3}, "token 3"),
        ({"other": -1}, "token -1"),
        ({"drawn": [[2, 3]]}, "token 3"),
        ({"kind": "lines"}, "lines"),
        ({"back": False, "first": False}, "only looking back"),
        ({"labels": {}}, "labels lack"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(changes, named):
    with pytest.raises(ValueError, match=named):
        payload(**{"tokens": ["a", "b", "c"], "ids": range(3), **changes})


def answer(expression, tmp_path, data):
    """The value of a JavaScript expression about `view`, which holds a payload."""
    (tmp_path / "data").write_bytes(data)
    names = ("common.js", "saving.js", "chips.js", "arcs.js")
    scripts = "\n".join((CANVAS / name).read_text("utf-8") for name in names)
    head = 'import {readFileSync} from "node:fs";\n'
    view = 'const {meta, arrays} = unpack(new Uint8Array(readFileSync("data")));\n'
    view += "const view = {meta, weights: arrays.weights.data};\n"
    said = f"console.log(JSON.stringify({expression}))"
    (tmp_path / "script.mjs").write_text(head + scripts + "\n" + view + said, "utf-8")
    done = subprocess.run([NODE, "script.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


needs_node = pytest.mark.skipif(NODE is None, reason="needs Node to run JavaScript")


def shown(tmp_path, token, **changes):
    """The row that is shown for a token: a float32, or why there is none."""
    rows = f"rowOf(view, {token}).map(([value, why]) => why || value)"
    return answer(rows, tmp_path, payload(**changes))


@needs_node
def test_rows_and_columns_in_the_browser(tmp_path):
    assert shown(tmp_path, 2) == MAP[2].tolist()
    assert shown(tmp_path, 1) == [*MAP[1, :2].tolist(), "later"]
    assert shown(tmp_path, 1, back=False) == ["later", *MAP[1:, 1].tolist()]
    assert shown(tmp_path, 2, window=2) == ["outside", *MAP[2, 1:].tolist()]
    assert shown(tmp_path, 2, first=False) == ["left", pytest.approx(0.25), pytest.approx(0.75)]
    assert shown(tmp_path, 0, first=False) == ["left", "later", "later"]


@needs_node
def test_what_was_not_sent_is_no_number(tmp_path):
    n = MOST_WHOLE + 2
    weights = np.tril(np.full((n, n), 0.25, np.float32))
    assert shown(tmp_path, 3, weights=weights, selected=3)[:5] == [0.25] * 4 + ["later"]
    assert shown(tmp_path, 4, weights=weights, selected=3)[:2] == [None, None]
    forward = shown(tmp_path, 3, weights=weights, selected=3, back=False)
    assert forward == ["later"] * 3 + [0.25] * (n - 3)


@needs_node
def test_a_pair_is_named_with_the_float32_itself(tmp_path):
    said = "[[2, 1], [1, 2], [0, 0]].map(([token, other]) => pairWords(view, token, other))"
    assert answer(said, tmp_path, payload()) == ["c2 b1 0.1", "c2 later", "a0 a0 1"]
    assert answer(said, tmp_path, payload(back=False)) == ["c2 later", "c2 b1 0.1", "a0 a0 1"]


@needs_node
def test_the_largest_of_a_row_skips_what_is_not_shown(tmp_path):
    largest = "[0, 1, 2].map((token) => largestOf(rowOf(view, token)))"
    assert answer(largest, tmp_path, payload()) == [0, 0, 0]
    assert answer(largest, tmp_path, payload(first=False)) == [-1, 1, 2]


@needs_node
def test_a_longer_arc_is_wider_and_none_leaves_its_room(tmp_path):
    ask = "[1, 2, 9, 500].map((to) => arcOf({wide: 100, high: 20}, 0, to))"
    drawn = answer(ask, tmp_path, payload())
    handles = [float(re.search("C([^,]+),", arc)[1]) for arc in drawn]
    # a cubic curve goes three quarters of the way to its handles
    reach = [100 - 0.75 * (100 - handle) for handle in handles]
    assert reach == sorted(reach, reverse=True) and 0 < reach[-1] < reach[0] < 100
