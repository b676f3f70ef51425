"""What an atlas payload carries, and how large maps are reduced."""

import numpy as np
import pytest

from viz.atlas import LABELS, MOST_CELLS, atlas
from viz.payload import unpack

WORDS = dict.fromkeys(LABELS, "{layer} {head}")


def made(maps, framed=None, **changes):
    return unpack(atlas(np.asarray(maps, np.float32), framed=framed, labels=WORDS, **changes))


def test_codes_by_hand():
    meta, arrays = made([[[[0.0, 1.0], [0.5, 0.002]]]], framed=(0, 0))
    assert arrays["codes"].tolist() == [[[[0, 255], [128, 1]]]]
    assert arrays["codes"].dtype == np.uint8
    assert (meta["queries"], meta["keys"], meta["block"]) == (2, 2, 1)
    assert meta["framed"] == [0, 0]


def test_the_limit_is_full_colour():
    codes = made([[[[0.25, 0.1]]]], limit=0.25)[1]["codes"]
    assert codes.tolist() == [[[[255, 102]]]]


def test_a_rounding_step_above_one_is_not_an_error():
    assert made([[[[np.nextafter(np.float32(1), np.float32(2))]]]])[1]["codes"].item() == 255


def test_large_maps_keep_the_largest_of_each_block():
    maps = np.zeros((30, 9, 100, 100), np.float32)
    maps[29, 8, 99, 98] = 1.0
    maps[3, 4, 0, 1] = 0.2
    maps[3, 4, 1, 0] = 0.4
    meta, arrays = made(maps)
    codes = arrays["codes"]
    assert meta["block"] == 2 and meta["queries"] == 100
    assert codes.shape == (30, 9, 50, 50) and codes.size <= MOST_CELLS
    assert codes[29, 8, 49, 49] == 255 and codes[3, 4, 0, 0] == 102
    assert np.count_nonzero(codes) == 2


def test_a_last_block_that_is_not_full():
    maps = np.zeros((1, 1, 1500, 1501), np.float32)
    maps[0, 0, 1499, 1500] = 1.0
    codes = made(maps)[1]["codes"]
    assert codes.shape == (1, 1, 750, 751)
    assert np.argwhere(codes).tolist() == [[0, 0, 749, 750]]


@pytest.mark.parametrize(
    "maps, changes, said",
    [
        (np.zeros((2, 2, 2)), {}, "shape"),
        (np.zeros((1, 1, 0, 0)), {}, "shape"),
        (np.zeros((1, 1, 3, 2)), {}, "3 queries"),
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
