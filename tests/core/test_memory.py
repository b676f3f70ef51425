"""How much memory may still be taken: the system's own files, written small; and a real limit."""

import subprocess
import sys
import textwrap

import pytest

from core.errors import ModelFileError
from core.files import memory

GB = 10**9


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_this_machine_says_something():
    assert 0 < memory.available() < 1 << 50


def test_what_the_machine_has_left(tmp_path):
    lines = "MemTotal:       8000 kB\nMemFree:  1 kB\nMemAvailable:   3000 kB\n"
    (tmp_path / "meminfo").write_text(lines)
    assert memory._of_linux(tmp_path) == 3000 * 1024
    assert memory._of_linux(tmp_path / "nothing") is None


def groups(tmp_path, cgroup, files):
    """The room of a process in these control groups; files by their path."""
    for path, text in {"proc/self/cgroup": cgroup, **files}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return memory._of_groups(tmp_path / "proc", tmp_path / "sys")


def test_the_narrowest_group_counts_and_file_caches_do_not(tmp_path):
    files = {
        "sys/a/b/memory.max": "9000\n",
        "sys/a/b/memory.current": "1000\n",
        "sys/a/memory.max": "5000\n",
        "sys/a/memory.current": "2000\n",
        "sys/a/memory.stat": "anon 1700\ninactive_file 300\n",
        "sys/memory.max": "max\n",
        "sys/memory.current": "1\n",
    }
    assert groups(tmp_path, "0::/a/b\n", files) == 5000 - 2000 + 300


def test_groups_of_version_1(tmp_path):
    files = {
        "sys/memory/docker/memory.limit_in_bytes": "7000",
        "sys/memory/docker/memory.usage_in_bytes": "500",
        "sys/memory/docker/memory.stat": "total_inactive_file 100\n",
        "sys/memory/memory.limit_in_bytes": "9223372036854771712",
        "sys/memory/memory.usage_in_bytes": "1",
    }
    assert groups(tmp_path, "5:cpu,cpuacct:/x\n4:memory:/docker\n", files) == 6600


def test_a_container_sees_its_own_group_as_the_root(tmp_path):
    files = {"sys/memory.max": "4000", "sys/memory.current": "1000"}
    assert groups(tmp_path, "0::/../outside/of/it\n", files) == 3000


def test_no_limit_is_none(tmp_path):
    files = {"sys/a/memory.max": "max", "sys/a/memory.current": "1000"}
    assert groups(tmp_path, "0::/a\n", files) is None
    assert groups(tmp_path, "", {}) is None


@pytest.mark.parametrize(
    ("known", "least"), [((5, 3, 4), 3), ((None, 7, None), 7), ((None,) * 3, None), ((5, -1, 9), 0)]
)
def test_the_least_of_what_is_known(monkeypatch, known, least):
    for name, value in zip(("machine", "groups", "address_space"), known, strict=True):
        monkeypatch.setattr(memory, f"_of_{name}", lambda value=value: value)
    assert memory.available() == least


def test_more_than_there_is_is_refused_with_both_numbers(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 3 * GB)
    memory.check("m", 3 * GB)
    with pytest.raises(ModelFileError) as caught:
        memory.check("/models/m", 3 * GB + 1)
    assert caught.value.code == "too_large" and caught.value.params["file"] == "m"
    assert "3001 MB" in str(caught.value) and "3000 MB are free" in str(caught.value)


def test_where_nothing_is_known_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: None)
    memory.check("m", 1 << 60)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_limit_on_the_address_space_is_seen():
    program = """
        import mmap, resource, sys
        from core.files import memory
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        limit = 3_000_000_000 if hard == resource.RLIM_INFINITY else min(3_000_000_000, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        before = memory._of_address_space()
        assert memory.available() <= before
        assert 0 < before < 3_000_000_000, before
        held = mmap.mmap(-1, 500_000_000)
        left = memory._of_address_space()
        assert 499_000_000 < before - left < 510_000_000, (before, left)
        mmap.mmap(-1, left - 10_000_000).close()
        try:
            mmap.mmap(-1, left + 10_000_000)
        except OSError:
            sys.exit(0)
        sys.exit("more than was said")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=60)
