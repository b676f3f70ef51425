"""Hugging Face folders: one file or several, older names, and what is refused of what an index or
a folder may claim.
"""

import json
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from core import ModelFileError
from core.files import config, folder, memory, weights
from tests import families as files
from tests.family_arrays import hf_arrays


def load(path):
    opened = folder.read(path)
    return weights.load(opened, config.from_folder(opened))


def same(a, b):
    for ours, theirs in zip(a.arrays(), b.arrays(), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def said(path):
    with pytest.raises(ModelFileError) as caught:
        load(path)
    return caught.value


@pytest.fixture
def whole(tmp_path):
    """A folder with one model.safetensors."""
    return Path(files.build_folder(tmp_path / "whole", "llama"))


@pytest.fixture
def cut(tmp_path):
    """The same model in three files with an index."""
    return split_up(tmp_path / "cut")


def arrays(family="llama", **changes):
    return hf_arrays(family, files.config(family, **changes))


def write(path, named, family="llama", **changes):
    """A folder with these tensors."""
    path.mkdir(exist_ok=True)
    (path / "config.json").write_text(json.dumps(files.config(family, **changes)))
    save_file({k: np.ascontiguousarray(v) for k, v in named.items()}, path / "model.safetensors")
    return path


def split_up(path, table=None):
    path.mkdir()
    (path / "config.json").write_text(json.dumps(files.config("llama")))
    names = sorted(arrays())
    shard = {name: f"model-0000{i % 3 + 1}-of-00003.safetensors" for i, name in enumerate(names)}
    for file_name in set(shard.values()):
        save_file({n: arrays()[n] for n in names if shard[n] == file_name}, path / file_name)
    index = {"metadata": {"total_size": 1}, "weight_map": shard | (table or {})}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))
    return path


# ---- the same model in other clothes -------------------------------------------------------------


def test_one_file_and_several_hold_the_same(whole, cut):
    same(load(whole), load(cut))
    assert [p.name for p in folder.read(whole).paths] == ["config.json", "model.safetensors"]
    shards = [f"model-0000{n}-of-00003.safetensors" for n in (1, 2, 3)]
    assert [p.name for p in folder.read(cut).paths] == ["config.json", *shards]


def test_any_file_of_a_folder_opens_it(whole, cut):
    for path in (whole / "config.json", whole / "model.safetensors"):
        same(load(path), load(whole))
    same(load(cut / "model-00002-of-00003.safetensors"), load(whole))
    (whole / "model.safetensors").rename(whole / "mine.safetensors")
    same(load(whole / "mine.safetensors"), load(cut))


def test_files_may_be_links_as_in_a_cache(whole, tmp_path):
    (tmp_path / "blobs").mkdir()
    (tmp_path / "snapshot").mkdir()
    for n, name in enumerate(("config.json", "model.safetensors")):
        (whole / name).rename(tmp_path / "blobs" / str(n))
        (tmp_path / "snapshot" / name).symlink_to(f"../blobs/{n}")
    assert load(tmp_path / "snapshot").n_parameters == 21_664


ROOTS = {"llama": "model.", "gpt2": "transformer.", "gpt_neox": "gpt_neox.", "gemma3": "model."}


@pytest.mark.parametrize("family", ROOTS)
def test_names_without_the_first_word(tmp_path, family):
    bare = {name.removeprefix(ROOTS[family]): array for name, array in arrays(family).items()}
    assert bare.keys() != arrays(family).keys()
    same(
        load(write(tmp_path / "a", bare, family)),
        load(write(tmp_path / "b", arrays(family), family)),
    )


@pytest.mark.parametrize("first", ["language_model.", "model.language_model."])
def test_the_text_half_of_a_model_that_sees(tmp_path, first):
    def name(text):
        return first + (text if first == "language_model." else text.removeprefix("model."))

    named = {name(key): array for key, array in arrays("gemma3").items()}
    named |= {"vision_tower.patch.weight": np.zeros(3, np.float32)}
    path = write(tmp_path / "a", named, "gemma3")
    text = files.config("gemma3")
    both = {"model_type": "gemma3", "text_config": text | {"model_type": "gemma3_text"}}
    (path / "config.json").write_text(json.dumps(both | {"vision_config": {"hidden_size": 7}}))
    same(load(path), load(write(tmp_path / "b", arrays("gemma3"), "gemma3")))


