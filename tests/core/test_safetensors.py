"""The safetensors reader: hand-made files, the library as a witness, and damage of every kind."""

import json

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import load, save

from core import ModelFileError
from core.files import gguf, safetensors


def header(table, data=b"", length=None) -> bytes:
    """A whole small file; the table as JSON text or as a value."""
    text = table if isinstance(table, bytes) else json.dumps(table).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + data


def tensor(begin, end, shape=None, dtype="U8"):
    shape = [end - begin] if shape is None else shape
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


@pytest.fixture
def read(tmp_path):
    """Read these bytes as a file."""

    def call(content: bytes):
        path = tmp_path / "some" / "x.safetensors"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return safetensors.read(path)

    return call


def test_a_file_by_hand(read):
    table = {
        "b": tensor(6, 18, [1, 3], "F32"),
        "__metadata__": {"who": "me"},
        "a": tensor(0, 6, [3], "BF16"),
        "one": tensor(18, 19, [], "BOOL"),
        "none": tensor(18, 18, [0, 7], "F64"),
    }
    text = json.dumps(table).encode() + b"   "
    file = read(header(text, bytes(range(19))))
    start = 8 + len(text)
    assert (file.path.name, file.data_offset) == ("x.safetensors", start)
    assert file.metadata == {"who": "me"}
    assert list(file.tensors) == ["a", "b", "none", "one"]
    b = file.tensors["b"]
    assert (b.name, b.dtype, b.shape, b.offset, b.nbytes) == ("b", "F32", (1, 3), start + 6, 12)
    assert file.data[b.offset : b.offset + b.nbytes] == bytes(range(6, 18))
    assert file.tensors["one"].shape == () and file.tensors["none"].nbytes == 0


def test_an_empty_table_is_a_file_without_tensors(read):
    assert read(header(b"{}")).tensors == {}


def test_numbers_of_less_than_a_byte(read):
    file = read(
        header({"a": tensor(0, 3, [4], "F6_E2M3"), "b": tensor(3, 4, [2], "F4")}, b"\0" * 4)
    )
    assert [t.nbytes for t in file.tensors.values()] == [3, 1]


@pytest.mark.parametrize("dtype", ["bool", "i1", "u1", "<i2", "<u2", "<f2", "<i4", "<f4", "<f8"])
def test_what_the_library_writes_is_read_with_the_same_numbers(read, dtype):
    arrays = {"x": np.arange(6).reshape(2, 3).astype(dtype), "y": np.ones((), dtype)}
    content = save(arrays, {"made": "here"})
    file = read(content)
    assert file.metadata == {"made": "here"} and file.tensors.keys() == arrays.keys()
    for name, t in file.tensors.items():
        theirs = load(content)[name]
        raw = file.data[t.offset : t.offset + t.nbytes]
        ours = np.frombuffer(raw, theirs.dtype).reshape(t.shape)
        np.testing.assert_array_equal(ours, theirs)


# ---- damage: what is wrong, and what the sentence says about it ----------------------------------

