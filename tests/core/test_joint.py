"""Matrices kept as one: without a copy where they lie together, right where they do not."""

from dataclasses import replace

import numpy as np
import pytest

from core.files import joint
from core.files.weights import LayerWeights

SHAPES = {"attn_q": (8, 4), "attn_k": (4, 4), "attn_v": (4, 4), "attn_out": (4, 8)}
SHAPES |= {"mlp_up": (6, 4), "mlp_out": (4, 6), "attn_norm": (4,)}


def layer(**changed):
    """The weights of a block, numbered through."""
    (arrays,) = joint.rooms(SHAPES, 1)
    for n, array in enumerate(arrays.values()):
        array[...] = 100 * n + np.arange(array.size).reshape(array.shape)
    return LayerWeights(**arrays | changed)


def test_neighbours_share_their_memory():
    block = layer()
    whole, parts = block.attn_qkv, (block.attn_q, block.attn_k, block.attn_v)
    assert all(np.shares_memory(whole, part) for part in parts)
    assert not np.shares_memory(whole, block.attn_out) and whole.shape == (16, 4)
    assert block.attn_qkv[8].tolist() == block.attn_k[0].tolist() == [100, 101, 102, 103]
    assert not block.attn_qkv.flags.writeable


def test_all_blocks_lie_in_one_stretch_and_none_in_another():
    blocks = joint.rooms(SHAPES, 3)
    for n, array in enumerate(array for block in blocks for array in block.values()):
        array[...] = n
    starts = [block["attn_q"].__array_interface__["data"][0] for block in blocks]
    assert starts[2] - starts[1] == starts[1] - starts[0] == 4 * (64 + 32 + 24 + 24 + 4)
    found = [np.unique(array).tolist() for block in blocks for array in block.values()]
    assert found == [[n] for n in range(3 * len(SHAPES))]
    assert all(array.flags.aligned for block in blocks for array in block.values())


def test_what_a_family_does_not_have_is_not_joined():
    block = layer()
    assert block.mlp_gate is None and block.mlp_gate_up is None and block.attn_qkv_bias is None


def test_a_block_with_another_matrix_is_joined_anew():
    block, other = layer(), np.zeros((4, 4), np.float32)
    changed = replace(block, attn_k=other)
    assert not changed.attn_qkv[8:12].any() and changed.attn_qkv[12:].any()
    assert block.attn_qkv[8:12].all()


@pytest.mark.parametrize("order", [(1, 0), (0, 0), (0,)])
def test_parts_of_one_array_in_another_order_are_copied(order):
    whole = np.asfortranarray(np.arange(24, dtype=np.float32).reshape(6, 4))
    halves = whole[:3], whole[3:]
    made = joint.joined([halves[n] for n in order])
    assert made is not whole
    np.testing.assert_array_equal(made, np.concatenate([halves[n] for n in order]))


def test_the_longer_axis_lies_in_one_piece():
    assert joint.empty((8, 4)).strides == (4, 32) and joint.empty((4, 8)).strides == (32, 4)
    assert joint.empty((8,)).strides == (4,)