BUFFERS = {
    "llama": ["model.layers.1.self_attn.rotary_emb.inv_freq"],
    "gpt2": ["transformer.h.0.attn.bias", "h.1.attn.masked_bias"],
    "gpt_neox": ["gpt_neox.layers.0.attention.bias", "gpt_neox.layers.1.attention.masked_bias"]
    + ["gpt_neox.layers.0.attention.rotary_emb.inv_freq"],
}


@pytest.mark.parametrize("family", BUFFERS)
def test_masks_and_angles_of_older_checkpoints_are_passed_over(tmp_path, family):
    extra = {name: np.ones((1, 4), np.uint8) for name in BUFFERS[family]}
    one = load(write(tmp_path / "a", arrays(family) | extra, family))
    same(one, load(write(tmp_path / "b", arrays(family), family)))


@pytest.mark.parametrize("factor", [1, 2])
def test_a_tied_model_with_a_head_of_its_own(tmp_path, factor):
    named = arrays("qwen2")
    named["lm_head.weight"] = named["model.embed_tokens.weight"] * np.float32(factor)
    found = load(write(tmp_path / "m", named, "qwen2"))
    assert found.tied == (factor == 1)
    np.testing.assert_array_equal(found.head, factor * found.embed)


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["llama", "gpt2", "phi3", "gpt_neox", "gemma3", "olmo2"])
def test_a_missing_or_misshapen_tensor_is_named(tmp_path, family):
    named = arrays(family)
    for n, name in enumerate(named):
        without = {k: v for k, v in named.items() if k != name}
        error = said(write(tmp_path / f"{n}", without, family))
        layer = next((part for part in name.split(".") if part.isdigit()), "")
        assert error.code == "broken" and (f".{layer}." in str(error) or not layer)
        assert "." not in name or name.rsplit(".", 1)[1] in str(error)
        wrong = without | {name: np.zeros(named[name].size * 2, np.float32)}
        assert name in str(said(write(tmp_path / f"{n}w", wrong, family)))


def test_a_missing_tensor_goes_by_the_name_the_folder_would_give_it(tmp_path):
    name = "model.layers.1.self_attn.k_proj.weight"
    named = {key: array for key, array in arrays().items() if key != name}
    assert name in str(said(write(tmp_path / "m", named)))


EXTRA = [
    "model.layers.0.self_attn.q_proj.bias",
    "model.layers.2.mlp.up_proj.weight",
    "score.weight",
]
EXTRA += ["model.layers.0.mlp.gate.weight", "model.layers.0.attention.wq.weight", "x", "0.0.weight"]


@pytest.mark.parametrize("name", EXTRA)
def test_a_tensor_that_nothing_reads_is_refused(tmp_path, name):
    error = said(write(tmp_path / "m", arrays() | {name: np.zeros((32, 32), np.float32)}))
    assert error.code == "unsupported" and name in str(error)


def test_integers_are_no_weights(tmp_path):
    name = "model.layers.1.mlp.up_proj.weight"
    path = write(tmp_path / "m", arrays() | {name: np.ones((48, 32), np.int8)})
    error = said(path)
    assert error.code == "unsupported" and name in str(error) and "I8" in str(error)


def test_two_names_for_one_weight_are_refused(tmp_path):
    named = arrays()
    twice = named | {"layers.0.mlp.up_proj.weight": named["model.layers.0.mlp.up_proj.weight"]}
    assert "holds the same" in str(said(write(tmp_path / "m", twice)))


def test_pickles_are_never_opened(tmp_path, whole):
    path = tmp_path / "p"
    path.mkdir()
    (path / "config.json").write_text(json.dumps(files.config("llama")))
    (path / "pytorch_model.bin").write_bytes(b"\x80\x02cposix\nsystem\n")
    error = said(path)
    assert "pickle" in str(error) and "safetensors" in str(error) and "gguf" in str(error)
    (whole / "model.safetensors").write_bytes((path / "pytorch_model.bin").read_bytes() + bytes(99))
    assert "pickle" in str(said(whole))


