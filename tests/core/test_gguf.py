"""The GGUF reader on good files: metadata, tensor table, quantized numbers, order of the rows."""

import struct

import gguf as library
import numpy as np
import pytest

from core import open_model
from core.files import config as file_config
from core.files import gguf
from core.files.families import FAMILIES
from core.files.joint import JOINT
from core.files.loader import unpermute
from core.files.names import weights_in
from core.files.shapes import TOP, shapes
from core.model.config import Rope
from tests import tiny as tiny_file


@pytest.fixture(scope="module")
def file(tiny):
    return gguf.read(tiny.source.path)


def test_metadata_come_back_as_written(file):
    assert file.version == 3
    assert {"general.architecture": "llama"} | file.metadata == file.metadata
    for key, value in tiny_file.metadata().items():
        same = pytest.approx(value) if isinstance(value, float) else value
        assert file.metadata[key] == same, key


def test_the_library_reads_the_same_table(file):
    reader = library.GGUFReader(file.path)
    assert [t.name for t in reader.tensors] == list(file.tensors)
    for theirs in reader.tensors:
        ours = file.tensors[theirs.name]
        assert ours.offset == theirs.data_offset and ours.nbytes == theirs.n_bytes
        assert ours.shape == tuple(reversed(theirs.shape.tolist()))
    assert reader.data_offset == file.data_offset


def test_config(tiny):
    c, t = tiny.config, tiny_file
    assert (c.n_layers, c.width, c.neurons) == (t.LAYERS, t.WIDTH, t.NEURONS)
    assert (c.n_heads, c.n_kv_heads, c.head_dim, c.group) == (t.HEADS, t.KV_HEADS, t.HEAD_DIM, 2)
    assert c.vocab == len(t.vocabulary()) and c.context == t.CONTEXT
    # what the file keeps as float32 is again the decimal that was meant
    assert (c.ropes, c.norm_eps) == ((Rope(8, 10_000.0),) * 2, 1e-5)
    assert c.score_scale == pytest.approx(8**-0.5)


def test_config_of_the_real_model(smollm):
    c = smollm.config
    assert (c.n_layers, c.width, c.neurons, c.vocab, c.context) == (30, 576, 1536, 49_152, 8192)
    assert (c.n_heads, c.n_kv_heads, c.head_dim) == (9, 3, 64)
    assert (set(c.ropes), c.norm_eps) == ({Rope(64, 1e5)}, 1e-5)
    assert smollm.weights.n_parameters == 134_515_008
    assert smollm.weights.nbytes == 4 * 134_515_008 and smollm.weights.tied


def test_tensors_of_the_real_file(smollm):
    real = gguf.read(smollm.source.path)
    kinds = [t.type.name for t in real.tensors.values()]
    assert {kind: kinds.count(kind) for kind in kinds} == {"Q8_0": 1, "F32": 61, "Q4_1": 210}
    assert real.data_offset == 1_785_664
    assert max(t.offset + t.nbytes for t in real.tensors.values()) == 98_362_432


def test_keys_that_may_be_missing_have_the_formats_defaults(tmp_path):
    changed = {"llama.attention.head_count_kv": None, "llama.rope.freq_base": None}
    path = tiny_file.build(tmp_path / "m.gguf", changed)
    config = file_config.from_gguf(gguf.read(path))
    assert (config.n_kv_heads, config.ropes[0].theta) == (4, 10_000.0)


def test_weights_are_those_of_the_file_in_the_models_own_order(tiny):
    for name, array in tiny_file.arrays().items():
        ((ours, layer),) = weights_in(name, FAMILIES["llama"])
        np.testing.assert_array_equal(tiny.weights.get(ours, layer), array)


def test_unpermute_by_hand():
    # one head of four numbers: the file has 0, 2, 1, 3 (half-split pairs 0-2 and 1-3 as neighbours)
    stored = np.float32([[0], [2], [1], [3], [10], [12], [11], [13]])
    assert unpermute(stored, 2)[:, 0].tolist() == [0, 1, 2, 3, 10, 11, 12, 13]


def test_weights_are_frozen_float32_of_the_stated_shapes(smollm):
    wanted = shapes(smollm.config)
    for name, shape in wanted.items():
        weight = smollm.weights.get(name, None if name in TOP else 7)
        assert weight.shape == shape and weight.dtype == np.float32
        assert not weight.flags.writeable
        assert weight.base is None or not weight.base.flags.writeable
        group = next((group for group, names in JOINT.items() if name in names), None)
        whole = getattr(smollm.weights.layers[7], group) if group else weight
        longer = int(whole.shape[0] < whole.shape[-1])  # numbers along the longer axis: neighbours
        assert whole.strides[longer if whole.ndim > 1 else 0] == 4


def test_four_bit_numbers_by_hand(smollm):
    # a block of Q4_1 is two halves (d, m) and 16 bytes: byte j has number j below, j + 16 above
    real = gguf.read(smollm.source.path)
    tensor = real.tensor("blk.3.ffn_gate.weight")
    raw = bytes(real.data[tensor.offset : tensor.offset + 20])
    d, m = struct.unpack("<ee", raw[:4])
    by_hand = [d * (b & 15) + m for b in raw[4:]] + [d * (b >> 4) + m for b in raw[4:]]
    np.testing.assert_array_equal(smollm.weights.layers[3].mlp_gate[0, :32], np.float32(by_hand))


def test_eight_bit_numbers_by_hand(smollm):
    real = gguf.read(smollm.source.path)
    tensor = real.tensor("token_embd.weight")
    raw = bytes(real.data[tensor.offset : tensor.offset + 34])
    by_hand = struct.unpack("<e", raw[:2])[0] * np.frombuffer(raw[2:], np.int8)
    np.testing.assert_array_equal(smollm.weights.embed[0, :32], by_hand.astype(np.float32))


def test_an_explicit_output_matrix_is_used(tmp_path, tiny):
    arrays = tiny_file.arrays()
    arrays["output.weight"] = arrays["token_embd.weight"] * 2
    untied = open_model(tiny_file.build(tmp_path / "untied.gguf", tensors=arrays))
    assert not untied.weights.tied and tiny.weights.tied
    np.testing.assert_array_equal(untied.weights.head, 2 * untied.weights.embed)
    assert untied.weights.n_parameters == tiny.weights.n_parameters + 299 * 32
