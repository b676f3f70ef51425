"""The figures of the stream and of what is added to it: numbers of the run, sentences that fit."""

import re

import numpy as np
import pytest

import lessons
from core import RunSpec, run
from tests.conftest import SMOLLM
from tests.families import build_gguf
from tests.pages import reader

PROMPT = "The capital of France is"
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)


@pytest.fixture(scope="module")
def trace(smollm):
    return run(RunSpec(SMOLLM, prompt=PROMPT))


def page(**link):
    return reader.open_page("block", **{"prompt": PROMPT, "layer": 23, "op": "resid_mid"} | link)


def figures(app):
    return [meta for meta in reader.canvases(app) if meta.get("row_title") is not None]


def verdicts(app):
    return re.findall(r'data-verdict="(\w+)"', "".join(reader.html(app)))


def says(app, language, key):
    pieces = reader.pieces(lessons.loader._table(language, "ui")[f"block.{key}"])
    return all(piece in reader.text(app) for piece in pieces)


def shown(value, digits=3):
    return f"{value:.{digits}f}".replace("-", "−")


def length(x):
    return np.linalg.norm(x.astype(float), axis=-1)


@EACH_LANGUAGE
def test_before_change_and_after_stand_on_one_scale(language, trace):
    app = page(lang=language, pos=4, cell=30)
    drawn = figures(app)
    assert [reader.shown(meta) for meta in drawn] == ["resid_pre", "attn.out", "resid_mid"]
    assert [meta["selected"] for meta in drawn] == [[0, 30]] * 3
    each = [trace.read(op, 23)[4] for op in ("resid_pre", "attn.out", "resid_mid")]
    most = max(float(np.abs(x).max()) for x in each)
    assert [meta["limit"] for meta in drawn] == [most] * 3
    assert all(shown(length(x)) in reader.text(app) for x in each)
    assert verdicts(app) == ["equal", "equal"]


@pytest.mark.parametrize("op, added, layer, pos", [
    ("resid_mid", "attn.out", 23, 4), ("resid_mid", "attn.out", 0, 3),
    ("resid_post", "mlp.out", 23, 3), ("resid_post", "mlp.out", 0, 1),
    ("resid_post", "mlp.out", 23, 4),
])  # fmt: skip
def test_the_sentences_fit_the_numbers(op, added, layer, pos, trace):
    before, change, after = (
        trace.read(name, layer)[pos].astype(float)
        for name in ({"resid_mid": "resid_pre", "resid_post": "resid_mid"}[op], added, op)
    )
    ratio = length(change) / length(before)
    cosine = change @ before / length(change) / length(before)
    app = page(op=op, layer=layer, pos=pos)
    sizes = {key: says(app, "en", f"residual.{key}") for key in ("longer", "shorter")}
    assert sizes == {"longer": ratio > 1, "shorter": ratio < 1}
    fits = {"across": abs(cosine) < 0.1, "with": cosine >= 0.1, "against": cosine <= -0.1}
    assert {key: says(app, "en", f"residual.{key}") for key in fits} == fits
    kept = after @ before / length(after) / length(before)
    assert all(shown(value) in reader.text(app) for value in (ratio, cosine, kept))
    assert not says(app, "en", "residual.parallel")


def test_the_largest_changes_come_first(trace):
    app = page(op="resid_post", pos=4)
    change = trace.read("mlp.out", 23)[4]
    order = np.argsort(-np.abs(change))[:5]
    (table,) = [part for part in reader.html(app) if "<td>= 231.76" in part]  # in dimension 507
    first = [int(n) for n in re.findall(r"<tr[^>]*><td>(\d+)</td>", table)]
    assert first == order.tolist() and first[0] == 507


