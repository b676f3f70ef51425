"""Damaged files of every format: a model or one sentence, in 2 s, in 200 MB, whatever the damage.

The work is done in processes of their own under an address limit of 3 GB (tests/fuzz/worker.py).
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from core.errors import ModelFileError
from tests.fuzz import damage, gguf_damage, table_damage, worker
from tests.fuzz.formats import FORMATS, Seed, gguf_image
from tests.fuzz.worker import Worker

ROOT = Path(__file__).parents[2]
# Many where the last of 2,000 still come to a refusal that none before came to; "split gguf" and
# "gguf types" are GGUF files once more. To search longer, in an empty folder:
# python -m tests.fuzz.worker FORMAT FOLDER 0 20000
CASES = {name: 600 for name in FORMATS}
CASES |= {"gguf": 2000, "config.json": 2000, "index.json": 1000, "gguf types": 100}
WENT_ON = {"ran", "ran, not finite", "agrees", "differs"}
IN_MEMORY = Path("/dev/shm")


@pytest.fixture
def folder():
    """A new folder, in memory where the system has that: the files are written often."""
    in_memory = IN_MEMORY.is_dir() and os.access(IN_MEMORY, os.W_OK)
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if in_memory else None) as name:
        yield Path(name)


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_end_in_a_model_or_a_sentence(folder, name):
    n = CASES[name]
    line = [sys.executable, "-m", "tests.fuzz.worker", name, str(folder), "0", str(n)]
    try:
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        pytest.fail(f"hangs at case {(folder / 'at').read_text()}")
    at = (folder / "at").read_text() if (folder / "at").exists() else "the start"
    assert done.returncode == 0, f"died at case {at} with {done.returncode}: {done.stderr[-2000:]}"
    said = json.loads(done.stdout)
    assert said["n_offences"] == 0, "\n".join(f"case {n}: {what}" for n, what in said["offences"])
    came = said["came"]
    assert said["cases"] == sum(came.values()) == n
    # the damage is neither so small that all goes on nor so large that nothing gets anywhere
    went_on = sum(count for what, count in came.items() if what in WENT_ON)
    assert 0.1 * n < went_on < 0.9 * n and went_on < n - 20


# ---- the tests of this test ----------------------------------------------------------------------


def offence_of(tmp_path, use, monkeypatch=None):
    """What the worker notes for a file that is used like this."""
    tmp_path.mkdir(exist_ok=True)
    found = Worker("gguf", tmp_path)
    found.case(0, Seed({"x": b"whole"}, "x", lambda rng: {"x": b"", "y": b""}, use), tmp_path)
    assert (tmp_path / "x").read_bytes() == b"whole" and not (tmp_path / "y").exists()
    return found.offences


def refuse(path):
    raise ModelFileError("no_such_file", path=path)


def test_the_worker_lets_models_and_sentences_pass(tmp_path):
    assert offence_of(tmp_path, lambda path: "ran") == []
    assert offence_of(tmp_path, refuse) == []


def warn(path):
    np.float32(3e38) * np.float32(3e38)


def exhaust(path):
    np.ones(250_000_000, np.uint8)
    return "ran"


def panic(path):
    raise type("Panic", (BaseException,), {})


def long_sentence(path):
    raise ModelFileError("broken", path=path * 99, place="x" * 999, reason="x" * 999)


@pytest.mark.parametrize("use", [lambda path: 1 / 0, warn, exhaust, panic, long_sentence])
def test_the_worker_notices_everything_else(tmp_path, use):
    assert len(offence_of(tmp_path, use)) == 1


def test_the_worker_notices_lost_time(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "SECONDS", 0.0)
    assert len(offence_of(tmp_path, lambda path: str(sum(range(10_000))))) == 1


def test_seeds_make_the_same_damage_again():
    whole = gguf_image("llama", {})
    tensors = {"a": ("F32", [2], bytes(8))}
    arrays = {"a": ("<f4", (2,), bytes(8))}
    for n in range(50):
        twice = [random.Random(n), random.Random(n)]
        for make, *content in (
            (damage.damaged_bytes, bytes(99)),
            (damage.damaged_json, '{"a": [1, "b"]}'),
            (gguf_damage.damaged, whole),
            (table_damage.damaged_safetensors, tensors),
            (table_damage.damaged_npz, arrays),
        ):
            one, other = (make(*content, rng) for rng in twice)
            assert one == other
