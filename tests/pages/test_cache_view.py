"""The growing cache on the page: what is sent equals what a run of its own holds; sizes, bounds,
and texts that cannot go on.
"""

import numpy as np
import pytest

import lessons
from core import RunSpec, run
from tests import tiny
from tests.conftest import SMOLLM
from tests.pages import reader

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)


def open_view(**link):
    app = reader.open_page("cache", **link)
    assert not app.exception and not reader.notices(app, "error")
    return app


def strips(app):
    """The figure: its words and its arrays."""
    return next(each for each in reader.figures(app) if "lengths" in each[1])


@EACH_LANGUAGE
def test_the_strips_are_the_cache_of_a_run_of_all_tokens(smollm, lang):
    """The witness runs all tokens at once."""
    app = open_view(lang=lang, layer=7, head=8, kind="values", max_new_tokens=3)
    meta, arrays = strips(app)
    assert (meta["row"], meta["first_position"], len(meta["steps"])) == ([7, 2], 0, 4)
    assert [(s["first"], s["stop"]) for s in meta["steps"]] == [(0, 5), (5, 6), (6, 7), (7, 8)]
    ids = run(RunSpec(SMOLLM, prompt="The capital of France is")).ids
    for _ in range(3):
        ids = (*ids, int(np.argmax(run(RunSpec(SMOLLM, ids=ids)).logits())))
    rows = run(RunSpec(SMOLLM, ids=ids)).cache.values[:, :8]  # [layer, seq, kv_head, head_dim]
    wanted = np.linalg.norm(rows, axis=-1).swapaxes(1, 2)
    np.testing.assert_allclose(arrays["lengths"], wanted, rtol=1e-4)
    np.testing.assert_allclose(arrays["numbers"], rows[7, :, 2], atol=1e-4)
    shown = reader.text(app)
    assert reader.verdict(app) == "equal"
    for part in ("46,080", f"{8 * 46_080:,}", "360.0 MiB", "180.0 MiB", "1.1 GiB", "57,600"):
        assert part in shown


def test_each_step_says_what_it_writes_and_how_much_there_is(smollm):
    meta, _ = strips(open_view())
    first, second = (" ".join([s["title"], *s["lines"]]) for s in meta["steps"][:2])
    assert "450 keys" in first and "230,400 bytes (225.0 KiB)" in first
    assert "90 keys" in second and "276,480 bytes (270.0 KiB)" in second and "45.0 KiB" in second


def test_a_choice_in_the_figure_and_the_number_of_tokens_reach_the_link(smollm):
    app = open_view(at=2)
    assert strips(app)[0]["step"] == 2
    app.number_input(key="grow_tokens").set_value(1).run()
    assert len(strips(app)[0]["steps"]) == 2 and app.session_state["at"] is None
    assert app.query_params["max_new_tokens"] in ("1", ["1"])
    assert strips(app)[0]["step"] == 0


@pytest.mark.parametrize("asked", ["0", "-3", "400", "x", "1e9", "٣"])
def test_what_a_link_asks_for_is_put_right(asked):
    app = open_view(model="nano", prompt="the cat", max_new_tokens=asked, at=99, kind="<b>")
    assert 1 <= app.number_input(key="grow_tokens").value <= 32
    assert strips(app)[0]["step"] == 0 and app.session_state["at"] is None


@pytest.mark.parametrize("prompt", ["a", "\n", "🙂🙂", "the the the", "<b>x</b> [[n]] {value}"])
@EACH_LANGUAGE
def test_any_text(prompt, lang):
    app = open_view(model="nano", prompt=prompt, lang=lang)
    meta, arrays = strips(app)
    n = len(run(RunSpec("nano", prompt=prompt)).ids)
    assert meta["steps"][0]["stop"] == n and len(meta["tokens"]) == arrays["lengths"].shape[2]
    assert reader.verdict(app) == "equal"
    assert not any("<b>x" in part for part in reader.html(app))


def test_of_a_long_text_the_end_is_shown_and_said(smollm):
    app = open_view(prompt="word " * 100, max_new_tokens=2)
    meta, arrays = strips(app)
    n = meta["steps"][-1]["stop"]
    assert n > 100 and meta["first_position"] == n - 64 and arrays["lengths"].shape == (30, 3, 64)
    assert lessons.text("en", "cache.grow.bounded", n=64, n_all=n) in reader.text(app)
    assert f"{n * 46_080:,}" in reader.text(app) and reader.verdict(app) == "equal"


def test_a_single_token(smollm):
    app = open_view(prompt="a")
    assert strips(app)[0]["steps"][0]["stop"] == 1 and reader.verdict(app) == "equal"


def test_chat_mode(smollm):
    app = open_view(mode="chat")
    assert strips(app)[0]["steps"][0]["stop"] > 20 and reader.verdict(app) == "equal"


@EACH_LANGUAGE
def test_a_full_context_ends_the_text(lang, tmp_path, monkeypatch):
    path = tiny.build(tmp_path / "brief.gguf", changed={"llama.context_length": 3})
    monkeypatch.setenv("TOKENWALK_MODELS", path)
    app = open_view(model="brief", prompt="the", lang=lang)
    n = len(strips(app)[0]["steps"]) - 1
    assert n < 8
    said = [lessons.text(lang, f"cache.grow.stop_{why}", n=n) for why in ("context", "end")]
    assert reader.notices(app)[0] in said


@EACH_LANGUAGE
def test_the_answer_compares_with_the_weights(smollm, lang):
    app = open_view(lang=lang)
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    n = -(-smollm.weights.nbytes // 46_080)
    assert f"{n:,}" in shown and n > smollm.config.context
    assert lessons.text(lang, "cache.grow.beyond") in shown


@EACH_LANGUAGE
def test_a_token_whose_numbers_overflow_ends_the_text(lang, tmp_path, monkeypatch):
    arrays = tiny.arrays()
    arrays["output.weight"] = arrays["token_embd.weight"].copy()
    prompt = run(RunSpec(tiny.build(tmp_path / "sound.gguf", tensors=arrays), prompt="the cat"))
    arrays["token_embd.weight"][int(np.argmax(prompt.logits()))] = np.nan
    path = tiny.build(tmp_path / "broken.gguf", tensors=arrays)
    monkeypatch.setenv("TOKENWALK_MODELS", path)
    app = open_view(model="broken", prompt="the cat", lang=lang)
    assert reader.notices(app)[0] == lessons.text(lang, "cache.grow.stop_nonfinite", n=0)
    assert len(strips(app)[0]["tokens"]) == len(prompt.ids)


@EACH_LANGUAGE
def test_keys_of_the_prompt_that_overflow_are_shown_as_what_they_are(lang, tmp_path, monkeypatch):
    """The scores behind them are finite, so the page has a run to show."""
    arrays = tiny.arrays()
    arrays["blk.0.attn_k.weight"] *= np.float32(1e22)  # the squares leave float32
    monkeypatch.setenv("TOKENWALK_MODELS", tiny.build(tmp_path / "broken.gguf", tensors=arrays))
    app = open_view(model="broken", prompt="the cat", lang=lang)
    meta, shown = strips(app)
    assert np.isinf(shown["lengths"][0]).all() and np.isfinite(shown["lengths"][1:]).all()
    assert meta["limits"][0] == shown["lengths"][1:].max()
    assert meta["labels"]["broken"] == lessons.text(lang, "cache.grow.figure.broken")
    assert reader.verdict(app) == "equal"
