"""The loop: one event per pass, whole characters, honest ends, the same ids every time."""

from dataclasses import replace

import numpy as np
import pytest

from core import Edit, PromptError, RunSpec, generate, run
from core.decode import generate as loop
from core.decode.generate import PREFIXES, next_logits
from core.model import forward
from core.model.cache import KVCache
from core.run import TRACES
from tests import families
from tests import tiny as tiny_file
from tests.conftest import SMOLLM

IDS = (258, 273, 34, 264, 51, 52, 297)


def events_of(name, **settings):
    return list(generate(RunSpec(name, **settings)))


def test_one_event_per_pass(tiny_name):
    events = events_of(tiny_name, ids=IDS, max_new_tokens=6)
    assert [e.step for e in events] == list(range(6))
    assert [e.n_cached for e in events] == [7, 8, 9, 10, 11, 12]
    assert [e.stop for e in events] == [None] * 5 + ["limit"]
    assert all(e.seconds > 0 and e.logprob < 0 for e in events)


def test_an_event_says_how_its_token_was_drawn(tiny_name, tiny):
    settings = {"temperature": 1.3, "top_k": 9, "seed": 4}
    events = events_of(tiny_name, ids=IDS, max_new_tokens=5, **settings)
    for step, event in enumerate(events):
        assert event.u == event.draw.u == np.random.default_rng([4, step]).random()
        assert (event.id, event.prob, event.n_kept) == (event.draw.id, event.draw.prob, 9)
    (greedy, *_) = events_of(tiny_name, ids=IDS)
    assert (greedy.u, greedy.n_kept) == (None, tiny.config.vocab)
    assert greedy.prob == pytest.approx(np.exp(greedy.logprob), rel=1e-9)


def test_the_bytes_of_the_cache_are_those_of_its_filled_rows(tiny_name, tiny, smollm):
    per_token = 2 * tiny.config.n_layers * tiny.config.n_kv_heads * tiny.config.head_dim * 4
    events = events_of(tiny_name, ids=IDS, max_new_tokens=4)
    assert [e.cache_bytes for e in events] == [per_token * n for n in (7, 8, 9, 10)]
    (event,) = events_of(SMOLLM, ids=(504, 3575), max_new_tokens=1)
    assert event.cache_bytes == 2 * 46_080


def test_each_token_is_the_best_after_all_before_it(tiny_name):
    events = events_of(tiny_name, ids=IDS, max_new_tokens=5)
    ids = list(IDS)
    for event in events:
        logits = run(RunSpec(tiny_name, ids=ids)).logits()
        assert event.id == logits.argmax()
        probs = run(RunSpec(tiny_name, ids=ids)).probs()
        assert event.logprob == pytest.approx(np.log(probs[event.id]), abs=1e-4)
        ids.append(event.id)


def test_texts_join_without_half_characters(smollm):
    # greedy after this prompt is whatever it is; forced tokens 10813 116 243 are one llama in three
    forced = [10813, 116, 243, 30]
    edits = [
        Edit("logits", position=4 + n, index=id, kind="set", value=1e4)
        for n, id in enumerate(forced)
    ]
    spec = {"prompt": "The capital of France is", "edits": edits, "max_new_tokens": 4}
    events = events_of(SMOLLM, **spec)
    assert [e.id for e in events] == forced
    assert [e.text for e in events] == ["", "", "\U0001f999", "."]


def test_half_a_character_at_the_end_is_not_lost(smollm):
    edits = [Edit("logits", index=10813, kind="set", value=1e4)]
    events = events_of(SMOLLM, prompt="Hi", edits=edits, max_new_tokens=2)
    assert [e.id for e in events] == [10813, 10813]
    assert "".join(e.text for e in events) == smollm.tokenizer.decode([10813, 10813])


def test_one_end_id_of_two_is_enough(smollm, monkeypatch):
    chat = {"messages": [("user", "What is the capital of France?")]}
    assert ids_of(SMOLLM, chat) == [504, 3575, 282, 4649, 314, 7042, 30, 2]
    other = replace(smollm, tokenizer=replace(smollm.tokenizer, end_ids={0}))
    monkeypatch.setattr(loop, "open_model", lambda name: other)
    longer = events_of(SMOLLM, **chat, max_new_tokens=12)
    assert longer[7].id == 2 and (longer[-1].stop, len(longer)) == ("limit", 12)


