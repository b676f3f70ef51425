"""A fetch from the Hub that ends early: what has arrived is kept, what is wrong is thrown away."""

import subprocess
import sys
import threading
import time

import pytest

from core.errors import ModelFileError
from core.files import client
from core.files.fetch import fetch
from core.files.registry import path_of
from tests.core.hub.conftest import FILES, NAME, SMALL, WAIT, WEIGHTS, content, failure, parts
from tests.stub_hub import Mood, Repo


def test_a_connection_that_breaks_goes_on_where_it_ended(served):
    served.moods["model.safetensors"] = [Mood(cut=300_000), Mood(cut=500_000)]
    assert content(fetch(NAME)) == FILES
    assert served.asked("model.safetensors") == ["", "bytes=300000-", "bytes=800000-"]


def test_what_arrived_is_kept_for_the_next_fetch(served, home):
    served.moods["model.safetensors"] = [Mood(cut=300_000)] + [Mood(cut=0)] * len(client.PAUSES)
    error = failure()
    assert error.code == "hub_offline" and served.url in str(error)
    assert parts(home) == {"model": 300_000} and content(path_of(NAME)) == SMALL
    served.requests.clear()
    seen = []
    fetch(NAME, progress=lambda done, total: seen.append(done))
    assert (
        served.asked("model.safetensors") == ["bytes=300000-"] and content(path_of(NAME)) == FILES
    )
    assert seen[0] == sum(map(len, SMALL.values())) + 300_000


def test_a_server_that_knows_no_ranges_begins_again(served):
    served.moods["model.safetensors"] = [Mood(cut=300_000), Mood(whole=True)]
    assert content(fetch(NAME)) == FILES


def test_a_part_that_the_server_cannot_go_on_from_is_not_kept(served, home):
    served.moods["model.safetensors"] = [Mood(cut=300_000), Mood(status=416)]
    assert failure().code == "hub_failed" and parts(home) == {}
    assert content(fetch(NAME)) == FILES


def test_a_server_that_never_gets_further_is_given_up(served):
    served.moods["model.safetensors"] = [Mood(cut=300_000, whole=True)] * 50
    assert failure().code == "hub_offline"
    assert len(served.asked("model.safetensors")) == 1 + len(client.PAUSES)


def test_a_failure_that_passes(served):
    served.moods["model.safetensors"] = [Mood(status=503), Mood(status=429)]
    assert content(fetch(NAME)) == FILES


def test_a_failure_that_does_not_pass(served, home):
    served.moods["model.safetensors"] = [Mood(status=500)] * 9
    error = failure()
    assert error.code == "hub_failed" and "HTTP 500 Internal Server Error" in str(error)
    assert content(path_of(NAME)) == SMALL


@pytest.mark.parametrize("file", ["model.safetensors", "config.json"])  # sha256, git
@pytest.mark.parametrize("change", [b"X", b"XX"])  # of the right size, and longer
def test_what_is_not_the_listed_file_is_thrown_away(served, home, file, change):
    served.moods[file] = [Mood(instead=change + FILES[file][1:])]
    error = failure()
    assert error.code == "hub_wrong_hash" and error.params["file_name"] == file
    assert not (path_of(NAME) / file).exists()
    assert parts(home) == {}
    assert content(fetch(NAME)) == FILES


def test_a_file_that_does_not_end_does_not_fill_the_disk(served, home):
    served.moods["model.safetensors"] = [Mood(instead=WEIGHTS * 50)]
    sizes = []
    error = failure(stop=lambda: sizes.append(parts(home).get("model", 0)))
    assert error.code == "hub_wrong_hash" and max(sizes) < 2 * len(WEIGHTS)


def test_a_part_of_another_version_is_not_gone_on_with(served, home):
    served.moods["model.safetensors"] = [Mood(cut=300_000)] + [Mood(cut=0)] * len(client.PAUSES)
    failure()
    served.repos[NAME] = Repo(FILES | {"model.safetensors": WEIGHTS[::-1]})
    assert content(fetch(NAME))["model.safetensors"] == WEIGHTS[::-1]
    assert parts(home) == {}


def test_stopped_then_gone_on_with(served, home):
    served.moods["model.safetensors"] = [Mood(cut=600_000, wait=threading.Event())]
    error = failure(stop=lambda: parts(home).get("model", 0) > 0)
    assert error.code == "hub_stopped"
    arrived = parts(home)["model"]
    assert 0 < arrived <= 600_000
    assert content(fetch(NAME)) == FILES
    assert served.asked("model.safetensors")[-1] == f"bytes={arrived}-"


def test_an_interrupt_is_a_stop(served):
    def press_control_c(done, total):
        raise KeyboardInterrupt

    assert failure(progress=press_control_c).code == "hub_stopped"


def test_a_terminated_command_keeps_what_arrived(served, home):
    never = threading.Event()
    served.moods["model.safetensors"] = [Mood(cut=600_000, wait=never)]
    command = [sys.executable, "-m", "core", "fetch", NAME]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and parts(home).get("model", 0) < 600_000:
        time.sleep(0.02)
    process.terminate()
    said = process.communicate(timeout=60)[1]
    never.set()
    assert process.returncode == 2 and said.startswith(f"Fetching {NAME} was stopped"), said
    assert parts(home) == {"model": 600_000}


def test_two_fetches_at_once_load_each_byte_once(served):
    go = threading.Event()
    served.moods["model.safetensors"] = [Mood(cut=100_000, wait=go)]
    paths = []
    threads = [threading.Thread(target=lambda: paths.append(fetch(NAME))) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)  # both are under way
    go.set()
    for thread in threads:
        thread.join(WAIT)
    assert paths == [path_of(NAME)] * 2 and content(path_of(NAME)) == FILES
    assert served.asked("model.safetensors") == ["", "bytes=100000-"]


def test_one_that_waits_for_another_can_be_stopped(served, home):
    go = threading.Event()
    served.moods["model.safetensors"] = [Mood(cut=100_000, wait=go)]
    first = threading.Thread(target=fetch, args=(NAME,))
    first.start()
    while not parts(home):
        time.sleep(0.02)
    with pytest.raises(ModelFileError) as caught:
        fetch(NAME, stop=lambda: True)
    assert caught.value.code == "hub_stopped"
    go.set()
    first.join(WAIT)
    assert content(path_of(NAME)) == FILES
