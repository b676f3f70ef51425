"""A trace in a file: other programs read the same numbers under the stated names."""

import json
import os

import numpy as np
import pytest
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file

from core import Edit, RunSpec, SettingError, run
from core.record import trace as trace_room
from core.record.export import export
from core.record.trace import Trace
from core.store import ByteStore
from tests.conftest import SMOLLM
from tests.families import build_folder

IDS = (258, 273, 34, 264, 51, 52, 297, 298, 277, 40)


def test_all_ops_of_all_layers(tiny_name, tmp_path):
    trace, path = run(RunSpec(tiny_name, ids=IDS)), tmp_path / "t.safetensors"
    assert export(trace, path) == path.stat().st_size
    arrays = load_file(path)
    catalogue = trace.catalogue
    names = {f"layers.{n}.{op}" for n, block in enumerate(catalogue.blocks) for op in block}
    assert set(arrays) == names | {*catalogue.before, *catalogue.after}
    for name, array in arrays.items():
        assert array.dtype == np.float32
        if name.startswith("layers."):
            op, layer = name.split(".", 2)[2], int(name.split(".")[1])
            np.testing.assert_array_equal(array, trace.read(op, layer))
    np.testing.assert_array_equal(arrays["logits"], trace.logits())
    np.testing.assert_array_equal(arrays["probs"], trace.probs())


def test_some_ops_of_some_layers(tiny_name, tmp_path):
    trace, path = run(RunSpec(tiny_name, ids=IDS)), tmp_path / "t.safetensors"
    export(trace, path, ["attn.weights", "final_norm"], [1])
    assert set(load_file(path)) == {"layers.1.attn.weights", "final_norm"}


def test_metadata_say_what_it_is(tiny_name, tiny, tmp_path):
    edits = [Edit("attn.mix", layer=0, head=1)]
    trace, path = run(RunSpec(tiny_name, ids=IDS, edits=edits)), tmp_path / "t.safetensors"
    export(trace, path, ["embed"])
    with safe_open(path, "numpy") as file:
        data = file.metadata()
    assert json.loads(data["ids"]) == list(IDS)
    assert json.loads(data["tokens"]) == list(trace.tokens)
    assert data["model_sha256"] == tiny.source.sha256 and data["precision"] == "float32"
    assert data["model"] == data["model_file"] == "tiny.gguf"  # no folder of this computer
    assert str(tiny.source.path.parent) not in str(data)
    assert json.loads(data["quantization"]) == {"F32": 20}
    config = json.loads(data["config"])
    assert (config["n_layers"], config["ropes"][1]["theta"]) == (2, 10_000)
    assert data["format"] == "1"
    assert json.loads(data["axes"])["attn.weights"] == ["head", "query", "key"]
    aliases = json.loads(data["aliases"])
    assert aliases["attn.weights"][0].format(3) == "blocks.3.attn.hook_pattern"
    assert "model.layers.{}.self_attn.q_proj" in aliases["attn.q"]
    assert set(aliases) <= set(trace.catalogue.ids)
    assert "attn.mix" in json.loads(data["edits"])[0]


def test_ops_of_a_family_that_only_some_layers_have(tmp_path):
    name = build_folder(tmp_path / "smollm3", "smollm3")
    trace, path = run(RunSpec(name, ids=(5, 6, 7))), tmp_path / "t.safetensors"
    export(trace, path, ["attn.q_rot", "attn.q"])
    turned = {f"layers.{n}.attn.q_rot" for n in (0, 1, 2)}
    assert set(load_file(path)) == turned | {f"layers.{n}.attn.q" for n in range(4)}
    with safe_open(path, "numpy") as file:
        assert json.loads(file.metadata()["config"])["ropes"][3] is None


def test_a_name_of_the_registry_stays_the_name(smollm, tmp_path):
    path = tmp_path / "t.safetensors"
    export(run(RunSpec(SMOLLM, ids=(504, 3575))), path, ["embed"])
    with safe_open(path, "numpy") as file:
        data = file.metadata()
    assert data["model"] == SMOLLM and data["model_file"].endswith(".gguf")
    assert json.loads(data["quantization"]) == {"Q4_1": 210, "F32": 61, "Q8_0": 1}


def test_others_may_read_what_the_umask_lets_them(tiny_name, tmp_path):
    trace, new, old = run(RunSpec(tiny_name, ids=IDS)), tmp_path / "new", tmp_path / "old"
    old.touch()
    old.chmod(0o640)
    before = os.umask(0o022)
    try:
        for path in (new, old):
            export(trace, path, ["embed"])
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (new, old)] == [0o644, 0o640]


def test_a_device_is_not_replaced_by_a_file(tiny_name, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError):
        export(run(RunSpec(tiny_name, ids=IDS)), pipe, ["embed"])
    assert pipe.is_fifo()


def test_a_failed_export_leaves_no_file(tiny_name, tmp_path, monkeypatch):
    def full(*_, **__):
        raise SafetensorError("No space left on device")

    monkeypatch.setattr("core.record.export.save_file", full)
    with pytest.raises(OSError):
        export(run(RunSpec(tiny_name, ids=IDS)), tmp_path / "t.safetensors", ["embed"])
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_exported(tiny_name, tmp_path):
    trace, path = run(RunSpec(tiny_name, ids=IDS)), tmp_path / "t.safetensors"
    for ops, layers in [(["nothing"], None), ([""], None), (["mlp.out"], [2]), (["mlp.out"], [-1])]:
        with pytest.raises(SettingError):
            export(trace, path, ops, layers)
    assert not path.exists()
    for place in (tmp_path / "no" / "folder.safetensors", tmp_path):
        with pytest.raises(OSError) as caught:
            export(trace, place, ["embed"])
        assert caught.value.filename == str(place)


def test_a_trace_never_takes_the_place_of_its_model(tmp_path):
    folder = build_folder(tmp_path / "m", "llama")
    before = (tmp_path / "m" / "model.safetensors").read_bytes()
    trace = run(RunSpec(str(folder), ids=(3, 4, 5)))
    with pytest.raises(SettingError, match="not one of the model"):
        export(trace, tmp_path / "m" / "model.safetensors")
    assert (tmp_path / "m" / "model.safetensors").read_bytes() == before


def test_each_layer_is_run_once(tmp_path, monkeypatch):
    name = str(build_folder(tmp_path / "m", "llama", num_hidden_layers=5))
    trace = run(RunSpec(name, ids=(3, 4, 5, 6)))
    runs, real = [], Trace._run_layer
    one = sum(trace.op_bytes(op) for op in trace.catalogue.blocks[0])
    monkeypatch.setattr(trace_room, "LAYERS", ByteStore(2 * one))  # room for two layers of many
    monkeypatch.setattr(Trace, "_run_layer", lambda s, n, ops: runs.append(n) or real(s, n, ops))
    export(trace, tmp_path / "t.safetensors")
    assert runs == list(range(trace.config.n_layers))
