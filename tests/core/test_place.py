"""Where the embedding table lies: offsets and bytes against the libraries and by hand, and files
that changed.
"""

import os
import struct

import numpy as np
import pytest
from gguf import GGMLQuantizationType as K
from gguf import GGUFReader, GGUFWriter, quants
from safetensors import safe_open

from core import ModelFileError, open_model
from core.files import place
from core.files.place import Place
from tests import tiny as tiny_file
from tests.core.test_split import C as CONFIG
from tests.core.test_split import build as build_split
from tests.families import build_folder
from tests.family_gguf import gguf_arrays

TABLE = "token_embd.weight"


def made(path, dtype, per_block, block_bytes, shape, start=0):
    """A place in a file of the test's own."""
    state = os.stat(path).st_size, os.stat(path).st_mtime_ns
    return Place(path, "gguf", "t", dtype, shape, start, per_block, block_bytes, state)


def test_a_number_of_a_q8_0_block_by_hand(tmp_path):
    """2 rows of 64 numbers: 4 blocks of a float16 and 32 signed bytes, after 5 other bytes."""
    blocks = [(0.5, range(32)), (0.25, range(-32, 0)), (2.0, [-128] * 32), (1.0, [7] * 32)]
    raw = b"".join(struct.pack("<e32b", scale, *whole) for scale, whole in blocks)
    (tmp_path / "x").write_bytes(b"\xff" * 5 + raw)
    here = made(tmp_path / "x", "Q8_0", 32, 34, (2, 64), 5)
    assert here.row_bytes == 68 and here.row_offset(1) == 73
    one = place.stored(here, 0, 35)
    assert one.offset == 5 + 34 and one.raw == raw[34:68]
    assert one.parts == (0.25, -29.0) and one.spans == ((0, 2), (5, 6)) and one.value == -7.25
    assert place.stored(here, 1, 0).value == -256.0 and place.stored(here, 1, 63).value == 7.0
    assert place.read_row(here, 1) == raw[68:]


def test_a_float_with_its_neighbours_by_hand(tmp_path):
    raw = struct.pack("<20f", *range(20))
    (tmp_path / "x").write_bytes(raw)
    here = made(tmp_path / "x", "F32", 1, 4, (2, 10))
    one = place.stored(here, 1, 9)  # alone with number 8 behind the first eight
    assert one.offset == 40 + 32 and one.raw == raw[72:80]
    assert one.parts == (19.0,) and one.spans == ((4, 8),) and one.value == 19.0


@pytest.mark.parametrize("dtype, raw, value", [
    ("F64", bytes.fromhex("182d4454fb210940"), np.float32(np.pi)),
    ("F32", bytes.fromhex("000020c1"), -10.0),
    ("F16", bytes.fromhex("00c5"), -5.0),
    ("BF16", bytes.fromhex("20c1"), -10.0),
])  # fmt: skip
def test_every_float_by_its_bytes(dtype, raw, value, tmp_path):
    (tmp_path / "x").write_bytes(raw)
    assert place.stored(made(tmp_path / "x", dtype, 1, len(raw), (1, 1)), 0, 0).value == value


@pytest.mark.parametrize("row, column", [(-1, 0), (1, 0), (0, -1), (0, 1)])
def test_there_is_nothing_outside(row, column, tmp_path):
    (tmp_path / "x").write_bytes(b"\0\0\0\0")
    with pytest.raises(IndexError):
        place.stored(made(tmp_path / "x", "F32", 1, 4, (1, 1)), row, column)


def with_table(path, kind):
    """The tiny model with its table stored in another type."""
    writer = GGUFWriter(str(path), "llama")
    for key, value in tiny_file.metadata().items():
        tiny_file._add(writer, key, value)
    for name, array in tiny_file.arrays().items():
        array = tiny_file.interleaved(name, array)
        if name == TABLE:
            writer.add_tensor(name, quants.quantize(array, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return str(path)


@pytest.mark.parametrize("kind", [K.F32, K.F16, K.BF16, K.Q8_0, K.Q4_0, K.Q5_1])
def test_the_place_is_the_one_of_ggufs_own_reader_and_gives_the_weights(kind, tmp_path):
    model = open_model(with_table(tmp_path / "m.gguf", kind))
    here, table = model.source.embed, model.weights.embed
    theirs = next(t for t in GGUFReader(str(tmp_path / "m.gguf")).tensors if t.name == TABLE)
    assert (here.tensor, here.dtype, here.offset) == (TABLE, kind.name, theirs.data_offset)
    assert here.shape == table.shape and here.row_bytes * len(table) == theirs.n_bytes
    for row in (0, 7, len(table) - 1):
        ours = [place.stored(here, row, column).value for column in range(table.shape[1])]
        assert ours == table[row].tolist()
        assert np.array_equal(place.by_library(here, place.read_row(here, row)), table[row])


@pytest.mark.parametrize("family", ["llama", "gpt2", "gpt_neox", "gemma"])
def test_in_a_folder_it_is_the_one_of_the_safetensors_library(family, tmp_path):
    path = build_folder(tmp_path / family, family)
    model = open_model(str(path))
    here, table = model.source.embed, model.weights.embed
    with safe_open(here.path, "numpy") as file:
        theirs = file.get_tensor(here.tensor)
    assert here.path.suffix == ".safetensors" and np.array_equal(theirs[5], table[5])
    raw = here.path.read_bytes()[here.row_offset(5) :][: here.row_bytes]
    assert raw == theirs[5].tobytes() == place.read_row(here, 5)
    assert place.stored(here, 5, 9).value == table[5, 9]


def test_the_table_of_smollm(smollm):
    here, table = smollm.source.embed, smollm.weights.embed
    assert (here.dtype, here.row_bytes, here.per_block) == ("Q8_0", 18 * 34, 32)
    for row, column in ((0, 0), (7042, 333), (49151, 575)):
        one = place.stored(here, row, column)
        assert one.parts[0] * one.parts[1] == one.value == table[row, column]


def change_size(path):
    with open(path, "ab") as file:
        file.write(b"\0")


def change_time(path):
    os.utime(path, ns=(0, 0))


def cut(path):
    os.truncate(path, 100)


@pytest.mark.parametrize("change", [change_size, change_time, cut])
def test_a_file_that_changed_is_refused(change, tmp_path):
    path = tiny_file.build(tmp_path / "m.gguf")
    here = open_model(path).source.embed
    place.read_row(here, 1)
    change(path)
    with pytest.raises(ModelFileError) as refused:
        place.read_row(here, 1)
    assert refused.value.code == "changed" and refused.value.params["path"] == path


def test_a_file_that_is_gone_is_refused(tmp_path):
    path = tiny_file.build(tmp_path / "m.gguf")
    here = open_model(path).source.embed
    os.remove(path)
    with pytest.raises(ModelFileError) as refused:
        place.stored(here, 1, 0)
    assert refused.value.code == "no_such_file"


@pytest.mark.parametrize("given", [1, 3])
def test_of_a_split_file_it_names_the_part_that_holds_the_table(given, tmp_path):
    arrays = gguf_arrays("llama", CONFIG)
    others = [name for name in arrays if name != TABLE]
    order = [*others[:8], TABLE, *others[8:]]  # a part holds 7 tensors
    folder = build_split(tmp_path / "m", tensors={name: arrays[name] for name in order})
    model = open_model(str(folder / f"m-0000{given}-of-00003.gguf"))
    here = model.source.embed
    assert here.path == folder / "m-00002-of-00003.gguf"
    assert place.stored(here, 5, 9).value == model.weights.embed[5, 9] == arrays[TABLE][5, 9]
