"""Beam search: trees worked out by hand, every continuation tried, greedy, and the values of
transformers for SmolLM2 (tools/parity_beam.py compares more).
"""

import itertools
from math import log

import numpy as np
import pytest

from core import Edit, PromptError, RunSpec, SettingError, generate, run
from core.decode import beam
from core.decode.beam import beam_search
from core.decode.generate import PREFIXES
from core.decode.tree import path, rescored, score
from tests import families
from tests import tiny as tiny_file
from tests.conftest import SMOLLM

IDS = (258, 273, 34, 264, 51, 52, 297)
START, A, B, C, END = 50, 10, 11, 12, 2


def searched(name, n_beams=3, length_penalty=1.0, early_stopping=False, **spec):
    return list(beam_search(RunSpec(name, **spec), n_beams, length_penalty, early_stopping))


# ---- by hand: what follows depends on the last token alone ---------------------------------------


@pytest.fixture
def chain(monkeypatch, tiny, tiny_name):
    """A search in which `after` says with which probability an id follows the last one."""

    def search(after, n, **settings):
        def next_logits(model, ids, cache, edits=()):
            cache.advance(len(ids))
            logits = np.full(tiny.config.vocab, -1e4, np.float32)
            for id, probability in after.get(ids[-1], {}).items():
                logits[id] = log(probability)
            return logits

        monkeypatch.setattr(beam, "next_logits", next_logits)
        return searched(tiny_name, ids=[START], max_new_tokens=n, **settings)

    return search


def shares(texts):
    """The tokens of each text and its probability."""
    return [(text.ids, pytest.approx(np.exp(text.sum), rel=1e-5)) for text in texts]


TRAP = {START: {A: 0.5, B: 0.4, C: 0.1}, A: {A: 0.4, B: 0.3, C: 0.3}, B: {C: 0.9, A: 0.1}}


def test_two_beams_find_what_the_greedy_choice_misses(chain):
    levels = chain(TRAP, 2, n_beams=2)
    assert shares(levels[-1].finished) == [((B, C), 0.36), ((A, A), 0.2)]
    assert shares(chain(TRAP, 2, n_beams=1)[-1].finished) == [((A, A), 0.2)]
    assert [level.stop for level in levels] == [None, "limit"]


def test_the_tree_keeps_every_branch_that_was_looked_at(chain, tiny):
    assert tiny.tokenizer.end_ids == {0, END}  # 1 + 2 ends, for each of 2 beams: 6 branches
    first, last = chain(TRAP, 2, n_beams=2)
    assert [(n.id, n.parent, n.state) for n in first.nodes[:3]] == [
        (A, None, "kept"),
        (B, None, "kept"),
        (C, None, "dropped"),
    ]
    assert [(n.parent, n.id, round(np.exp(n.sum), 4)) for n in last.nodes[:5]] == [
        (1, C, 0.36),
        (0, A, 0.2),
        (0, B, 0.15),  # of branches with the same sum the smaller id goes first
        (0, C, 0.15),
        (1, A, 0.04),
    ]
    assert [n.state for n in last.nodes] == ["finished"] * 2 + ["dropped"] * 4
    assert [n.place for n in last.nodes] == list(range(6)) and last.kept == ()
    assert [n.id for n in path([first, last], last.nodes[0])] == [B, C]
    assert last.nodes[0].text == tiny.tokenizer.display(C)


def test_of_branches_with_the_same_sum_the_better_beam_goes_first(chain):
    even = {START: {B: 0.5, A: 0.5}, A: {C: 1}, B: {A: 1}}
    _, last = chain(even, 2, n_beams=2)
    assert [(n.parent, n.id) for n in last.nodes[:2]] == [(0, C), (1, A)]  # beam 0 is A


ENDS = {START: {A: 0.6, END: 0.3, B: 0.1}, A: {A: 0.9, B: 0.1}, B: {END: 1}}


@pytest.mark.parametrize(
    "power, best, scores",
    [
        (1, [(A, A, A), (A, B, END)], [log(0.486) / 3, log(0.06) / 3]),
        (0, [(A, A, A), (END,)], [log(0.486), log(0.3)]),
        (-1, [(END,), (A, A, A)], [log(0.3), log(0.486) * 3]),
    ],
)
def test_a_length_penalty_above_0_favours_long_texts(chain, power, best, scores):
    finished = chain(ENDS, 3, n_beams=2, length_penalty=power)[-1].finished
    assert [text.ids for text in finished] == best
    assert [text.score for text in finished] == pytest.approx(scores, rel=1e-5)
    assert [text.is_end for text in finished] == [ids[-1] == END for ids in best]


def test_a_text_that_ends_leaves_its_place_to_the_next(chain, tiny):
    first, second, last = chain(ENDS, 3, n_beams=2)
    states = ["kept", "finished", "kept", "dropped", "dropped", "dropped"]
    assert [n.state for n in first.nodes] == states
    (text,) = first.finished
    assert (text.ids, text.text, text.n, first.worst) == ((END,), "", 1, None)
    assert [text.ids for text in second.finished] == [(B, END), (END,)]
    assert second.worst == pytest.approx(log(0.3), rel=1e-5)
    assert second.reachable == pytest.approx(log(0.54) / 2, rel=1e-5)
    assert last.finished[1].text == tiny.tokenizer.decode([A, B])


