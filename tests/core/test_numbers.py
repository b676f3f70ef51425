"""Stored numbers become float32: every type of safetensors and of GGUF, by hand and by library."""

import json

import gguf as library
import numpy as np
import pytest
from safetensors.numpy import save_file

from core.files import config, folder, gguf, numbers, weights
from tests import families as files
from tests.family_arrays import hf_arrays

K = library.GGMLQuantizationType
KINDS = [K.F32, K.F16, K.BF16, K.Q4_0, K.Q4_1, K.Q5_0, K.Q5_1, K.Q8_0, K.Q2_K, K.Q3_K, K.Q4_K]
KINDS += [K.Q5_K, K.Q6_K, K.TQ1_0, K.TQ2_0, K.MXFP4, K.NVFP4, K.IQ2_XXS, K.IQ2_XS, K.IQ2_S]
KINDS += [K.IQ3_XXS, K.IQ3_S, K.IQ1_S, K.IQ1_M, K.IQ4_NL, K.IQ4_XS]


@pytest.mark.parametrize("kind", ["F64", "F32", "F16", "BF16", "F8_E5M2", "F8_E4M3"])
def test_every_number_type(tmp_path, kind):
    """Numbers that all types hold exactly come back the same."""
    arrays = hf_arrays("llama", files.config("llama"))
    exact = {k: np.sign(v) * np.exp2(np.floor(np.log2(np.abs(v) + 0.1))) for k, v in arrays.items()}
    path = tmp_path / "m"
    files.build_folder(path, "llama")
    save_file({k: v.astype(np.float32) for k, v in exact.items()}, path / "model.safetensors")
    table, data = {}, b""
    for name, array in exact.items():
        raw = encoded(array, kind)
        table[name] = {
            "dtype": kind,
            "shape": array.shape,
            "data_offsets": [len(data), len(data + raw)],
        }
        data += raw
    expected = load(path)  # all in float32
    text = json.dumps(table).encode()
    (path / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data)
    assert {t.dtype for t in folder.read(path).tensors.values()} == {kind}
    for ours, theirs in zip(load(path).arrays(), expected.arrays(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def load(path):
    opened = folder.read(path)
    return weights.load(opened, config.from_folder(opened))


def encoded(array, kind):
    """Powers of two in each type, by hand."""
    bits = array.astype("<f4").view("<u4")
    if kind == "BF16":
        return (bits >> 16).astype("<u2").tobytes()
    if kind == "F8_E5M2":
        return (array.astype("<f2").view("<u2") >> 8).astype(np.uint8).tobytes()
    if kind == "F8_E4M3":  # the exponent goes from a bias of 127 to one of 7
        return ((bits >> 31 << 7) | (((bits >> 23) & 255) - 120 << 3)).astype(np.uint8).tobytes()
    return array.astype({"F64": "<f8", "F32": "<f4", "F16": "<f2"}[kind]).tobytes()


def test_eight_bit_floats_by_hand():
    codes = np.array([0x00, 0x01, 0x07, 0x08, 0x38, 0x3C, 0x7E, 0xB8, 0xFE], np.uint8)
    values = [0, 2**-9, 7 * 2**-9, 2**-6, 1, 1.5, 448, -1, -448]
    assert numbers.from_floats(codes, "F8_E4M3").tolist() == values
    assert np.isnan(numbers.from_floats(np.array([0x7F, 0xFF], np.uint8), "F8_E4M3")).all()
    codes = np.array([0x01, 0x04, 0x3C, 0x3D, 0x7B, 0x7C, 0xC0], np.uint8)
    values = [2**-16, 2**-14, 1, 1.25, 57_344, np.inf, -2]
    assert numbers.from_floats(codes, "F8_E5M2").tolist() == values


@pytest.mark.parametrize("kind", ["Q4_0", "Q5_1", "Q8_0", "F16", "BF16"])
def test_numbers_do_not_depend_on_how_many_are_read_at_a_time(monkeypatch, kind):
    kind = library.GGMLQuantizationType[kind]
    array = np.random.default_rng(3).standard_normal((7, 96)).astype(np.float32)
    stored = library.quants.quantize(array, kind).view(np.uint8)
    whole = library.quants.dequantize(stored, kind)
    for part in (1, 64, 100, 1 << 16):
        monkeypatch.setattr(numbers, "PART", part)
        ours = numbers.from_blocks(stored.reshape(-1), kind)
        np.testing.assert_array_equal(ours.reshape(7, 96), whole)


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_that_the_library_takes_apart_is_read(tmp_path, kind):
    per_block, nbytes = library.GGML_QUANT_SIZES[kind]
    raw = np.frombuffer(np.random.default_rng(4).bytes(3 * nbytes), np.uint8)
    path = tmp_path / "m.gguf"
    writer = library.GGUFWriter(str(path), "llama")
    writer.add_tensor("t", raw.reshape(3, nbytes), raw_dtype=kind)
    for write in ("header_to_file", "kv_data_to_file", "tensors_to_file"):
        getattr(writer, f"write_{write}")()
    writer.close()
    file = gguf.read(path)
    assert file.tensors["t"].shape == (3, per_block)
    with np.errstate(all="ignore"):
        theirs = library.quants.dequantize(raw.reshape(3, nbytes), kind).reshape(-1)
    np.testing.assert_array_equal(file.numbers(file.tensors["t"]), theirs)
