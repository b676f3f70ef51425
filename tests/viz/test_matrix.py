"""What a matrix payload carries, and what it refuses."""

import numpy as np
import pytest

from viz.matrix import LABELS, MOST_CELLS, matrix
from viz.payload import unpack
from viz.theme import lut

WORDS = dict.fromkeys(LABELS, "{row} {column} {value}")


def made(values, **changes):
    values = np.asarray(values, np.float32)
    options = dict(
        rows=["r"] * values.shape[0],
        row_title="query",
        column_title="key",
        palette="signed",
        labels=WORDS,
    )
    return unpack(matrix(values, **(options | changes)))


def test_values_travel_as_they_are():
    values = np.array([[0.1, -np.inf], [np.nan, 3e-42]], np.float32)
    meta, arrays = made(values, palette="amount", limit=1, selected=(np.int64(1), 0))
    assert arrays["values"].tobytes() == values.tobytes()
    assert meta["selected"] == [1, 0] and meta["limit"] == 1 and meta["low"] is None
    assert (arrays["lut_dark"] == lut("amount", dark=True)).all()


def test_repeated_names_stay_apart():
    names = ["the", "␣the", "␣the"]
    meta, arrays = made(np.eye(3), rows=names, columns=names)
    assert meta["rows"] == meta["columns"] == names
    assert arrays["values"].shape == (3, 3)


def test_the_default_limit_is_the_largest_magnitude_that_is_not_masked():
    assert made([[-4.5, 2.0], [-np.inf, np.nan]])[0]["limit"] == 4.5
    assert made(np.zeros((1, 2)))[0]["limit"] == 1
    assert made([[-np.inf]])[0]["limit"] == 1


def test_a_window_masks_what_is_too_old_as_well():
    values = made(np.ones((4, 4)), causal=True, window=2)[1]["values"]
    assert np.isfinite(values).tolist() == [
        [True, False, False, False],
        [True, True, False, False],
        [False, True, True, False],
        [False, False, True, True],
    ]
    last_two_queries = made(np.ones((2, 4)), causal=True, window=2)[1]["values"]
    np.testing.assert_array_equal(last_two_queries, values[2:])


def test_causal_masks_the_future_and_nothing_else():
    square = made(np.ones((3, 3)), causal=True)[1]["values"]
    assert np.isnan(square).tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
    last_two_queries = made(np.zeros((2, 3)), causal=True)[1]["values"]
    assert np.isnan(last_two_queries).tolist() == [[0, 0, 1], [0, 0, 0]]
    assert square.dtype == np.float32


def test_the_layout_travels_and_has_quiet_defaults():
    asked = dict(first_row=3, first_column=np.int64(8), column_step=4)
    asked |= dict(lens=False, saves=False, exact=False, square=False)
    asked |= dict(height=np.float32(120), indent=90)
    meta, _ = made(np.eye(2), **asked)
    assert {name: meta[name] for name in asked} == asked
    quiet = dict(first_row=0, first_column=0, column_step=1, lens=True, saves=True, exact=True)
    quiet |= dict(height=None, indent=None, square=True)
    meta, _ = made(np.eye(2))
    assert {name: meta[name] for name in asked} == quiet


@pytest.mark.parametrize(
    "values, changes, said",
    [
        (np.zeros(3), {"rows": ["r"] * 3}, "shape"),
        (np.zeros((0, 2)), {}, "not empty"),
        (np.zeros((2, MOST_CELLS // 2 + 1)), {}, str(MOST_CELLS)),
        (np.zeros((2, 2)), {"rows": ["a"]}, "1 names"),
        (np.zeros((2, 2)), {"columns": ["a"] * 3}, "3 names"),
        (np.zeros((2, 2)), {"selected": [0, 2]}, "outside"),
        (np.zeros((2, 2)), {"selected": [-1, 0]}, "outside"),
        (np.zeros((2, 2)), {"marks": [(2, 0, 3, 2)]}, "outside"),
        (np.zeros((2, 2)), {"marks": [(0, 0, 2, 3)]}, "outside"),
        (np.zeros((2, 2)), {"limit": -1.0}, "limit"),
        (np.zeros((2, 2)), {"limit": np.nan}, "limit"),
        (np.array([[np.inf]]), {"limit": np.inf}, "limit"),
        (np.ones((2, 2)), {"palette": "amount", "low": 0.0}, "low"),
        (np.ones((2, 2)), {"palette": "amount", "low": 1.0}, "low"),
        (np.ones((2, 2)), {"palette": "signed", "low": 0.5}, "low"),
        (np.zeros((2, 2)), {"column_step": 0}, "column_step"),
        (np.zeros((2, 2)), {"first_column": -1}, "first_column"),
        (np.zeros((2, 2)), {"height": 0}, "height"),
        (np.zeros((2, 2)), {"indent": np.nan}, "indent"),
        (np.zeros((2, 2)), {"palette": "rainbow"}, "rainbow"),
        (np.zeros((2, 2)), {"labels": {"masked": ""}}, "tooltip"),
    ],
)
def test_refusals_say_what_is_wrong(values, changes, said):
    with pytest.raises(ValueError, match=said):
        made(values, **changes)


# ---- scales of each row, and half of a map -------------------------------------------------------


def test_a_packed_map_holds_the_cells_up_to_the_diagonal_and_no_other():
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    meta, arrays = made(values, causal=True, packed=True, first_row=1)
    assert meta["packed"] == [3, 4]
    np.testing.assert_array_equal(arrays["values"], [0, 1, 4, 5, 6, 8, 9, 10, 11])
    assert made(values)[0]["packed"] is None
    with pytest.raises(ValueError, match="above the diagonal"):
        made(values, packed=True)


def test_rows_with_scales_of_their_own_send_one_limit_each():
    meta, arrays = made(np.eye(2), palette="amount", row_limits=[0.5, 0], left_out=1)
    assert arrays["row_limits"].tolist() == [0.5, 0] and meta["left_out"] == 1
    assert made(np.eye(2))[1].keys() == {"values", "lut_light", "lut_dark"}
    wrong = [("signed", [1, 1]), ("amount", [1]), ("amount", [-1, 1]), ("amount", [np.nan, 1])]
    for palette, limits in wrong:
        with pytest.raises(ValueError, match="row_limits"):
            made(np.eye(2), palette=palette, row_limits=limits)
