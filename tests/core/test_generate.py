"""The loop: one event per pass, whole characters, honest ends, the same ids every time."""

import numpy as np
import pytest

from core import Edit, PromptError, RunSpec, generate, run
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


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scores_that_are_not_finite_stop_the_loop(tmp_path):
    arrays = tiny_file.arrays()
    arrays["output_norm.weight"][3] = np.nan
    name = tiny_file.build(tmp_path / "nan.gguf", tensors=arrays)
    events = events_of(name, ids=IDS)
    assert len(events) == 1
    assert (events[0].stop, events[0].id, events[0].text) == ("nonfinite", None, "")


def test_a_prompt_in_chunks_generates_what_the_trace_says(tiny_name, tiny):
    ids = [(5 * i * i + i) % tiny.config.vocab for i in range(1300)]
    first = next(generate(RunSpec(tiny_name, ids=ids)))
    trace = run(RunSpec(tiny_name, ids=ids))
    assert first.id == trace.logits().argmax() and first.n_cached == 1300


@pytest.mark.parametrize("settings", [{}, {"temperature": 1.0, "top_p": 0.9, "seed": 7}])
def test_the_same_spec_gives_the_same_ids(smollm, settings):
    spec = {"prompt": "Once upon a time", "max_new_tokens": 12, **settings}
    assert ids_of(SMOLLM, spec) == ids_of(SMOLLM, spec)


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


def test_what_was_reused_is_what_would_have_been_run(tiny, tiny_name, passes):
    spec = {"ids": long_ids(tiny, 200, [150]), "max_new_tokens": 5}
    alone = events_of(tiny_name, **spec)
    PREFIXES.clear()
    events_of(tiny_name, ids=long_ids(tiny, 200), max_new_tokens=1)
    after = events_of(tiny_name, **spec)
    assert (alone[0].n_reused, after[0].n_reused) == (0, 128)
    assert [(e.id, e.logprob) for e in alone] == [(e.id, e.logprob) for e in after]  # bit for bit


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
