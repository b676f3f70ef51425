"""Fetches beside the pages: one per model, seen by all, ended by stop, never left in the list."""

import subprocess
import sys
import textwrap
import threading

import pytest

from core.errors import ModelFileError
from core.files import background

WAIT = 20  # seconds until a test that hangs fails


@pytest.fixture
def fetches(monkeypatch):
    """A fetch that waits for `go` or for its stop, and the names it was begun with."""

    class Fetches(list):
        go, noted = threading.Event(), threading.Event()

        def fetch(self, name, progress, stop):
            self.append(name)
            progress(3, 10)
            self.noted.set()
            while not self.go.wait(0.01):
                if stop():
                    raise ModelFileError("fetch_stopped", name=name)

    fetches = Fetches()
    monkeypatch.setattr(background, "fetch", fetches.fetch)
    yield fetches
    fetches.go.set()
    background.stop_all()


def test_all_who_ask_share_one_fetch_and_its_progress(fetches):
    first, second = background.start("m"), background.start("m")
    assert first is second is background.under_way("m")
    assert fetches.noted.wait(WAIT) and second.progress == (3, 10)
    fetches.go.set()
    first.join(WAIT)
    assert fetches == ["m"] and first.error is None
    assert background.under_way("m") is None


def test_another_model_is_another_fetch(fetches):
    first, second = background.start("m"), background.start("n")
    first.stop()
    first.join(WAIT)
    assert first.error.code == "fetch_stopped" and second.error is None
    assert background.under_way("m") is None and background.under_way("n") is second


def test_after_a_stop_it_can_be_started_again(fetches):
    stopped = background.start("m")
    stopped.stop()
    stopped.join(WAIT)
    again = background.start("m")
    assert again is not stopped and again.error is None
    fetches.go.set()
    again.join(WAIT)
    assert again.error is None and fetches == ["m", "m"]


def test_before_the_first_byte_there_is_no_progress(monkeypatch):
    monkeypatch.setattr(background, "fetch", lambda name, progress, stop: progress(0, 10))
    download = background.start("m")
    download.join(WAIT)
    assert download.progress is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_fetch_that_breaks_is_not_under_way_for_ever(monkeypatch):
    monkeypatch.setattr(background, "fetch", lambda name, progress, stop: 1 / 0)
    background.start("m").join(WAIT)
    assert background.under_way("m") is None


def test_a_program_that_ends_stops_its_fetches_first(tmp_path):
    program = f"""
        import pathlib, time
        from core.files import background
        def fetch(name, progress, stop):
            progress(1, 2)
            while not stop():
                time.sleep(0.01)
            pathlib.Path({str(tmp_path / "cleaned")!r}).touch()
        background.fetch = fetch
        download = background.start("m")
        while not download.progress:
            time.sleep(0.01)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)
    assert (tmp_path / "cleaned").exists()
