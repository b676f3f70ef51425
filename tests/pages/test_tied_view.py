"""The last vector against the rows of candidates, on the page."""

import numpy as np
import pytest

import lessons
from core import RunSpec, run
from tests.families import build_gguf
from tests.pages import reader

PROMPT = "The capital of France is"
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)


def open_view(**link):
    return reader.open_page("embedding", **{"prompt": PROMPT, "op": "tied"} | link)


@pytest.fixture(scope="module")
def trace(smollm):
    return run(RunSpec("smollm2-135m-instruct", prompt=PROMPT))


@pytest.mark.parametrize("pos, cell", [(4, None), (4, 7042), (2, 0), (0, 49151)])
def test_the_dot_product_is_that_of_vector_and_row(pos, cell, trace):
    app = open_view(pos=pos, **({} if cell is None else {"cell": cell}))
    id = int(np.argmax(trace.logits(pos))) if cell is None else cell
    x, row = trace.read("final_norm")[pos].astype(float), trace.model.weights.embed[id]
    logit = f"{x @ row:.4f}".replace("-", "−")
    said = f"(id {id}): dot product {logit}"
    assert said in reader.text(app) and reader.verdict(app) == "equal"


def test_the_winners_are_those_of_the_whole_table(trace):
    table, x = trace.model.weights.embed.astype(float), trace.read("final_norm")[4].astype(float)
    cosines = table @ x / np.linalg.norm(table, axis=1) / np.linalg.norm(x)
    display = trace.model.tokenizer.display
    app = open_view(pos=4)
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    assert (
        f"By dot product {display(int(np.argmax(table @ x)))} wins, with {(table @ x).max():.4f}"
        in shown
    )
    assert f"By cosine {display(int(np.argmax(cosines)))} wins, with {cosines.max():.4f}" in shown


@pytest.mark.parametrize("family, tied", [("qwen2", True), ("llama", False)])
def test_it_says_whether_the_model_ties(family, tied, tmp_path, monkeypatch):
    monkeypatch.setenv("TOKENWALK_MODELS", str(build_gguf(tmp_path / f"{family}.gguf", family)))
    app = open_view(model=family, prompt="the cat")
    assert (
        lessons.view("en", "embedding.tied", ()).idea.split("\n\n")[1] in reader.text(app)
    ) == tied
    names = [meta["name"] for meta in reader.canvases(app) if "rows" in meta]
    assert names == ["final_norm", "embed"] if tied else ["final_norm", "head", "embed"]
    begins = "Tied: the table" if tied else "Not tied: the output matrix"
    assert any(reader.plain(part).startswith(begins) for part in reader.html(app))


@pytest.mark.parametrize("link", [
    {"prompt": "<b>bold</b> $x$ **y**"}, {"prompt": "x"}, {"prompt": "\n"}, {"prompt": "👨‍👩‍👧"},
    {"cell": 49152}, {"cell": 999_999_999}, {"cell": "-1"}, {"pos": 99},
])  # fmt: skip
def test_whatever_a_link_says(link, smollm):
    app = open_view(**link)
    assert not app.exception and not reader.notices(app, "error")
    assert reader.verdict(app) == "equal"
    assert "<b>bold" not in "".join(reader.html(app))
    assert "bold" not in "\n".join(value.value for value in (*app.markdown, *app.caption))
    assert app.session_state["cell"] is None
