"""What the payload of the logit lens carries, and the table that the browser makes of it."""

import math

import numpy as np
import pytest

from tests.viz.test_canvas_scripts import NODE, answer
from viz.lens import LABELS, lens
from viz.payload import unpack

WORDS = dict.fromkeys(LABELS, "{row} {position} {token} {first_prob} {answer} {answer_prob} {rank}")
VALUES = {
    "answer": [[0.0, 1.0], [0.5, 0.25]],
    "target": [[0.2, 0.0], [0.0, 1.0]],
    "first": [[1.0, 1.0], [0.5, 0.25]],
    "ranks": [[1, 100], [10, 1]],
    "entropy": [[0.0, math.log(100)], [math.log(100) / 2, 0.0]],
    "divergence": [[20.0, math.log(100)], [0.0, math.log(100) / 2]],
}


def payload(by="answer", **changes):
    options = {
        "texts": [["␣a", '"b'], ["=1", "d"]],
        "decided": [[False, True], [True, True]],
        "by": by,
        "vocab": 100,
        "rows": ["input", "0"],
        "columns": ["␣x", "y"],
        "row_title": "after",
        "column_title": "token",
        "first_column": 5,
        "selected": [1, 0],
        "labels": WORDS,
    }
    options |= VALUES | changes
    return lens(options.pop("texts"), **options)


@pytest.mark.parametrize(
    "by, codes, ends",
    [
        ("answer", [[0, 255], [128, 64]], ("0", "1")),
        ("target", [[51, 0], [0, 255]], ("0", "1")),
        ("first", [[255, 255], [128, 64]], ("0", "1")),
        ("rank", [[255, 0], [128, 255]], ("#100", "#1")),
        ("entropy", [[0, 255], [128, 0]], ("0", "4.6")),
        ("divergence", [[255, 255], [0, 128]], ("0", "≥ 4.6")),
    ],
)
def test_colours_by_hand(by, codes, ends):
    meta, arrays = unpack(payload(by))
    assert arrays["codes"].tolist() == codes
    assert (meta["low"], meta["high"]) == ends
    assert arrays["decided"].tolist() == [[0, 1], [1, 1]]
    assert arrays["rank"].tolist() == VALUES["ranks"]


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"by": "x"}, "by is"),
        ({"texts": [["a"], ["b"]]}, "texts"),
        ({"answer": [[0.5, 0.5]]}, "answer has shape"),
        ({"selected": [2, 0]}, "outside"),
        ({"labels": {}}, "labels lack"),
    ],
)
def test_what_does_not_fit_is_refused(changes, named):
    with pytest.raises(ValueError, match=named):
        payload(**changes)


@pytest.mark.skipif(NODE is None, reason="needs Node to run JavaScript")
def test_the_saved_table_holds_every_cell_and_nothing_that_runs(tmp_path):
    scripts = ("common.js", "figure.js", "saving.js")
    source = "({shape: unpack(bytes).arrays.codes.shape, meta: unpack(bytes).meta, "
    source += "...unpack(bytes).arrays})"
    body = (f"lensLines({source})", f"lensWords({source}, [0, 1])")
    lines, words = answer(f"[{', '.join(body)}]", tmp_path, *scripts, "lens.js", data=payload())
    assert lines[0].split(",")[:4] == ["after", "position", "token", "first"]
    assert lines[0].split(",")[4:8] == [
        *("answer_probability", "target_probability", "first_probability", "target_rank"),
    ]
    assert lines[1].startswith('"input",5,"␣x","␣a",0,0.2') and lines[1].endswith(",1,1,0,20")
    assert lines[2].startswith('"input",6,"y","""b",1,0,1,100,4.605170')
    assert lines[3].startswith('"0",5,"␣x","\'=1",0.5,0,0.5,10,')
    assert len(lines) == 5 and np.isclose(float(lines[3].split(",")[-1]), 0)
    assert (words["first_prob"], words["answer_prob"], words["answer"]) == ("100%", "100%", "d")
    assert (words["rank"], words["position"]) == ("100", 6)
