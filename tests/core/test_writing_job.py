"""Continuations written beside the reader: the tokens of `generate`, in turns, only while somebody
looks, and again the same.
"""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from core import RunSpec, open_model, run
from core.analyse import written as told
from core.decode import background
from core.decode.filters import softmax
from core.decode.generate import generate
from core.store import ByteStore
from tests import tiny

SEEDED = {"temperature": 1.0, "seed": 3}


@pytest.fixture(autouse=True)
def stores(monkeypatch):
    """Stores of its own for each test; nothing is left running."""
    monkeypatch.setattr(background, "TEXTS", ByteStore(64 << 20))
    monkeypatch.setattr(background, "WAITING", ByteStore(64 << 20))
    yield
    background.stop_all()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tiny.build(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


def spec(path, prompt="the cat", **settings):
    return RunSpec(path, prompt=prompt, **(SEEDED | settings))


def events(spec, n):
    return list(generate(replace(spec, max_new_tokens=n)))


def test_it_has_the_tokens_of_generate_with_what_they_were_chosen_from(path):
    wanted = spec(path, top_k=5, repetition_penalty=1.3)
    text, expected = background.look(wanted, 12, wait=10), events(wanted, 12)
    assert [t.id for t in text.tokens][:12] == [e.id for e in expected]
    for token, event in zip(text.tokens, expected, strict=False):
        probs, draw = softmax(event.logits), event.draw
        order = sorted(range(len(probs)), key=lambda id: (-event.logits[id], id))
        assert [each.id for each in token.best] == order[: background.N_BEST]
        np.testing.assert_allclose([c.prob for c in token.best], probs[order[:8]], rtol=1e-12)
        kept = dict(zip(draw.ids.tolist(), draw.probs.tolist(), strict=True))
        assert [c.drawn for c in token.best] == pytest.approx([kept.get(id, 0) for id in order[:8]])
        assert len(kept) == token.event.n_kept == 5
        assert token.before <= token.event.u < token.before + token.event.prob
        assert draw.ids[token.place] == token.id
        assert token.event.draw is None and token.event.logits is None
        assert token.event.logprob == event.logprob and token.took >= token.event.seconds


def test_it_goes_no_further_than_somebody_wants_to_see(path):
    text = background.look(spec(path), 3, wait=10)
    writer_has_ended()
    assert len(text.tokens) == 3 and not text.ended
    assert background.look(spec(path), 5, wait=10) is text and len(text.tokens) == 5
    assert [t.id for t in text.tokens] == [e.id for e in events(spec(path), 5)]


def writer_has_ended():
    until(lambda: not background._WRITER)


def until(holds):
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_it_ends_when_nobody_looks_or_somebody_stops_it(path, monkeypatch):
    slow = Slowly()
    text = background.look(spec(path), 400, slow)
    until(lambda: text.tokens)
    text.forget()
    writer_has_ended()
    n = len(text.tokens)
    assert 0 < n < 100
    monkeypatch.setattr(background, "PATIENCE", 0.05)
    assert background.look(spec(path), 400, slow) is text
    writer_has_ended()
    assert n < len(text.tokens) < 400


class Slowly:
    """A turn that lasts some milliseconds, and counts."""

    def __init__(self):
        self.n, self.at_once, self.most = 0, 0, 0

    def __enter__(self):
        self.n, self.at_once = self.n + 1, self.at_once + 1
        self.most = max(self.most, self.at_once)
        time.sleep(0.005)

    def __exit__(self, *_):
        self.at_once -= 1


def test_who_waits_is_not_forgotten(path, monkeypatch):
    monkeypatch.setattr(background, "PATIENCE", 0.02)
    assert len(background.look(spec(path), 40, Slowly(), wait=30).tokens) == 40


def test_two_are_written_in_turns_and_each_token_has_its_turn(path):
    turn = Slowly()
    texts = [background.look(spec(path, seed=seed), 30, turn) for seed in (1, 2)]
    until(lambda: all(text.has(30) for text in texts))
    assert turn.most == 1 and turn.n >= sum(len(text.tokens) for text in texts)
    for seed, text in zip((1, 2), texts, strict=True):
        expected = events(spec(path, seed=seed), 30)
        assert [t.id for t in text.tokens[:30]] == [e.id for e in expected]


def test_one_whose_generator_had_to_go_continues_with_the_same_tokens(path, monkeypatch):
    monkeypatch.setattr(background, "WAITING", ByteStore(1))
    text = background.look(spec(path), 4, wait=10)
    writer_has_ended()
    turn = Slowly()
    background.look(spec(path), 9, turn, wait=10)
    assert [t.id for t in text.tokens] == [e.id for e in events(spec(path), 9)]
    assert turn.n >= 9  # those that it had are each a turn, too


def test_a_text_that_has_ended_keeps_no_generator(path):
    end = next(t for t in range(2000) if ends(path, t))
    assert background.look(spec(path, seed=end), 400, wait=30).ended
    writer_has_ended()
    assert background.WAITING.nbytes == 0


def test_started_again_it_is_another_with_the_same_tokens(path):
    first, again = (background.look(spec(path), 6, wait=10, again=n) for n in (0, 1))
    assert first is not again
    assert [t.id for t in first.tokens] == [t.id for t in again.tokens]
    assert background.look(spec(path, max_new_tokens=7), 6) is first


def test_why_it_goes_no_further(path):
    text = background.look(spec(path), 5, wait=10)
    assert text.why(5, 40) is None and text.why(5, 5) == "limit" and text.why(3, 3) == "limit"
    end = next(t for t in range(2000) if ends(path, t))
    text = background.look(spec(path, seed=end), 400, wait=30)
    n = len(text.tokens)
    assert text.why(n, 400) == text.why(n, n) == "end" and text.ended
    assert text.tokens[-1].id in open_model(path).tokenizer.end_ids


def ends(path, seed):
    """Whether a text of this seed comes to an end token."""
    return events(spec(path, seed=seed), 30)[-1].stop == "end"


def test_the_end_of_the_context_is_told_from_the_limit(path):
    ids = tuple([5] * (tiny.CONTEXT - 2))
    text = background.look(RunSpec(path, ids=ids), 400, wait=30)
    assert len(text.tokens) <= 3
    last = text.why(len(text.tokens), 400)
    assert last == ("end" if text.tokens[-1].event.stop == "end" else "context")


def test_scores_that_are_not_finite_say_where(tmp_path):
    arrays = tiny.arrays()
    arrays["blk.1.attn_norm.weight"][:] = np.nan
    broken = tiny.build(tmp_path / "nan.gguf", tensors=arrays)
    text = background.look(RunSpec(broken, prompt="the"), 5, wait=10)
    assert text.where == ("attn_norm", 1) and not text.tokens and text.ended
    assert text.why(0, 5) == "nonfinite"


def test_what_fails_is_kept_for_the_reader(path, monkeypatch):
    monkeypatch.setattr(background, "passes", lambda spec: iter([1 / 0 for _ in "x"]))
    text = background.look(spec(path), 5, wait=10)
    assert isinstance(text.error, ZeroDivisionError) and text.ended


def test_what_has_failed_can_be_tried_again(path, monkeypatch):
    def breaks(spec):
        yield from events(spec, 3)[:2]
        raise MemoryError

    monkeypatch.setattr(background, "passes", breaks)
    text = background.look(spec(path), 5, wait=10)
    assert isinstance(text.error, MemoryError) and len(text.tokens) == 2
    monkeypatch.setattr(background, "passes", generate)
    text.forget()
    assert background.look(spec(path), 5, wait=10) is text and text.error is None
    assert [t.id for t in text.tokens] == [e.id for e in events(spec(path), 5)]


def test_a_thread_that_cannot_be_started_stops_nobody_else(path, monkeypatch):
    def full(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", full)
        with pytest.raises(RuntimeError):
            background.look(spec(path), 2)
    assert len(background.look(spec(path), 2, wait=10).tokens) == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_writer_that_breaks_is_followed_by_another(path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(background.Continuation, "write", lambda self: 1 / 0)
        background.look(spec(path), 2)
        writer_has_ended()
    assert len(background.look(spec(path), 2, wait=10).tokens) == 2


def test_a_turn_that_others_have_is_waited_for(path):
    lock = threading.Lock()
    with lock:
        text = background.look(spec(path), 1, lock, wait=0.05)
        assert not text.tokens
    assert background.look(spec(path), 1, lock, wait=10).tokens


def test_what_is_kept_of_a_token_is_as_small_as_the_store_believes(path):
    import sys

    def size(thing, seen):
        if id(thing) in seen:
            return 0
        seen.add(id(thing))
        inner = (
            thing
            if isinstance(thing, (tuple, list))
            else vars(thing).values()
            if hasattr(thing, "__dict__")
            else ()
        )
        own = sys.getsizeof(thing) + (
            sys.getsizeof(vars(thing)) if hasattr(thing, "__dict__") else 0
        )
        return own + sum(size(each, seen) for each in inner)

    text = background.look(spec(path), 3, wait=10)
    assert size(text.tokens[2], set()) < background.TOKEN_BYTES


# ---- branches and sums ---------------------------------------------------------------------------


def test_a_branch_draws_with_the_numbers_of_the_text_it_leaves(path):
    text = background.look(spec(path), 12, wait=10)
    same = background.look(background.branched(text, 4, text.tokens[4].id), 7, wait=10)
    assert [t.id for t in same.tokens[:7]] == [t.id for t in text.tokens[5:12]]
    other = background.look(background.branched(text, 4, text.tokens[4].best[1].id), 7, wait=10)
    assert [t.event.u for t in other.tokens[:7]] == [t.event.u for t in text.tokens[5:12]]
    twice = background.branched(other, 2, other.tokens[2].id)
    after = background.look(twice, 3, wait=10)
    assert [t.id for t in after.tokens[:3]] == [t.id for t in other.tokens[3:6]]


def test_one_pass_without_a_cache_gives_the_recorded_probability(path):
    text = background.look(spec(path), 9, wait=10)
    for n in (0, 4, 8):
        value, agreement = told.again(text, n)
        assert agreement.equal and value == pytest.approx(text.tokens[n].event.logprob, abs=1e-4)
    wrong = replace(text.tokens[4], event=replace(text.tokens[4].event, logprob=-0.5))
    text.tokens[4] = wrong
    assert not told.again(text, 4)[1].equal


def test_the_log_probability_of_any_token_at_a_place(path):
    text = background.look(spec(path), 6, wait=10)
    ids = (*text.ids, *(t.id for t in text.tokens[:3]))
    probs = run(RunSpec(path, ids=ids)).probs(-1)
    for id in (0, 7, text.tokens[3].id):
        assert told.logprob_of(text, 3, id) == pytest.approx(np.log(probs[id]), rel=1e-4)
    side = told.branch(text, 3, text.tokens[3].best[2].id, text.tokens[4:6])
    assert side.logprobs[0] == pytest.approx(np.log(probs[side.ids[0]]), rel=1e-4)
    assert side.ids[1:] == tuple(t.id for t in text.tokens[4:6])


def test_sums_by_hand():
    side = told.Side((5, 6, 7), (-1.0, -0.5, -2.5))
    assert side.running == [-1.0, -1.5, -4.0] and side.mean == pytest.approx(-4 / 3)
    assert side.probs[1] == pytest.approx(np.exp(-0.5))
    assert told.n_alike(side, told.Side((4, 6, 8, 9), (0.0,) * 4)) == 1  # the fork does not count


def test_a_word_that_is_typed_is_read_as_the_model_prefers(path):
    tokenizer = open_model(path).tokenizer
    text = background.look(spec(path), 2, wait=10)
    spaced, bare = (tokenizer.encode(typed)[0] for typed in (" the", "the"))
    scores = told.scores_of(text, 1)
    best = spaced if scores[spaced] > scores[bare] else bare
    assert told.reading(text, 1, "the", tokenizer) == best and spaced != bare
    assert told.reading(text, 1, " ", tokenizer) is None


def test_the_record_as_arrays(path):
    text = background.look(spec(path), 4, wait=10)
    arrays = told.arrays(text.tokens[:4])
    assert arrays["written_id"].tolist() == [t.id for t in text.tokens[:4]]
    assert arrays["written_best_prob"].shape == (4, background.N_BEST)
    assert arrays["written_u"][2] == text.tokens[2].event.u
    greedy = background.look(spec(path, temperature=0.0), 2, wait=10)
    assert np.isnan(told.arrays(greedy.tokens[:2])["written_u"]).all()