def test_an_end_behind_the_first_n_beams_is_dropped(chain):
    first, *_ = chain({START: {A: 0.6, END: 0.4}, A: {A: 1}}, 2, n_beams=1)
    assert [(n.id, n.is_end, n.state) for n in first.nodes[:2]] == [
        (A, False, "kept"),
        (END, True, "dropped"),
    ]
    assert first.finished == ()


LATE = {START: {END: 0.5, A: 0.3, B: 0.2}, A: {A: 1}}


@pytest.mark.parametrize(
    "early, power, stop, n_levels, best",
    [
        (False, 1, "settled", 1, (END,)),  # log(.3) / 1 is less than log(.5) / 1
        ("never", 1, "limit", 4, (A,) * 4),  # log(.3) / 4 is more
        ("never", 0, "settled", 1, (END,)),
        ("never", -1, "settled", 1, (END,)),  # longer would be worse
        (True, 1, "full", 1, (END,)),
    ],
)
def test_when_a_search_is_over(chain, early, power, stop, n_levels, best):
    levels = chain(LATE, 4, n_beams=1, length_penalty=power, early_stopping=early)
    assert (len(levels), levels[-1].stop) == (n_levels, stop)
    assert levels[-1].finished[0].ids == best
    n = 4 if (early, power) == ("never", 1) else 1
    assert levels[0].reachable == pytest.approx(log(0.3) / n**power, rel=1e-5)


def test_a_search_goes_on_until_n_beams_have_finished(chain):
    levels = chain({START: {END: 0.9, A: 0.1}, A: {END: 0.9, A: 0.1}}, 6, n_beams=2)
    assert levels[0].reachable < levels[0].finished[0].score  # the best is found already
    assert [len(level.finished) for level in levels] == [1, 2]
    assert [level.stop for level in levels] == [None, "settled"]


# ---- scores --------------------------------------------------------------------------------------


def test_the_score_of_a_sum():
    assert score(-8.0, 4, 1.0) == -2 and score(-8.0, 4, 2.0) == -0.5
    assert score(-8.0, 4, 0.0) == -8 and score(-8.0, 4, -1.0) == -32


def test_the_same_texts_under_another_penalty(chain):
    finished = chain(ENDS, 3, n_beams=2, length_penalty=0)[-1].finished
    turned = rescored(finished, -1)
    assert [text.ids for text in turned] == [(END,), (A, A, A)]
    assert turned[1].score == 3 * finished[0].sum == 3 * turned[1].sum
    assert rescored(turned, 0) == finished


# ---- the model -----------------------------------------------------------------------------------


def test_enough_beams_find_the_best_of_all_texts(tiny, tiny_name):
    allowed = (7, 30, 120, 258)
    edits = tuple(
        Edit("logits", index=id, kind="set", value=-1e4)
        for id in range(tiny.config.vocab)
        if id not in allowed
    )
    levels = searched(tiny_name, 16, ids=IDS, max_new_tokens=3, edits=edits)
    sums = {(): 0.0}
    for n in range(3):
        for before in itertools.product(allowed, repeat=n):
            logprobs = log_softmax(run(RunSpec(tiny_name, ids=IDS + before, edits=edits)).logits())
            sums |= {(*before, id): sums[before] + logprobs[id] for id in allowed}
    whole = sorted((ids for ids in sums if len(ids) == 3), key=lambda ids: -sums[ids])
    assert [text.ids for text in levels[-1].finished] == whole[:16]
    found = [text.sum for text in levels[-1].finished]
    assert found == pytest.approx([sums[ids] for ids in whole[:16]], abs=1e-4)


def log_softmax(logits):
    logits = logits.astype(np.float64)
    return logits - np.logaddexp.reduce(logits)


@pytest.mark.parametrize("family", families.CONFIGS)
def test_sums_are_those_of_full_passes(tmp_path, family):
    name = families.build_folder(tmp_path / family, family)
    levels = searched(name, ids=[5, 9, 5, 60, 61, 62, 5, 9, 33], max_new_tokens=4)
    for text in levels[-1].finished:
        ids = [5, 9, 5, 60, 61, 62, 5, 9, 33, *text.ids[:-1]]
        trace = run(RunSpec(name, ids=ids))
        rows = [log_softmax(trace.logits(at)) for at in range(8, len(ids))]
        logprobs = [row[id] for row, id in zip(rows, text.ids, strict=True)]
        assert text.sum == pytest.approx(sum(logprobs), abs=1e-4)
        nodes = path(levels, levels[text.n - 1].nodes[text.place])
        assert [node.id for node in nodes] == list(text.ids)
        assert [node.logprob for node in nodes] == pytest.approx(logprobs, abs=1e-4)
        assert [node.sum for node in nodes] == pytest.approx(np.cumsum(logprobs), abs=1e-4)