def test_the_lengths_of_all_tokens(trace):
    app = page(together=1)
    (table,) = [part for part in reader.html(app) if 'data-position="0"' in part]
    lines = re.findall(r"<tr.*?</tr>", table.split("<tbody>")[1])
    each = [length(trace.read(op, 23)) for op in ("resid_pre", "attn.out", "resid_mid")]
    assert len(lines) == 5
    for n, line in enumerate(lines):
        values = [x[n] for x in (*each, each[1] / each[0])]
        assert all(shown(value, 2 if value >= 10 else 3) in line for value in values)


@EACH_LANGUAGE
def test_what_a_stream_is_made_of(language, trace):
    app = page(op="resid_pre", lang=language, pos=4)
    (table,) = [part for part in reader.html(app) if "tw-parts" in part]
    lines = re.findall(r"<tr.*?</tr>", table.split("<tbody>")[1])
    assert len(lines) == 24  # the embedding and layers 0 to 22
    here = trace.stream[23, 4].astype(float)
    for layer in (0, 22):
        part = trace.stream[layer + 1, 4].astype(float) - trace.stream[layer, 4]
        assert shown(length(part), 2) in lines[layer + 1]
        assert f"{part @ here / (here @ here):.1%}" in lines[layer + 1]
    assert says(app, language, "stream.most_layer") and "100.0%" in reader.text(app)
    assert shown(length(trace.read("mlp.out", 22)[4]), 2) in reader.text(app)
    assert verdicts(app) == ["equal", "equal"]


def test_the_first_layer_receives_the_embedding():
    app = page(op="resid_pre", layer=0)
    assert says(app, "en", "stream.first")
    assert [reader.shown(meta) for meta in figures(app)] == ["resid_pre", "embed"]


def test_how_long_every_stream_has_become(trace):
    app = page(op="resid_pre", together=1)
    (table,) = [part for part in reader.html(app) if 'data-position="0"' in part]
    for start, here in zip(length(trace.stream[0]), length(trace.stream[23]), strict=True):
        assert shown(start) in table and shown(here, 2) in table


def test_the_row_of_an_id(trace):
    app = page(op="embed", layer=0, pos=3)
    assert says(app, "en", "stream.row") and says(app, "en", "stream.row_checked")
    assert "576 of 576" in reader.text(app) and verdicts(app) == ["equal", "equal"]
    row = trace.model.weights.embed[trace.ids[3]]
    assert shown(length(row)) in reader.text(app)


@pytest.mark.parametrize("family, op, layer, names, sentence", [
    ("gpt_neox", "resid_post", 1, ["resid_mid", "mlp.out", "resid_post"], "residual.parallel"),
    ("gpt2", "pos_embed", 0, ["embed", "pos_embed", "pos_embed"], "residual.kept"),
    ("gemma2", "embed_scaled", 0, ["embed", "embed_scaled"], "stream.times"),
    ("gemma2", "resid_mid", 1, ["resid_pre", "attn.post_norm", "resid_mid"], "residual.kept"),
])  # fmt: skip
def test_other_families(family, op, layer, names, sentence, tmp_path, monkeypatch):
    monkeypatch.setenv("TOKENWALK_MODELS", str(build_gguf(tmp_path / f"{family}.gguf", family)))
    link = {"model": family, "prompt": "the cat and the cat", "op": op, "layer": layer, "pos": 2}
    app = page(**link)
    assert not app.exception and says(app, "en", sentence)
    assert [reader.shown(meta) for meta in figures(app)] == names
    assert set(verdicts(app)) == {"equal"}
    together = page(**link, together=1)
    assert not together.exception and not re.search(r"[−+] −\d|nan", reader.text(app))


@pytest.mark.parametrize("link", [{"prompt": "x"}, {"prompt": "<b>a</b>\n🙂"}])
@pytest.mark.parametrize("op", ["resid_pre", "resid_mid"])
def test_any_text(link, op, smollm):
    for together in ({}, {"together": 1}):
        app = page(op=op, **link, **together)
        assert not app.exception and set(verdicts(app)) == {"equal"}
        assert "<b>a</b>" not in "".join(reader.html(app))
