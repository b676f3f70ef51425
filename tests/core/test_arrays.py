"""Arrays from somebody's .npz or .safetensors: NumPy's and the library's own files, and damage."""

import io
import os
import pickle
import zipfile

import numpy as np
import pytest
from safetensors.numpy import save

from core import ModelFileError
from core.files import arrays

VALUES = {
    "logits": np.arange(6, dtype="<f4"),
    "layers.0.attn.q": np.arange(24, dtype="<f8").reshape(2, 3, 4),
    "columns": np.asfortranarray(np.arange(6, dtype="<f4").reshape(2, 3)),
    "big": np.arange(3, dtype=">f4"),
    "half": np.array([1.5, -2], "<f2"),
    "ids": np.array([[5, 7]], "<i8"),
    "yes": np.array([True, False]),
    "nothing": np.zeros((0, 3), "<f4"),
    "one": np.array(2.5, "<f4"),
}


@pytest.fixture
def read(tmp_path):
    """Read these bytes as a file."""

    def call(content: bytes):
        path = tmp_path / "x.npz"
        path.write_bytes(content)
        return arrays.read(path)

    return call


def npz(save=np.savez, **values) -> bytes:
    file = io.BytesIO()
    save(file, **values)
    return file.getvalue()


def zipped(name="x.npy", content=b"", **options) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", **options) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def npy(header: str, data=b"", version=1, length=None) -> bytes:
    text = header.encode()
    n = len(text) if length is None else length
    return b"\x93NUMPY" + bytes([version, 0]) + n.to_bytes(2 * version, "little") + text + data


@pytest.mark.parametrize("save_as", [np.savez, np.savez_compressed])
def test_what_numpy_writes_is_read_with_the_same_numbers(read, save_as):
    file = read(npz(save_as, **VALUES))
    assert file.entries.keys() == VALUES.keys() and not file.refused and not file.metadata
    for name, entry in file.entries.items():
        assert entry.shape == VALUES[name].shape
        np.testing.assert_array_equal(entry.read(), VALUES[name])
    kinds = {name: entry.kind for name, entry in file.entries.items()}
    assert kinds["logits"] == kinds["big"] == "float32" and kinds["half"] == "float16"
    assert kinds["layers.0.attn.q"] == "float64" and kinds["ids"] == kinds["yes"] == "whole"


def test_single_texts_are_metadata_and_rows_of_texts_are_refused(read):
    file = read(npz(precision="bfloat16", empty="", words=np.array(["a", "b"])))
    assert file.metadata == {"precision": "bfloat16", "empty": ""}
    assert file.entries == {} and file.refused.keys() == {"words"}


def test_a_text_of_what_are_no_letters(read):
    for order in "<>":
        header = F4.replace("<f4", f"{order}U1") % ""
        metadata = read(zipped(content=npy(header, b"\xff" * 4))).metadata
        assert metadata == {"x": "\ufffd"}


def test_bfloat16_as_numpy_writes_it_and_in_safetensors(read):
    bits, numbers = np.array([0x3F80, 0xBF80, 0x4049, 0x7F80], "<u2"), [1, -1, 3.140625, np.inf]
    entry = read(npz(x=bits.view("V2"))).entries["x"]
    assert entry.kind == "bfloat16" and entry.read().tolist() == numbers
    text = b'{"x":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}'
    entry = read(len(text).to_bytes(8, "little") + text + bits.tobytes()).entries["x"]
    assert entry.kind == "bfloat16" and entry.read().tolist() == numbers


def test_safetensors_give_the_same(read):
    values = {
        k: np.ascontiguousarray(v.astype(v.dtype.newbyteorder("<"))) for k, v in VALUES.items()
    }
    file = read(save(values, {"model": "m"}))
    assert file.metadata == {"model": "m"} and file.entries.keys() == VALUES.keys()
    for name, entry in file.entries.items():
        np.testing.assert_array_equal(entry.read(), VALUES[name])