TABLE = b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'
TABLE += b',"b":{"dtype":"U8","shape":[24],"data_offsets":[8,32]}}'
GOOD = header(TABLE, bytes(32))  # 148 bytes
BAD = {
    "empty": (b"", "empty"),
    "four bytes": (GOOD[:4], "the header needs 116 bytes, the file has 4"),
    "only the length": (GOOD[:8], "the header needs 116"),
    "cut in the header": (GOOD[:20], "the header needs 116"),
    "cut in the data": (GOOD[:120], "the data needs 148 bytes, the file has 120"),
    "one byte short": (GOOD[:-1], "the data needs 148 bytes, the file has 147"),
    "two bytes more": (GOOD + b"\0\0", "2 bytes belong to no tensor"),
    "length 2^63": (header(b"{}", length=1 << 63), "exceed 2097152"),
    "length 200 MB": (header(b"{}", length=200_000_000), "exceed 2097152"),
    "length 2 MB, not there": (header(b"{}", length=1 << 21), "the header needs 2097160"),
    "length 0": (header(b""), "brace"),
    "web page": (b"<!DOCTYPE html><html>Not found</html>", "web page"),
    "git lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "Git LFS"),
    "pickle": (b"\x80\x02}q\x00." + b"\0" * 60, "pickle"),
    "zip": (b"PK\x03\x04" + b"\0" * 60, "pickle or zip"),
    "not JSON": (header(b'{"a":'), "JSON"),
    "text after the table": (header(b"{} {}"), "JSON"),
    "not UTF-8": (header(b'{"\xff": 1}'), "JSON"),
    "a list": (header(b"[]"), "brace"),
    "a space before the table": (header(b" {}"), "brace"),
    "nested too deeply": (header(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "too deep"),
    "a number of 5,000 digits": (header(b'{"a":' + b"9" * 5_000 + b"}"), "JSON"),
    "the same name twice": (header(b'{"a": 1, "a": 1}'), "twice"),
    "the same key twice": (header(b'{"a": {"dtype": "U8", "dtype": "U8"}}'), "twice"),
    "metadata is a list": (header({"__metadata__": []}), "__metadata__"),
    "metadata holds a number": (header({"__metadata__": {"a": 1}}), "__metadata__"),
    "no entry": (header({"a": None}), "tensor 'a'"),
    "unknown type": (header({"a": tensor(0, 4, [1], "F31")}, bytes(4)), "'F31' does not exist"),
    "a type that is a list": (header({"a": tensor(0, 1, [1], ["U8"])}, b"a"), "does not exist"),
    "no shape": (header({"a": {"dtype": "U8", "data_offsets": [0, 1]}}, b"a"), "shape"),
    "shape of a truth value": (header({"a": tensor(0, 1, [True])}, b"a"), "shape"),
    "shape of a float": (header({"a": tensor(0, 1, [1.0])}, b"a"), "shape"),
    "negative shape": (header({"a": tensor(0, 1, [-1, -1])}, b"a"), "shape"),
    "65 dimensions": (header({"a": tensor(0, 1, [1] * 65)}, b"a"), "shape"),
    "a size of 2^63": (header({"a": tensor(0, 0, [0, 1 << 63])}), "shape"),
    "a size that wraps": (header({"a": tensor(0, 0, [1 << 62, 4], "F32")}), "from 0 to 0"),
    "three offsets": (header({"a": tensor(0, 1) | {"data_offsets": [0, 1, 1]}}, b"a"), "offsets"),
    "one offset": (header({"a": tensor(0, 1) | {"data_offsets": [0]}}, b"a"), "offsets"),
    "offsets the wrong way": (header({"a": tensor(4, 0, [4])}, bytes(4)), "from 4 to 0"),
    "too little room": (header({"a": tensor(0, 4, [2], "F32")}, bytes(4)), "from 0 to 4"),
    "half a byte": (header({"a": tensor(0, 1, [3], "F4")}, b"a"), "from 0 to 1"),
    "gap": (header({"a": tensor(0, 4), "b": tensor(5, 9)}, bytes(9)), "a gap before"),
    "gap at the start": (header({"a": tensor(1, 5)}, bytes(5)), "a gap before"),
    "overlap": (header({"a": tensor(0, 4), "b": tensor(3, 7)}, bytes(7)), "an overlap before"),
    "the same bytes twice": (header({"a": tensor(0, 4), "b": tensor(0, 4)}, bytes(4)), "overlap"),
}
LIBRARY_READS = {"a space before the table", "65 dimensions"}  # and must, or may, not be read


@pytest.mark.parametrize("name", BAD)
def test_damage_is_refused_with_file_place_and_cause(read, name):
    content, said = BAD[name]
    with pytest.raises(ModelFileError) as caught:
        read(content)
    assert caught.value.code in ("broken", "incomplete", "not_a_model")
    assert "x.safetensors" in str(caught.value) and said in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize("name", sorted(BAD.keys() - LIBRARY_READS - {"the same key twice"}))
def test_the_library_refuses_the_same_files(name):
    with pytest.raises((SafetensorError, ValueError, TypeError)):
        load(BAD[name][0])


def test_a_name_that_would_fill_the_screen_is_cut(read):
    with pytest.raises(ModelFileError) as caught:
        read(header({"n\n" * 9_999: 1}))
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize("cut", range(len(GOOD)))
def test_cut_anywhere(read, cut):
    with pytest.raises(ModelFileError) as caught:
        read(GOOD[:cut])
    assert caught.value.code == ("incomplete" if cut else "not_a_model")


def test_a_missing_file_and_a_folder(tmp_path):
    for path, code in ((tmp_path / "nothing", "no_such_file"), (tmp_path, "not_a_model")):
        for module in (safetensors, gguf):
            with pytest.raises(ModelFileError) as caught:
                module.read(path)
            assert caught.value.code == code