@pytest.mark.parametrize("end", [0, 2])
def test_both_end_tokens_stop_and_say_nothing(smollm, end):
    assert smollm.tokenizer.end_ids == {0, 2}
    edits = [Edit("logits", position=1, index=end, kind="set", value=1e4)]
    events = events_of(SMOLLM, ids=[504], edits=edits)
    assert (events[-1].stop, events[-1].stop_id, events[-1].text) == ("end", end, "")
    assert len(events) == 2 and events[0].stop is None


def test_the_context_is_the_limit(tmp_path):
    name = tiny_file.build(tmp_path / "short.gguf", {"llama.context_length": 10})
    events = events_of(name, ids=[50] * 8, max_new_tokens=40)
    assert len(events) <= 3 and events[-1].n_cached <= 10 and events[-1].stop
    full = events_of(name, ids=[50] * 10)
    assert len(full) == 1 and full[0].n_cached == 10 and full[0].stop
    with pytest.raises(PromptError) as caught:
        events_of(name, ids=[50] * 11)
    assert caught.value.params == {"n_tokens": 11, "limit": 10}


def broken(tmp_path, tensor, at, value=np.nan):
    """The tiny model with one other number in one of its tensors; the embedding is not the head."""
    arrays = tiny_file.arrays()
    arrays["output.weight"] = arrays["token_embd.weight"].copy()
    arrays[tensor][at] = value
    return tiny_file.build(tmp_path / "broken.gguf", tensors=arrays)


@pytest.mark.parametrize(
    "tensor, at, value, where",
    [
        ("token_embd.weight", (IDS[2], 3), np.inf, ("embed", None)),
        ("blk.1.attn_q.weight", (9, 5), np.nan, ("attn.q", 1)),
        ("blk.0.ffn_down.weight", (0, 0), np.inf, ("mlp.out", 0)),
        ("blk.1.ffn_down.weight", slice(None), 3e38, ("mlp.out", 1)),
        ("output_norm.weight", 3, np.nan, ("final_norm", None)),
        ("output.weight", (5, 1), np.nan, ("logits", None)),
    ],
)
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_scores_that_are_not_finite_stop_the_loop_and_say_where(tmp_path, tensor, at, value, where):
    (event,) = events_of(broken(tmp_path, tensor, at, value), ids=IDS)
    assert (event.stop, event.id, event.text, event.where) == ("nonfinite", None, "", where)
    assert event.draw is None and event.n_cached == len(IDS)


def test_what_an_early_token_left_in_the_cache_is_traced_to_where_it_began(tmp_path):
    name = broken(tmp_path, "token_embd.weight", (200, 3))
    ids = [*IDS, 200, *(n % 100 for n in range(150))]
    for _ in range(2):  # the second time, blocks of the first are reused
        (event,) = events_of(name, ids=ids)
        assert event.where == ("embed", None)
    assert event.n_reused == 128


def test_a_token_that_breaks_the_run_is_found_after_it_was_drawn(tmp_path):
    whole = broken(tmp_path, "token_embd.weight", (0, 0), 0.0)
    first = events_of(whole, ids=IDS, max_new_tokens=1)[0].id
    assert first not in IDS
    events = events_of(broken(tmp_path, "token_embd.weight", (first, 0)), ids=IDS)
    assert [(e.id, e.stop, e.where) for e in events] == [
        (first, None, None),
        (None, "nonfinite", ("embed", None)),
    ]


def test_a_prompt_in_chunks_generates_what_the_trace_says(tiny_name, tiny):
    ids = [(5 * i * i + i) % tiny.config.vocab for i in range(1300)]
    first = next(generate(RunSpec(tiny_name, ids=ids)))
    trace = run(RunSpec(tiny_name, ids=ids))
    assert first.id == trace.logits().argmax() and first.n_cached == 1300


@pytest.mark.parametrize("settings", [{}, {"temperature": 1.0, "top_p": 0.9, "seed": 7}])
def test_the_same_spec_gives_the_same_ids(smollm, settings):
    spec = {"prompt": "Once upon a time", "max_new_tokens": 12, **settings}
    assert ids_of(SMOLLM, spec) == ids_of(SMOLLM, spec)


@pytest.mark.parametrize("order", ["transformers", "llama.cpp"])
def test_a_branch_at_any_token_draws_what_the_whole_run_draws(tiny_name, order):
    settings = {"temperature": 1.2, "top_p": 0.95, "seed": 5, "order": order}
    settings |= {"repetition_penalty": 1.1, "frequency_penalty": 0.2}
    whole = events_of(tiny_name, ids=IDS, max_new_tokens=12, **settings)
    for at in (1, 6, 11):
        begun = (*IDS, *(e.id for e in whole[:at]))
        rest = {"ids": begun, "max_new_tokens": 12 - at, "first_step": at, **settings}
        again = events_of(tiny_name, **rest)
        assert [(e.id, e.u) for e in again] == [(e.id, e.u) for e in whole[at:]]