def test_a_header_of_another_writer(read):
    header = "{'descr':'<f4','shape':(2,1,),'fortran_order':False}"
    for version in (1, 2):
        entry = read(zipped(content=npy(header, bytes(8), version))).entries["x"]
        assert entry.shape == (2, 1) and entry.read().tolist() == [[0], [0]]


# ---- damage --------------------------------------------------------------------------------------

F4 = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s)}"
REFUSED = {
    "python objects": (npz(x=np.array([{}, 1], object)), "never opened"),
    "no array": (zipped(content=b"hello, I am a text"), "no NPY array"),
    "empty": (zipped(), "no NPY array"),
    "header cut": (zipped(content=b"\x93NUMPY\x01\x00\x76\x00{"), "cannot be read"),
    "header of 60 kB": (zipped(content=npy(" " * 60_000)), "too long"),
    "header of 4 GB": (zipped(content=npy("{}", version=2, length=1 << 31)), "too long"),
    "no table": (zipped(content=npy("[1, 2]")), "cannot be read"),
    "code": (zipped(content=npy("__import__('os').abort()")), "cannot be read"),
    "nested": (zipped(content=npy("(" * 9_000)), "cannot be read"),
    "a deep sum": (zipped(content=npy("-" * 9_000 + "1")), "cannot be read"),
    "long double": (zipped(content=npy(F4.replace("<f4", "<f16") % "1,", bytes(16))), "type"),
    "structured": (
        zipped(content=npy(F4.replace("'<f4'", "[('a', '<f4')]") % "1,", bytes(4))),
        "type",
    ),
    "too short": (zipped(content=npy(F4 % "3,", bytes(8))), "shorter than its shape"),
    "2^40 numbers": (zipped(content=npy(F4 % "1099511627776,", bytes(8))), "shorter than"),
    "negative": (zipped(content=npy(F4 % "-1, -1", bytes(4))), "sizes"),
    "a float": (zipped(content=npy(F4 % "1.0,", bytes(4))), "sizes"),
    "true": (zipped(content=npy(F4 % "True,", bytes(4))), "sizes"),
    "65 axes": (zipped(content=npy(F4 % ("1, " * 65), bytes(4))), "sizes"),
    "bz2": (
        zipped(content=npy(F4 % "1,", bytes(4)), compression=zipfile.ZIP_BZIP2),
        "compressed in a way",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_an_array_that_cannot_be_read_is_refused_by_name(read, name):
    content, said = REFUSED[name]
    file = read(content)
    assert file.entries == {} and said in file.refused["x"] and len(file.refused["x"]) <= 100


BAD = {
    "empty": (b"", "not"),
    "a text": (b"hello", "safetensors"),
    "one .npy": (npy(F4 % "1,", bytes(4)), "numpy.savez"),
    "pickle": (pickle.dumps({"logits": VALUES["logits"]}), "never opened"),
    "a checkpoint of PyTorch": (zipped("archive/data.pkl", b"\x80\x02."), "never opened"),
    "cut zip": (npz(**VALUES)[:300], "no whole .npz"),
    "zip without end": (b"PK\x03\x04" + bytes(90), "no whole .npz"),
    "cut safetensors": (save({"x": VALUES["logits"]})[:40], "no whole .safetensors"),
    "web page": (b"<!DOCTYPE html><html>", "web page"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_file_that_is_something_else_is_one_sentence(read, name):
    content, said = BAD[name]
    with pytest.raises(ModelFileError) as caught:
        read(content)
    assert caught.value.code == "bad_values" and "x.npz" in str(caught.value)
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_a_missing_file_a_folder_and_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "nothing", tmp_path, tmp_path / "pipe", "a\0b"):
        with pytest.raises(ModelFileError, match="cannot be compared"):
            arrays.read(path)


def test_numbers_that_do_not_arrive_are_said_when_they_are_read(read):
    content = bytearray(npz(x=np.zeros(10_000)))
    content[50_000] ^= 1  # the checksum notices
    with pytest.raises(ModelFileError, match="'x.npy'"):
        read(bytes(content)).entries["x"].read()
