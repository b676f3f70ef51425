"""The ranking after a position, the checks of a run, the reading of a text, one more round."""

from dataclasses import replace

import numpy as np
import pytest

from core import RunSpec, generate, open_model, run
from core.analyse.check import REFERENCE_IDS, checks, reference_check
from core.analyse.output import candidate, guess, rank_of_text
from core.analyse.overview import overview
from core.analyse.pieces import holds_marker, reading
from core.model.tap import Edit
from tests.core.conftest import EACH_CASE
from tests.families import build_gguf
from tests.vocabularies import sentencepiece

MODEL = "smollm2-135m-instruct"
FRANCE = "The capital of France is"


@pytest.fixture(scope="module")
def france(smollm):
    return run(RunSpec(MODEL, prompt=FRANCE))


def test_the_ranking_after_france(france):
    best = guess(france)
    assert [c.text for c in best.top[:3]] == ["␣Paris", "␣the", "␣London"]
    assert [c.rank for c in best.top] == list(range(1, 21))
    assert best.top[0].prob == pytest.approx(0.772533, abs=1e-4)
    assert best.n_for_90 == 10
    assert best.log_sum_exp == pytest.approx(17.6293, abs=1e-3)
    assert best.counts.sum() == 49_152
    assert 0 < best.smallest < 1e-15


def test_a_logit_minus_log_sum_exp_is_the_log_probability(france):
    best = guess(france)
    for c in best.top:
        assert c.logit - best.log_sum_exp == pytest.approx(np.log(c.prob), abs=1e-5)


def test_a_candidate_stands_where_the_ranking_has_it(france):
    for c in guess(france, position=2).top:
        assert candidate(france, c.id, position=2) == c


@pytest.mark.parametrize(
    ("guessed", "rank"), [("Paris", 1), (" Paris", 1), ("the", 2), ("London", 3)]
)
def test_a_guess_is_ranked_with_the_space_it_needs(france, guessed, rank):
    assert rank_of_text(france, guessed).rank == rank


def test_after_white_space_a_guess_brings_no_space(smollm):
    spaced = run(RunSpec(MODEL, prompt=FRANCE + " "))
    assert rank_of_text(spaced, "2").text == "2"
    assert rank_of_text(spaced, "2").rank == 1


def test_a_guess_without_a_token_has_no_rank(france):
    assert rank_of_text(france, "\x04") is None


def test_checks_pass_on_a_run_and_fail_on_a_false_one(france, monkeypatch):
    assert all(c.passed for c in checks(france, 23))
    falsified = {"attn.out": france.read("attn.out", 23) * np.float32(1.001)}
    real = france.read
    monkeypatch.setattr(
        type(france), "read", lambda self, op, layer=None: falsified.get(op, real(op, layer))
    )
    failed = [c.name for c in checks(france, 23) if not c.passed]
    assert failed == ["attention"]


@EACH_CASE
def test_checks_pass_on_every_layer_of_every_family(case, trace_of):
    trace = trace_of(case)
    for layer in range(trace.config.n_layers):
        assert [c for c in checks(trace, layer) if not c.passed] == []


def test_a_weight_outside_the_window_is_noticed(trace_of, monkeypatch):
    trace = trace_of("mistral")
    wrong, real = trace.read("attn.weights", 0).copy(), trace.read
    wrong[1, 30, 22:24] = wrong[1, 30, [23, 22]]  # the window of position 30 begins at 23
    monkeypatch.setattr(
        type(trace),
        "read",
        lambda self, op, layer=None: wrong if op == "attn.weights" else real(op, layer),
    )
    assert [c.name for c in checks(trace, 0) if not c.passed] == ["future"]


def test_logits_before_a_cap_keep_the_ranking_after_it(trace_of):
    trace = trace_of("gemma2")
    capped, raw = guess(trace, 9), guess(trace, 9, scores="logits")
    assert [c.id for c in capped.top] == [c.id for c in raw.top]
    assert [c.logit for c in raw.top[:3]] == trace.output("logits", 9)[
        [c.id for c in raw.top[:3]]
    ].tolist()
    for before, after in zip(raw.top, capped.top, strict=True):
        assert after.logit == pytest.approx(3 * np.tanh(before.logit / 3), rel=1e-5)
        assert before.prob == after.prob
        assert after.logit - raw.log_sum_exp == pytest.approx(np.log(after.prob), abs=1e-5)
        assert candidate(trace, before.id, 9, "logits") == before
    assert raw.edges[-1] == raw.top[0].logit and capped.edges[-1] == capped.top[0].logit


