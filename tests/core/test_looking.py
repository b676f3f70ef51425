"""Rows and columns of one head's map: a small one by hand, and those of every family beside other
ways to the same numbers.
"""

import numpy as np
import pytest

from core.analyse import attending, distance
from core.analyse.looking import Looking, looking, speeds
from tests.core.conftest import EACH_FAMILY

MAP = np.float32(
    [
        [1, 0, 0, 0],
        [0.75, 0.25, 0, 0],
        [0.5, 0.125, 0.375, 0],
        [0.25, 0.5, 0.125, 0.125],
    ]
)
NARROW = np.float32([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0.25, 0.75, 0], [0, 0, 0.25, 0.75]])


def test_a_row_looks_back_and_a_column_forward():
    found = Looking(MAP, None)
    assert list(found.others(2, True)) == [0, 1, 2] and list(found.others(2, False)) == [2, 3]
    assert found.given(2, True).tolist() == [0.5, 0.125, 0.375]
    assert found.given(1, False).tolist() == [0.25, 0.125, 0.5]
    assert found.given(3, True).sum() == 1 and found.given(1, False).sum() == 0.875
    assert found.received.tolist() == [2.5, 0.875, 0.5, 0.125]


def test_sums_and_order_of_a_row_and_a_column():
    found = Looking(MAP, None)
    assert found.order(3, True) == [1, 0, 2, 3] and found.order(1, False) == [3, 1, 2]
    assert found.total(3, True) == 1 and found.total(1, False) == 0.875
    assert found.total(1, False, [2, 3]) == 0.625 and found.total(3, True, []) == 0
    assert found.most_received == (0, 2.5) and found.n_less == 3
    equal = Looking(np.float32([[1, 0], [0, 1]]), None)
    assert equal.most_received == (0, 1.0) and equal.n_less == 0


def test_a_window_hides_what_lies_outside():
    found = Looking(NARROW, 2)
    assert list(found.others(3, True)) == [2, 3] and list(found.others(0, False)) == [0, 1]
    assert found.given(3, True).tolist() == [0.25, 0.75]
    assert found.given(1, False).tolist() == [0.5, 0.25]
    assert found.order(3, True) == [3, 2] and found.total(3, True, [2]) == 0.25
    assert found.strongest(3, True) == 3 and found.strongest(2, False) == 3


def test_the_strongest_other_is_neither_the_first_nor_the_one_that_is_looked_at():
    found = Looking(MAP, None)
    assert [found.strongest(i, True) for i in range(4)] == [0, 1, 2, 1]
    assert [found.strongest(i, False) for i in range(4)] == [1, 3, 3, 3]
    alone = Looking(np.float32([[1]]), None)
    assert alone.strongest(0, True) == alone.strongest(0, False) == 0


def test_without_the_first_token_the_others_share_what_it_left():
    expected = [[0, 0, 0, 0], [0, 1, 0, 0], [0, 0.25, 0.75, 0], [0, 4 / 6, 1 / 6, 1 / 6]]
    assert Looking(MAP, None).without_first.tolist() == np.float32(expected).tolist()


def test_arcs_are_the_largest_weights_between_two_tokens():
    found = Looking(MAP, None)
    arcs, n = found.arcs(3, 0.2)
    assert n == 4 and arcs.tolist() == [[1, 0], [2, 0], [3, 1]] and arcs.dtype == np.int32
    assert found.arcs(9, 0.125)[1] == 6
    arcs, n = found.arcs(9, 0.2, first=False)
    assert n == 2 and arcs.tolist() == [[3, 1], [2, 1]]
    arcs, n = Looking(np.float32([[1]]), None).arcs(9, 0.1)
    assert n == 0 and arcs.shape == (0, 2)


@EACH_FAMILY
def test_every_family(case, trace_of):
    """Sums over the map, and rows without the first token as the softmax of a row has them."""
    trace = trace_of(case)
    n, head = len(trace.ids), 3
    for layer in range(trace.config.n_layers):
        found = looking(trace, layer, head)
        assert not found.weights.flags.writeable
        assert found.received.sum() == pytest.approx(n, rel=1e-6)
        rest = found.without_first
        for position in (0, 1, 9, n - 1):
            back, forward = (list(found.others(position, way)) for way in (True, False))
            masked = attending.masked(trace, layer, head, position)
            assert back == [*range(masked.first, masked.stop)]
            assert found.given(position, True).sum(dtype=float) == pytest.approx(1, rel=1e-6)
            assert all(position in found.others(query, True) for query in forward)
            column = [found.weights[query, position] for query in forward]
            assert found.given(position, False).tolist() == column
            row = np.nan_to_num(attending.softmax(trace, layer, head, position).without_first[0])
            np.testing.assert_allclose(rest[position], row, atol=1e-5)


@EACH_FAMILY
def test_the_speeds_add_up_to_the_dot_product(case, trace_of):
    """And each half holds the waves of its pairs, which are found from the vectors before the
    rotation.
    """
    trace, query, key, head = trace_of(case), 60, 21, 2
    turning = 0
    for layer, rope in enumerate(trace.config.ropes):
        found = speeds(trace, layer, head, query, key)
        if rope is None or rope.dim < 4:
            assert found is None
            continue
        turning += 1
        total = attending.products(trace, layer, head, query, key).total
        assert found.fast + found.slow + found.still == pytest.approx(total, rel=1e-5, abs=1e-5)
        met = distance.meeting(trace, layer, head, query, key)
        waves, scale = met.waves, met.scale
        each = waves.terms(query - key) / scale
        fast = 2 * np.pi / waves.frequency <= found.longest * (1 + 1e-9)
        assert fast.sum() == found.n_fast and (~fast).sum() == found.n_slow
        assert found.fast == pytest.approx(each[fast].sum(), rel=1e-3, abs=1e-4)
        assert found.still == pytest.approx(waves.constant / scale, rel=1e-3, abs=1e-4)
        n_still = trace.config.head_dim - rope.dim
        assert found.n_still == n_still and (n_still or found.still == 0)
    assert turning or case == "gpt2"
