"""A matrix whose rows have scales of their own, and half of a map, as the browser reads them; run
by Node.
"""

import json

import numpy as np

from tests.viz.test_canvas_scripts import MATRIX, answer, pytestmark  # noqa: F401
from viz.matrix import LABELS, matrix

# what `read` of the component makes of a payload: the export is its only use of these functions
VIEW = """(() => {
  const {meta, arrays} = unpack(bytes);
  const {values, shape} = whole(meta, arrays.values);
  return {meta, values, shape, shades: shadesOf(meta, values, arrays)};
})()"""
WEIGHTS = np.array([[1, 0, 0], [0.75, 0.25, 0], [0.5, 0.125, 0.375]], np.float32)
WORDS = dict.fromkeys(LABELS, "") | {
    "masked": "hidden",
    "share": "{share} of it",
    "left_out": "out",
}


def told(expression, tmp_path, **own):
    """An expression of `view`, which reads a payload of the weights."""
    names, options = ["a", "b", "c"], {"palette": "amount", "limit": 1, "causal": True} | own
    data = matrix(
        WEIGHTS, rows=names, columns=names, row_title="", column_title="", labels=WORDS, **options
    )
    return answer(f"((view) => {expression})({VIEW})", tmp_path, *MATRIX, data=data)


def test_a_packed_map_is_put_together_again(tmp_path):
    shape, values = told("[view.shape, [...view.values].map(String)]", tmp_path, packed=True)
    assert shape == [3, 3]
    assert values == "1 NaN NaN 0.75 0.25 NaN 0.5 0.125 0.375".split()


def test_colours_follow_the_limit_of_the_row_and_numbers_do_not(tmp_path):
    own = {"packed": True, "row_limits": [0, 0.25, 0.5], "left_out": 0}
    codes = told("[...view.values.keys()].map((i) => codeAt(view, i))", tmp_path, **own)
    assert codes == [-1, -1, -1, -1, 255, -1, -1, 64, 191]
    cells = json.dumps([[1, 0], [2, 2], [0, 1]])
    words = told(f"{cells}.map((cell) => cellWords(view, cell))", tmp_path, **own)
    assert [each["value"] for each in words] == ["0.75", "0.375", "hidden"]
    assert [each["share"] for each in words] == ["out", "0.75 of it", ""]


def test_a_pixel_of_several_cells_shows_the_strongest_colour(tmp_path):
    own = {"row_limits": [1, 0.25, 1], "left_out": 0}
    assert told("strongest(view, 0, 3, 0, 3)", tmp_path, **own) == 4  # 0.25 of 0.25
    assert told("strongest(view, 0, 3, 0, 3)", tmp_path) == 0


def test_words_at_the_ends_of_the_scale(tmp_path):
    view = '{meta: {palette: "amount", limit: 1, labels: {masked: "m", %s}}, masked: true}'
    found = answer(f"legendOf({view % ''})", tmp_path, *MATRIX)
    assert found == {"low": "0", "high": "1", "masked": "m"}
    own = 'low: "least", high: "most", hatched: ""'
    found = answer(f"legendOf({view % own})", tmp_path, *MATRIX)
    assert found == {"low": "least", "high": "most", "masked": ""}