def test_the_reference_run_agrees(france):
    assert france.ids == REFERENCE_IDS
    found = reference_check(france)
    assert found.passed and found.value < 3e-4
    assert reference_check(run(RunSpec(MODEL, prompt="Hi"))) is None


def test_one_more_round_is_what_generate_says(france):
    seen = overview(france)
    events = list(generate(RunSpec(MODEL, prompt=FRANCE, max_new_tokens=2)))
    words = france.model.tokenizer
    assert seen.guess.top[0].id == events[0].id
    assert seen.next_text == words.display(events[1].id)
    assert seen.appended == " Paris"
    assert (seen.framed, seen.key) == ((23, 4), 3)
    assert seen.weight == pytest.approx(0.9033, abs=1e-3)
    assert seen.n_sinks == 198
    assert seen.sink_share == pytest.approx(0.6726, abs=1e-3)


def test_the_trace_is_left_as_it_was(france):
    before = france.cache.length
    overview(france)
    assert france.cache.length == before


def test_nothing_is_appended_to_a_chat(smollm):
    trace = run(RunSpec(MODEL, messages=[("user", "Hi")]))
    assert overview(trace).appended is None


@pytest.fixture(scope="module")
def spaced(tmp_path_factory):
    """A model whose vocabulary writes a space as ▁ and puts one before every text."""
    path = tmp_path_factory.mktemp("spaced") / "spaced.gguf"
    metadata = sentencepiece().metadata
    return build_gguf(path, "llama", metadata=metadata, vocab_size=274)


@pytest.mark.parametrize(
    ("prompt", "piece", "appended"),
    [
        ("the cat", "▁cat", " cat"),
        ("the cat", "▁", " "),
        ("the cat", "he", "he"),
        ("the cat t", "he", None),  # read again, the two are ▁the
        ("the cat", "</s>", None),
        ("the cat", "<0xC3>", None),
    ],
)
def test_a_token_is_appended_with_the_space_that_it_brings(spaced, prompt, piece, appended):
    words = open_model(spaced).tokenizer
    id = words.tokens.index(piece)
    first = Edit("logits", index=id, kind="set", value=1e6)
    seen = overview(run(RunSpec(spaced, prompt=prompt, edits=(first,))))
    assert seen.guess.top[0].id == id and seen.appended == appended


def test_one_more_round_reads_markers_as_the_first_did(tiny_name):
    first = Edit("logits", index=273, kind="set", value=1e6)
    for control, n_tokens in ((False, 10), (True, 2)):
        spec = RunSpec(tiny_name, prompt="the<|im_end|>", control=control, edits=(first,))
        trace = run(spec)
        assert (overview(trace).appended, len(trace.ids)) == (" cat", n_tokens)


def test_the_name_of_a_control_token_in_a_text(tiny):
    assert holds_marker(tiny.tokenizer, "a<|im_end|>b") and holds_marker(
        tiny.tokenizer, "<|im_start|>"
    )
    assert not holds_marker(tiny.tokenizer, "<|im_end|") and not holds_marker(tiny.tokenizer, "")
    assert not holds_marker(replace(tiny.tokenizer, special={"": 0}), "any text")


def test_a_marker_that_is_read_as_its_token_is_one_piece(tiny_name):
    text = "the cat<|im_end|>and"
    literal, control = (
        reading(run(RunSpec(tiny_name, prompt=text, control=on)), text) for on in (False, True)
    )
    assert control.pieces == ("the", "␣cat", "<|im_end|>", "and")
    assert "".join(literal.pieces) == "the␣cat<|im_end|>and" and len(literal.pieces) > 4
    assert [t.special for t in control.tokens] == [False, False, True, False]
    assert not any(t.special for t in literal.tokens)


def test_a_reading_by_hand(smollm):
    text = "a\x04b 12 🙂"
    read = reading(run(RunSpec(MODEL, prompt=text)), text)
    assert (read.n_characters, read.n_bytes) == (8, 11)
    assert read.dropped == ("04",)
    assert read.pieces == ("a", "⟨04⟩", "b", "␣", "1", "2", "␣🙂")
    assert [t.hex for t in read.tokens[:2]] == ["61", "62"]
    assert all(t.n_bytes == len(t.hex.split()) and not t.special for t in read.tokens)
