"""The bytes that go to the browser, worked by hand."""

import struct

import numpy as np
import pytest

from viz.payload import pack, unpack


def test_layout_by_hand():
    payload = pack({"a": 1}, x=np.array([1.0, -2.0], np.float32))
    (length,) = struct.unpack("<I", payload[:4])
    header = payload[4 : 4 + length]
    entry = b'{"x": {"dtype": "float32", "shape": [2], "offset": 0}}'
    assert header.rstrip(b" ") == b'{"meta": {"a": 1}, "arrays": ' + entry + b"}"
    assert payload[4 + length :] == struct.pack("<2f", 1.0, -2.0)


@pytest.mark.parametrize("word", ["", "a", "ab", "abc", "␣مرحبا ↵ 🙂"])
def test_every_array_starts_on_a_multiple_of_four(word):
    odd = np.arange(5, dtype=np.uint8)
    values = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
    payload = pack({"word": word}, odd=odd, values=values)
    (length,) = struct.unpack("<I", payload[:4])
    assert length % 4 == 0
    assert payload[4 + length + 8 :] == values.astype("<i4").tobytes()


def test_unpack_is_the_inverse():
    meta = {"rows": ["<b>", "␣the", "␣the"], "limit": 0.1, "none": None}
    arrays = {
        "codes": np.arange(7, dtype=np.uint8),
        "values": np.array([[0.1, np.nan], [-np.inf, 1e-40]], np.float32),
    }
    found, back = unpack(pack(meta, **arrays))
    assert found == meta
    assert list(back) == ["codes", "values"]
    for name, array in arrays.items():
        assert back[name].tobytes() == array.tobytes() and back[name].shape == array.shape


def test_a_transposed_array_keeps_its_reading_order():
    values = np.arange(6, dtype=np.float32).reshape(2, 3).T
    assert unpack(pack({}, values=values))[1]["values"].tolist() == [[0, 3], [1, 4], [2, 5]]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_no_nan_in_the_words(bad):
    with pytest.raises(ValueError):
        pack({"limit": bad})


def test_a_type_the_browser_lacks_is_refused():
    with pytest.raises(TypeError, match="'x' is float64"):
        pack({}, x=np.zeros(2))