@pytest.mark.parametrize("ids", [(50,), IDS, tuple(range(50, 200))], ids=len)
def test_one_beam_is_the_greedy_text(tiny_name, ids):
    events = list(generate(RunSpec(tiny_name, ids=ids, max_new_tokens=12)))
    (text,) = searched(tiny_name, 1, early_stopping=True, ids=ids, max_new_tokens=12)[-1].finished
    assert list(text.ids) == [event.id for event in events]
    assert text.sum == pytest.approx(sum(event.logprob for event in events), abs=1e-5)


def test_one_beam_ends_where_the_greedy_text_ends(tiny_name):
    edits = [Edit("logits", position=9, index=END, kind="set", value=1e4)]
    spec = {"ids": IDS, "edits": edits, "max_new_tokens": 12}
    events = list(generate(RunSpec(tiny_name, **spec)))
    level = searched(tiny_name, 1, early_stopping=True, **spec)[-1]
    assert (level.stop, level.number) == ("full", len(events)) and len(events) == 4
    assert list(level.finished[0].ids) == [event.id for event in events]
    assert level.finished[0].text == "".join(event.text for event in events)


def test_the_same_spec_gives_the_same_tree(tiny_name):
    PREFIXES.clear()
    spec = {"ids": tuple(range(50, 200)), "max_new_tokens": 5}
    one, two = (searched(tiny_name, 4, **spec) for _ in range(2))
    assert [level.nodes for level in one] == [level.nodes for level in two]
    other = searched(tiny_name, 4, **spec, temperature=2.0, top_k=1, seed=5)
    assert [level.nodes for level in one] == [level.nodes for level in other]


def test_a_level_costs_one_pass_per_beam_and_only_when_asked_for(monkeypatch, tiny_name):
    sizes, real = [], beam.next_logits

    def counting(model, ids, *rest):
        sizes.append(len(ids))
        return real(model, ids, *rest)

    monkeypatch.setattr(beam, "next_logits", counting)
    levels = beam_search(RunSpec(tiny_name, ids=IDS, max_new_tokens=9))
    next(levels)
    assert sizes == [len(IDS)]
    next(levels), next(levels)
    levels.close()
    assert sizes == [len(IDS), *[1] * 6]


def test_the_context_is_the_limit(tmp_path):
    name = tiny_file.build(tmp_path / "short.gguf", {"llama.context_length": 10})
    levels = searched(name, ids=[50] * 8)
    assert len(levels) == 3 and levels[-1].stop == "limit"
    assert {text.n for text in levels[-1].finished if not text.is_end} == {3}
    with pytest.raises(PromptError):
        searched(name, ids=[50] * 11)


def test_scores_that_are_not_finite_stop_the_search(tiny_name):
    edits = [
        Edit("resid_post", layer=1, position=7, kind="scale", value=3e38),
        Edit("logits", position=6, index=END, kind="set", value=30),
    ]
    levels = searched(tiny_name, ids=IDS, max_new_tokens=9, edits=edits)
    assert [level.stop for level in levels] == [None, "nonfinite"]
    assert levels[1].nodes == () and levels[1].finished == levels[0].finished != ()
    assert levels[1].where == ("resid_post", 1) and levels[0].where is None


BAD = {
    "n_beams": (0, 17, 2.0, True, None),
    "length_penalty": (float("nan"), float("inf"), -11, "1"),
    "early_stopping": ("always", 1, None),
}


@pytest.mark.parametrize("name, value", [(name, value) for name in BAD for value in BAD[name]])
def test_bad_settings_are_refused(tiny_name, name, value):
    with pytest.raises(SettingError) as caught:
        searched(tiny_name, ids=IDS, **{name: value})
    assert caught.value.params["name"] == name


# ---- SmolLM2 -------------------------------------------------------------------------------------


def test_the_capital_of_france(smollm):
    levels = searched(SMOLLM, prompt="The capital of France is", max_new_tokens=8)
    finished = levels[-1].finished
    assert finished[0].text == " Paris. The capital of France is not"
    assert [h.sum for h in finished] == pytest.approx([-7.2236, -7.2576, -7.2733], abs=2e-4)
    assert [h.score for h in finished] == pytest.approx([-0.9030, -0.9072, -0.9092], abs=1e-4)
    assert rescored(finished, 2)[0].score == pytest.approx(-0.1129, abs=1e-4)
    assert rescored(finished, -1)[0].score == pytest.approx(-57.789, abs=2e-3)
    assert all(len(level.nodes) == 9 for level in levels)


def test_an_answer_ends_before_the_limit(smollm):
    spec = {"messages": [("user", "What is 2+2? Answer with a number.")], "max_new_tokens": 14}
    level = searched(SMOLLM, **spec)[-1]
    assert (level.number, level.stop) == (12, "settled")
    assert [text.text for text in level.finished[::2]] == ["2 + 2 = 4", "2 + 2 = 4."]
    assert all(text.is_end and text.n < 14 for text in level.finished)
    scores = [text.score for text in level.finished]
    assert scores == pytest.approx([-0.37228, -0.54911, -0.56527], abs=2e-5)
