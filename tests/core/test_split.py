"""GGUF files in several parts: any part opens the whole, and parts must belong together."""

from pathlib import Path

import numpy as np
import pytest

from core import ModelFileError
from core.files import config, split, weights
from tests import families as files
from tests.family_gguf import gguf_arrays, gguf_metadata, tokenizer_metadata, write

C = files.config("llama")


def part(number, count=3, total=21):
    """What a part says of itself."""
    return {"split.no": number, "split.count": count, "split.tensors.count": total}


def build(path, numbers=(0, 1, 2), said=part, tensors=None):
    """Three parts of one model; llama.cpp's first part may hold metadata only."""
    path.mkdir()
    named = list((tensors or gguf_arrays("llama", C)).items())
    own = {f"llama.{key}": value for key, value in gguf_metadata("llama", C).items()}
    own |= tokenizer_metadata()
    for n in numbers:
        mine = dict(named[n * 7 : n * 7 + 7])
        name = path / f"m-{n + 1:05}-of-00003.gguf"
        write(name, "llama", said(n) | (own if n == 0 else {}), mine)
    return path


@pytest.fixture
def whole(tmp_path):
    file = split.read(files.build_gguf(tmp_path / "whole.gguf", "llama"))
    return weights.load(file, config.from_gguf(file))


@pytest.mark.parametrize("given", [1, 2, 3])
def test_any_part_opens_the_whole(tmp_path, whole, given):
    folder = build(tmp_path / "m")
    file = split.read(folder / f"m-0000{given}-of-00003.gguf")
    assert [p.name for p in file.paths] == [f"m-0000{n}-of-00003.gguf" for n in (1, 2, 3)]
    found = weights.load(file, config.from_gguf(file))
    for ours, theirs in zip(found.arrays(), whole.arrays(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_file_that_is_not_split_is_itself(tmp_path):
    path = files.build_gguf(tmp_path / "m.gguf", "llama", metadata=part(0, 1))
    assert split.read(path).paths == [Path(path)]


def test_the_first_part_may_hold_metadata_only(tmp_path, whole):
    folder = build(tmp_path / "m", said=lambda n: part(n, total=21))
    own = {f"llama.{key}": value for key, value in gguf_metadata("llama", C).items()}
    all_tensors = list(gguf_arrays("llama", C).items())
    write(folder / "m-00001-of-00003.gguf", "llama", part(0) | own | tokenizer_metadata(), {})
    write(folder / "m-00002-of-00003.gguf", "llama", part(1), dict(all_tensors[:14]))
    file = split.read(folder / "m-00003-of-00003.gguf")
    assert weights.load(file, config.from_gguf(file)).n_parameters == whole.n_parameters


def refused(path):
    with pytest.raises(ModelFileError) as caught:
        split.read(path)
    return caught.value


def test_a_missing_part_is_named(tmp_path):
    folder = build(tmp_path / "m", numbers=(0, 2))
    for given in (1, 3):
        error = refused(folder / f"m-0000{given}-of-00003.gguf")
        assert error.code == "missing_part" and "m-00002-of-00003.gguf" in str(error)


SAID = {
    "two parts with one number": lambda n: part(min(n, 1)),
    "counted from one": lambda n: part(n + 1),
    "another count": lambda n: part(n, 3 if n < 2 else 4),
    "another total": lambda n: part(n, total=20),
    "no number": lambda n: {"split.count": 3},
    "a number of another kind": lambda n: part(n) | {"split.no": "1"},
    "too many": lambda n: part(n, 65_535),
    "not split": lambda n: part(n) if n != 1 else {"general.name": "another"},
}


@pytest.mark.parametrize("case", SAID)
def test_parts_that_do_not_belong_together(tmp_path, case):
    folder = build(tmp_path / "m", said=SAID[case])
    error = refused(folder / "m-00001-of-00003.gguf")
    assert error.code == "broken" and "split." in str(error)


def test_a_tensor_in_two_parts(tmp_path):
    folder = build(tmp_path / "m", said=lambda n: part(n, total=15))
    first = split.gguf.read(folder / "m-00001-of-00003.gguf")
    name = next(iter(first.tensors))
    write(
        folder / "m-00002-of-00003.gguf",
        "llama",
        part(1, total=15),
        {name: np.zeros(32, np.float32)},
    )
    assert name in str(refused(folder / "m-00001-of-00003.gguf"))


def test_a_part_under_another_name(tmp_path):
    folder = build(tmp_path / "m")
    (folder / "m-00001-of-00003.gguf").rename(folder / "mine.gguf")
    assert "its name" in str(refused(folder / "mine.gguf"))


def test_a_part_without_tensors_or_parts_is_no_model(tmp_path):
    path = write(tmp_path / "m.gguf", "llama", {"general.name": "x"}, {})
    assert "no tensors" in str(refused(path))