def test_another_seed_gives_other_ids(tiny_name):
    spec = {"ids": IDS, "max_new_tokens": 12, "temperature": 1.0}
    one, two = (ids_of(tiny_name, spec | {"seed": seed}) for seed in (1, 2))
    assert one != two and len(set(one)) > 3


def test_a_penalty_breaks_a_repetition(smollm):
    spec = {"prompt": "Hi", "max_new_tokens": 16}
    plain, penalized = (ids_of(SMOLLM, spec | {"repetition_penalty": r}) for r in (1.0, 1.1))
    assert len(set(penalized)) > len(set(plain))


def ids_of(name, spec):
    return [event.id for event in events_of(name, **spec)]


# what an earlier prompt left


@pytest.fixture
def passes(monkeypatch):
    """How many ids each forward pass took."""
    PREFIXES.clear()
    sizes, real = [], forward.forward

    def counting(ids, *rest):
        sizes.append(len(ids))
        return real(ids, *rest)

    monkeypatch.setattr(forward, "forward", counting)
    return sizes


def long_ids(model, n, changed=()):
    ids = [(5 * i * i + i) % model.config.vocab for i in range(n)]
    for at in changed:
        ids[at] = (ids[at] + 1) % model.config.vocab
    return tuple(ids)


@pytest.mark.parametrize(
    "changed, n_reused", [(199, 192), (130, 128), (128, 128), (127, 64), (3, 0)]
)
def test_a_prompt_that_begins_alike_is_not_run_again(tiny, tiny_name, passes, changed, n_reused):
    ids, edited = long_ids(tiny, 200), long_ids(tiny, 200, [changed])
    events_of(tiny_name, ids=ids, max_new_tokens=1)
    assert passes == [64, 64, 64, 8]
    passes.clear()
    (event,) = events_of(tiny_name, ids=edited, max_new_tokens=1)
    assert event.n_reused == n_reused and sum(passes) == 200 - n_reused
    assert event.n_cached == 200


@pytest.mark.parametrize("drawn", [{}, {"temperature": 1.0, "typical_p": 0.9, "seed": 3}])
def test_what_was_reused_is_what_would_have_been_run(tiny, tiny_name, passes, drawn):
    spec = {"ids": long_ids(tiny, 200, [150]), "max_new_tokens": 5, **drawn}
    alone = events_of(tiny_name, **spec)
    PREFIXES.clear()
    events_of(tiny_name, ids=long_ids(tiny, 200), max_new_tokens=1)
    after = events_of(tiny_name, **spec)
    assert (alone[0].n_reused, after[0].n_reused) == (0, 128)
    bits = [[(e.id, e.logprob, e.prob) for e in events] for events in (alone, after)]
    assert bits[0] == bits[1]


def test_an_edited_run_leaves_nothing_to_an_unedited_one(tiny, tiny_name, passes):
    ids, edits = long_ids(tiny, 100), [Edit("attn.mix", layer=0, head=1)]
    events_of(tiny_name, ids=ids, edits=edits, max_new_tokens=1)
    assert events_of(tiny_name, ids=ids, max_new_tokens=1)[0].n_reused == 0
    assert events_of(tiny_name, ids=ids, edits=edits, max_new_tokens=1)[0].n_reused == 64


def test_run_takes_nothing_from_an_earlier_prompt(tiny, tiny_name, passes):
    ids = long_ids(tiny, 150)
    events_of(tiny_name, ids=ids, max_new_tokens=1)
    passes.clear()
    TRACES.clear()
    run(RunSpec(tiny_name, ids=ids))
    assert sum(passes) == 150


def test_angles_that_depend_on_the_length_are_not_reused(tmp_path, passes):
    name = str(families.build_folder(tmp_path / "m", "llama", **families.SCALINGS["dynamic"]))
    ids = tuple(i % 90 + 3 for i in range(100))
    events_of(name, ids=ids, max_new_tokens=1)
    assert events_of(name, ids=ids[:90], max_new_tokens=1)[0].n_reused == 0
    assert events_of(name, ids=ids, max_new_tokens=1)[0].n_reused == 64


def test_a_position_past_the_limit_is_refused_before_the_pass(tiny, passes):
    c = tiny.config
    cache = KVCache(c.n_layers, c.context + 1, c.n_kv_heads, c.head_dim)
    cache.length = c.context
    with pytest.raises(PromptError, match=str(c.context)):
        next_logits(tiny, [5], cache)
    assert passes == []
