"""The figures of a norm: what stands there equals what the run recorded, in every kind of norm."""

import os
import re

import numpy as np
import pytest

import lessons
from core import RunSpec, open_model, run
from tests.conftest import SMOLLM
from tests.families import build_gguf
from tests.pages import reader

PROMPT = "The capital of France is"
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)


@pytest.fixture(scope="module")
def trace(smollm):
    return run(RunSpec(SMOLLM, prompt=PROMPT))


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("norms")
    names = ("gpt2", "olmo2", "gemma3")
    return {name: build_gguf(folder / f"{name}.gguf", name) for name in names}


def page(**link):
    return reader.open_page("block", **{"prompt": PROMPT, "layer": 29, "op": "attn_norm"} | link)


@pytest.fixture
def small(paths, monkeypatch):
    """Opens a step of a family's model; and a run of it."""
    monkeypatch.setenv("TOKENWALK_MODELS", os.pathsep.join(paths.values()))

    def opened(family, **link):
        open_model(paths[family])
        here = {"model": family, "prompt": "the cat and the dog", "layer": 1}
        return page(**here | link), run(RunSpec(paths[family], prompt=here["prompt"]))

    return opened


def strips(app):
    """The figures of the step: their names, and the column that is chosen in each."""
    found = [meta for meta in reader.canvases(app) if meta.get("row_title") is not None]
    return [(reader.shown(meta), meta["selected"] and meta["selected"][1]) for meta in found]


def verdicts(app):
    return re.findall(r'data-verdict="(\w+)"', "".join(reader.html(app)))


def said(language, key):
    return reader.pieces(lessons.loader._table(language, "ui")[f"block.norm.{key}"])


def shown(value, digits=4):
    return f"{value:.{digits}f}".replace("-", "−")


@EACH_LANGUAGE
def test_the_scale_and_the_number_that_sets_it(language, trace):
    app, x = page(lang=language, pos=1), trace.read("resid_pre", 29)[1].astype(float)
    assert not app.exception and verdicts(app) == ["equal", "equal"]
    text, square = reader.text(app), (x**2).mean()
    for value in (square, square**0.5, (square + 1e-5) ** -0.5, 1.0):
        assert shown(value) in text
    share = x[17] ** 2 / (x**2).sum()
    assert share > 0.5 and f"{share:.1%}" in text
    factor = ((x**2).sum() / ((x**2).sum() - x[17] ** 2)) ** 0.5
    assert all(part in text for part in said(language, "alone"))
    assert shown(factor, 2) in text
    other = reader.text(page(lang=language, pos=1, layer=0))  # no number has half of the squares
    assert all(part in other for part in said(language, "several"))
    assert not all(part in other for part in said(language, "alone"))


def test_the_row_before_between_and_after_column_below_column(trace):
    app = page(pos=2, cell=100)
    names = ["resid_pre", "standard", "attn_norm", "attn_norm"]  # the weight bears the op's name
    assert strips(app) == [(name, 100) for name in names]
    x, w = trace.read("resid_pre", 29)[2, 100], trace.model.weights.layers[29].attn_norm[100]
    scale = (np.square(trace.read("resid_pre", 29)[2].astype(float)).mean() + 1e-5) ** -0.5
    after = trace.read("attn_norm", 29)[2, 100]
    line = " × ".join(map(shown, (x, scale, w))) + f" = {shown(after)}"
    assert line in reader.text(app)


def test_all_positions_have_a_scale_each(trace):
    app = page(together=1, pos=1)
    (rows,) = [part for part in reader.html(app) if 'data-position="0"' in part]
    lines = re.findall(r"<tr.*?</tr>", rows.split("<tbody>")[1])
    assert len(lines) == 5 and ["tw-here" in line for line in lines].index(True) == 1
    x, after = (trace.read(op, 29).astype(float) for op in ("resid_pre", "attn_norm"))
    for line, before, out in zip(lines, x, after, strict=True):
        root = (before**2).mean() ** 0.5
        for value in (root, 1 / root, 1.0, (out**2).mean() ** 0.5):
            assert shown(value, 2 if value >= 10 else 4) in line
    assert verdicts(app) == ["equal"]  # the explained number alone


def test_a_mean_is_taken_off_and_a_bias_added(small):
    app, trace = small("gpt2", op="mlp_norm", pos=2, cell=7)
    assert verdicts(app) == ["equal", "equal"]
    assert [name for name, _ in strips(app)][:2] == ["resid_mid", "standard"]
    assert strips(app)[-2:] == [("mlp_norm_bias", 7), ("mlp_norm", 7)]
    x = trace.read("resid_mid", 1)[2].astype(float)
    text = reader.text(app)
    for value in (x.mean(), x.var(), x.std(), (x.var() + 1e-5) ** -0.5):
        assert shown(value) in text
    assert all(part in text for part in said("en", "variance"))
    assert not all(part in text for part in said("en", "without"))
    assert not re.search(r"[−+] −\d", text)


def test_all_heads_as_one_row(small):
    app, trace = small("olmo2", op="attn.q_norm", pos=2, head=3, cell=5)
    names = ["attn.q", "standard", "attn_q_norm", "attn.q_norm"]
    assert strips(app) == list(zip(names, (3 * 8 + 5,) * 3 + (5,), strict=True))
    square = (trace.read("attn.q", 1)[2].astype(float) ** 2).mean()
    assert shown(square) in reader.text(app) and verdicts(app) == ["equal", "equal"]
    first = int(np.argmax(np.abs(trace.read("attn.q", 1)[2])))  # of all heads side by side
    head, dim = divmod(first, 8)
    assert f"<b>{head} · {dim} [{first}]</b>" in "".join(reader.html(app))


def test_a_norm_of_each_head(small):
    app, trace = small("gemma3", op="attn.k_norm", pos=2, head=3)  # reads key/value head 1
    square = (trace.read("attn.k", 1)[2, 1].astype(float) ** 2).mean()
    assert shown(square) in reader.text(app) and verdicts(app) == ["equal", "equal"]


@pytest.mark.parametrize("link", [{"prompt": "x"}, {"prompt": "<b>a</b>\n🙂"}, {"together": 1}])
def test_any_text(link, smollm):
    app = page(**link)
    assert not app.exception and set(verdicts(app)) == {"equal"}
    assert "<b>a</b>" not in "".join(reader.html(app))


@EACH_LANGUAGE
def test_a_pointed_at_number_is_named_by_what_its_row_and_column_are(language, smollm):
    app = page(lang=language, op="attn_norm")
    texts = {key: lessons.text(language, f"matrix.{key}") for key in ("tooltip", "tooltip_column")}
    of_token = texts["tooltip"].replace("{row}", "{row} ({row_index})")  # tokens may be equal
    drawn = [meta for meta in reader.canvases(app) if meta.get("row_title") is not None]
    said = {meta["row_title"]: meta["labels"]["tooltip"] for meta in drawn}
    assert said == {lessons.text(language, "axes.seq"): of_token, "": texts["tooltip_column"]}