def test_folders_without_a_model(tmp_path, whole):
    (tmp_path / "empty").mkdir()
    assert "config.json" in str(said(tmp_path / "empty"))
    (whole / "model.safetensors").unlink()
    error = said(whole)
    assert error.code == "missing_part" and "model.safetensors" in str(error)


def test_a_missing_shard_or_index_is_named(cut):
    (cut / "model-00002-of-00003.safetensors").unlink()
    error = said(cut)
    assert error.code == "missing_part" and "model-00002-of-00003.safetensors" in str(error)
    (cut / "model.safetensors.index.json").unlink()
    assert "model.safetensors.index.json" in str(said(cut))


NORM = "model.norm.weight"
OUTSIDE = [
    "../whole/model.safetensors",
    "/etc/passwd",
    "..\\x.safetensors",
    "..",
    "",
    ".safetensors",
]
OUTSIDE += [
    "a/b.safetensors",
    "pytorch_model-00001-of-00003.bin",
    "x.safetensors\0",
    5,
    None,
    ["x"],
]


@pytest.mark.parametrize("name", OUTSIDE, ids=str)
def test_an_index_may_not_point_outside_the_folder(tmp_path, whole, name):
    error = said(split_up(tmp_path / "m", {NORM: name}))
    assert error.code == "broken" and "plain name" in str(error)


def test_the_index_must_say_what_the_files_hold(tmp_path):
    first = "model-00001-of-00003.safetensors"
    elsewhere = {name: first for name in (NORM, "lm_head.weight")}
    assert "index.json" in str(said(split_up(tmp_path / "a", elsewhere)))
    assert "does not hold" in str(said(split_up(tmp_path / "b", {"more.weight": first})))
    path = split_up(tmp_path / "c")
    save_file(arrays(), path / first)  # all tensors once more
    assert "does not say" in str(said(path))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1, "a": 2}', "[" * 200_000, "\xff"])
@pytest.mark.parametrize("name", ["config.json", "model.safetensors.index.json"])
def test_damaged_json(cut, name, text):
    (cut / name).write_text(text, encoding="latin-1")
    error = said(cut)
    assert error.code == "broken" and name in str(error)


@pytest.mark.parametrize("table", [{}, {"weight_map": {}}, {"weight_map": []}, {"weight_map": 3}])
def test_an_index_without_a_map(cut, table):
    (cut / "model.safetensors.index.json").write_text(json.dumps(table))
    assert "weight_map" in str(said(cut))


def test_json_files_are_bounded(cut):
    for name, most in (("config.json", 1 << 20), ("model.safetensors.index.json", 1 << 21)):
        text = (cut / name).read_text()
        (cut / name).write_text(text + " " * most)
        assert f"more than {most}" in str(said(cut))
        (cut / name).write_text(text)
    shards = {f"{n}.weight": f"model-{n}.safetensors" for n in range(300)}
    (cut / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    assert "300 files" in str(said(cut))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(whole):
    (whole / "model.safetensors").unlink()
    os.mkfifo(whole / "model.safetensors")
    assert said(whole).code == "missing_part"
    os.mkfifo(whole / "pipe.gguf")
    with pytest.raises(ModelFileError):
        folder.safetensors.read(whole / "pipe.gguf")


def test_a_model_that_does_not_fit_is_refused_before_it_is_read(whole, monkeypatch):
    opened = folder.read(whole)
    monkeypatch.setattr(memory, "available", lambda: 80_000)
    monkeypatch.setattr(type(opened), "numbers", None)  # nothing is read
    with pytest.raises(ModelFileError) as caught:
        weights.load(opened, config.from_folder(opened))
    assert caught.value.code == "too_large"


def test_loading_takes_little_more_than_the_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)  # each thread holds a tensor of its own
    sizes = {"hidden_size": 256, "intermediate_size": 1024, "head_dim": 64}
    opened = folder.read(files.build_folder(tmp_path / "m", "llama", vocab_size=4096, **sizes))
    described = config.from_folder(opened)
    tracemalloc.start()
    found = weights.load(opened, described)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    largest = 4 * 4096 * 256
    assert found.nbytes < peak < found.nbytes + largest
