"""What an atlas payload carries, and how large maps are reduced."""

import numpy as np
import pytest

from viz.atlas import LABELS, MOST_CELLS, atlas
from viz.payload import unpack

WORDS = dict.fromkeys(LABELS, "{layer} {head}")


def made(maps, framed=None, **changes):
    return unpack(atlas(np.asarray(maps, np.float32), framed=framed, labels=WORDS, **changes))


def test_codes_by_hand():
    meta, arrays = made([[[[1.0, 0.0], [0.5, 0.002]]]], framed=(0, 0))
    assert arrays["codes"].tolist() == [[10000, 5000, 20]]
    assert arrays["codes"].dtype == np.uint16 and arrays["order"].tolist() == [[0, 0]]
    assert (meta["cells"], meta["block"], meta["shape"]) == (2, 1, [1, 1])
    assert meta["framed"] == [0, 0] and meta["grid"] and meta["first"]


def test_a_code_is_the_weight_to_four_decimals():
    """What the browser shows of a cell is its code: the last digit is that of the weight."""
    weights = np.random.default_rng(3).random(500, np.float32) ** 6
    codes = made(weights.reshape(500, 1, 1, 1))[1]["codes"].ravel()
    assert [f"{code / 10_000:.4f}" for code in codes] == [f"{weight:.4f}" for weight in weights]


def test_the_limit_is_full_colour():
    codes = made([[[[0.25, 0], [0.1, 0]]]], limit=0.25)[1]["codes"]
    assert codes.tolist() == [[10000, 4000, 0]]


def test_a_rounding_step_above_one_is_not_an_error():
    one = np.nextafter(np.float32(1), np.float32(2))
    assert made([[[[one]]]])[1]["codes"].item() == 10000
    assert made([[[[np.float32(1.0009)]]]])[1]["codes"].item() == 10000


def test_large_maps_keep_the_largest_of_each_block():
    maps = np.zeros((30, 9, 100, 100), np.float32)
    maps[29, 8, 99, 98] = 1.0
    maps[3, 4, 1, 0] = 0.2
    maps[3, 4, 1, 1] = 0.4
    meta, arrays = made(maps, windows=[None] * 29 + [5])
    codes = arrays["codes"]
    assert meta["block"] == 2 and meta["cells"] == 50 and codes.size <= MOST_CELLS
    assert codes.shape == (270, 50 * 51 // 2)
    assert codes[269, -1] == 10000 and codes[3 * 9 + 4, 0] == 4000
    assert np.count_nonzero(codes) == 2
    assert meta["windows"] == [None] * 29 + [3]


def test_a_last_block_that_is_not_full_and_one_that_was_a_block_before():
    maps = np.zeros((1, 1, 1501, 1501), np.float32)
    maps[0, 0, 1500, 1500] = 1.0
    meta, arrays = made(maps, block=3)
    assert meta["cells"] == 751 and meta["block"] == 6
    assert np.flatnonzero(arrays["codes"]).tolist() == [751 * 752 // 2 - 1]


def test_maps_in_an_order_of_their_own():
    maps = np.zeros((2, 3, 1, 1), np.float32)
    maps[..., 0, 0] = [[0, 0.2, 0.4], [0.6, 0.8, 1]]
    order = [(1, 2), (0, 1), (1, 0)]
    meta, arrays = made(maps, shown=order, names=("a", "b", "c"), scores=np.zeros((2, 3, 1)))
    assert arrays["order"].tolist() == [list(each) for each in order]
    assert (arrays["codes"][:, 0] / 10000).tolist() == [1, 0.2, 0.6]
    assert not meta["grid"] and meta["names"] == ["a", "b", "c"] and meta["shape"] == [2, 3]
    assert arrays["scores"].shape == (2, 3, 1)
    assert made(maps, shown=[])[1]["codes"].shape == (0, 1)


def test_the_first_key_is_left_out_only_where_it_has_a_column_of_its_own():
    maps = np.zeros((1, 1, 4, 4))
    assert made(maps, first=False)[0]["first"] is False
    assert made(maps, first=False, block=2)[0]["first"] is True


@pytest.mark.parametrize(
    "maps, changes, said",
    [
        (np.zeros((2, 2, 2)), {}, "shape"),
        (np.zeros((1, 1, 0, 0)), {}, "shape"),
        (np.zeros((1, 1, 3, 2)), {}, "3 queries and 2 keys"),
        (np.full((1, 1, 1, 1), -0.1), {}, "wanted 0..1"),
        (np.full((1, 1, 1, 1), 1.1), {}, "wanted 0..1"),
        (np.full((1, 1, 1, 1), np.nan), {}, "wanted 0..1"),
        (np.zeros((1, 1, 1, 1)), {"limit": 0}, "positive"),
        (np.zeros((2, 3, 1, 1)), {"framed": (2, 0)}, "outside"),
        (np.zeros((2, 3, 1, 1)), {"framed": (0, -1)}, "outside"),
    ],
)
def test_refusals_say_what_is_wrong(maps, changes, said):
    with pytest.raises(ValueError, match=said):
        made(maps, **changes)


def test_a_missing_label_is_named():
    with pytest.raises(ValueError, match="reduced"):
        atlas(np.zeros((1, 1, 1, 1)), framed=None, labels={})
