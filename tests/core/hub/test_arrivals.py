"""What a fetch from the Hub brings, with the Hub's real client, and what it sends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core import open_model
from core.files.fetch import fetch
from core.files.registry import fetched, on_disk, path_of
from tests.core.hub.conftest import FILES, NAME, WEIGHTS, content, failure, hidden
from tests.families import build_folder, build_gguf
from tests.stub_hub import MEMBER, Repo


def test_only_the_files_of_the_model_arrive(served):
    folder = fetch(NAME)
    assert folder == path_of(NAME) and content(folder) == FILES
    assert on_disk(NAME) and fetched() == [NAME] and hidden(folder) == []
    asked = {path.rpartition("/")[2] for _, path, _ in served.requests}
    assert asked == FILES.keys() | {"tiny"}


def test_a_short_name_and_the_hubs_name_are_one_model(served):
    served.repos["HuggingFaceTB/SmolLM2-135M"] = Repo(FILES)
    assert fetch("smollm2-135m") == path_of("HuggingFaceTB/SmolLM2-135M")
    assert on_disk("smollm2-135m") and on_disk("HuggingFaceTB/SmolLM2-135M") and fetched() == []


def test_all_requests_are_for_the_commit_that_was_listed(served):
    fetch(NAME)
    resolved = [path for _, path, _ in served.requests if "/resolve/" in path]
    assert len(resolved) == len(FILES)
    assert all(f"/resolve/{served.repos[NAME].commit}/" in path for path in resolved)


def test_nothing_else_is_sent(served, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", MEMBER)
    fetch(NAME)
    for method, path, headers in served.requests:
        assert method == "GET" and path.startswith(("/api/models/someone/tiny", "/someone/tiny/"))
        assert "torch" not in headers["user-agent"] and "agent/" not in headers["user-agent"]
        to_the_hub = "/api/" in path or "/resolve/" in path
        assert ("authorization" in headers) is to_the_hub, path  # the CDN is another host


def test_what_is_there_is_kept_without_the_network(served):
    fetch(NAME)
    served.requests.clear()
    assert fetch(NAME) == path_of(NAME) and served.requests == []


def test_the_parts_of_weights_come_with_their_index_and_no_other_copy(served):
    parts = {f"model-{n:05d}-of-00002.safetensors": b"%d" % n * 99 for n in (1, 2)}
    index = {"model.safetensors.index.json": b"{}"}
    files = {"config.json": b"{}"} | parts | index
    served.repos[NAME] = Repo(files | {"consolidated.safetensors": b"again"})
    assert content(fetch(NAME)) == files


def test_progress_counts_all_bytes_up_to_the_total(served):
    seen = []
    fetch(NAME, progress=lambda done, total: seen.append((done, total)))
    total = sum(map(len, FILES.values()))
    assert {t for _, t in seen} == {total} and seen[-1] == (total, total)
    assert [n for n, _ in seen] == sorted(n for n, _ in seen)


def test_the_receipt_says_where_it_came_from(served):
    receipt = json.loads((fetch(NAME) / "fetched.json").read_text())
    assert receipt["name"] == NAME and receipt["commit"] == served.repos[NAME].commit
    assert (receipt["licence"], receipt["n_parameters"]) == ("apache-2.0", 1000)
    assert {f["path"]: f["nbytes"] for f in receipt["files"]} == {p: len(FILES[p]) for p in FILES}


def test_a_damaged_file_is_fetched_again_and_nothing_else(served):
    folder = fetch(NAME)
    (folder / "model.safetensors").write_bytes(b"X" + WEIGHTS[1:])
    served.requests.clear()
    assert content(fetch(NAME)) == FILES
    assert len([path for _, path, _ in served.requests if "/resolve/" in path]) == 1


def test_a_later_commit_replaces_what_it_changes(served):
    folder = fetch(NAME)
    (folder / "config.json").unlink()
    served.repos[NAME] = Repo(
        {"config.json": b"{ }", "model.safetensors": WEIGHTS}, commit="b" * 40
    )
    assert content(fetch(NAME)) == served.repos[NAME].files
    assert json.loads((folder / "fetched.json").read_text())["commit"] == "b" * 40


def test_the_client_is_imported_only_to_fetch():
    program = "import sys, core, core.files.fetch, core.files.background, core.__main__\n"
    program += "sys.exit(any(m in sys.modules for m in ('huggingface_hub', 'httpx2')))"
    assert subprocess.run([sys.executable, "-c", program], timeout=120).returncode == 0


def test_a_receipt_that_is_not_ours_is_none(served):
    folder = fetch(NAME)
    good = (folder / "fetched.json").read_text()
    for bad in ["", "[]", "{", good.replace(NAME, "a/b"), good.replace("config.json", "../x")]:
        (folder / "fetched.json").write_text(bad)
        assert not on_disk(NAME) and fetched() == []
    (folder / "fetched.json").write_text(good)
    assert on_disk(NAME)
    os.truncate(folder / "config.json", 1)
    assert not on_disk(NAME)


# --- GGUF


GGUFS = {"tiny.Q8_0.gguf": b"GGUF8" * 9, "q4/tiny.Q4_0.gguf": b"GGUF4" * 5}
GGUFS |= {f"big-{n:05d}-of-00003.gguf": b"GGUF%d" % n * 99 for n in (1, 2, 3)}


def test_a_repository_of_gguf_files_says_which_there_are(served):
    served.repos[NAME] = Repo(GGUFS)
    error = failure()
    assert error.code == "hub_gguf" and f"fetch {NAME}/q4/tiny.Q4_0.gguf" in str(error)
    assert "tiny.Q8_0.gguf (1 MB)" in str(error) and "big-00001-of-00003.gguf" in str(error)
    assert "big-00002" not in str(error)


@pytest.mark.parametrize("file", ["tiny.Q8_0.gguf", "q4/tiny.Q4_0.gguf"])
def test_one_gguf_file_is_fetched_by_its_name(served, file):
    served.repos[NAME] = Repo(FILES | GGUFS)
    path = fetch(f"{NAME}/{file}")
    assert path == path_of(f"{NAME}/{file}") and path.read_bytes() == GGUFS[file]
    assert len(content(path.parent)) == 1 and fetched() == [f"{NAME}/{file}"]
    assert not on_disk(NAME)  # the folder of safetensors is another model


def test_any_part_of_a_split_file_stands_for_all(served):
    served.repos[NAME] = Repo(GGUFS)
    path = fetch(f"{NAME}/big-00002-of-00003.gguf")
    assert path.name == "big-00001-of-00003.gguf" and len(content(path.parent)) == 3
    assert on_disk(f"{NAME}/big-00003-of-00003.gguf")
    assert fetched() == [f"{NAME}/big-00001-of-00003.gguf"]


@pytest.mark.parametrize("missing", ["nothing.gguf", "big-00001-of-00004.gguf"])
def test_a_gguf_file_that_is_not_there(served, missing):
    served.repos[NAME] = Repo(GGUFS)
    error = failure(f"{NAME}/{missing}")
    assert error.code == "hub_no_file" and "tiny.Q8_0.gguf" in str(error)


# --- then it opens


def test_what_was_fetched_opens_by_its_name_without_the_network(served, tmp_path, monkeypatch):
    folder, file = build_folder(tmp_path / "f", "qwen2"), build_gguf(tmp_path / "f.gguf", "qwen2")
    files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    served.repos["Qwen/Qwen2.5-0.5B-Instruct"] = Repo(files | {"f.gguf": Path(file).read_bytes()})
    for name in ("qwen2.5-0.5b-instruct", "Qwen/Qwen2.5-0.5B-Instruct/f.gguf"):
        fetch(name)
    served.requests.clear()
    from_folder = open_model("qwen2.5-0.5b-instruct")
    assert open_model("Qwen/Qwen2.5-0.5B-Instruct") is from_folder
    from_file = open_model("Qwen/Qwen2.5-0.5B-Instruct/f.gguf")
    assert from_file.source.format == "gguf" and from_folder.source.format == "safetensors"
    assert from_file.weights.nbytes == from_folder.weights.nbytes and served.requests == []
