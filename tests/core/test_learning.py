"""What is measured on a checkpoint, against the same from a run, number by number."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from core import ModelFileError, RunSpec, open_model, run
from core.analyse import learning
from core.text.vocabulary import NoText, Tokenizer
from tests.families import build_folder


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Two random models of one shape, as two checkpoints of a training would be."""
    home = tmp_path_factory.mktemp("training")
    return [build_folder(home / name, "llama", **more) for name, more in CHANGES.items()]


CHANGES = {"early": {"rope_theta": 500.0}, "late": {}}  # without a tokenizer: ids only


def test_a_sequence_is_bos_and_the_same_words_twice(paths):
    model = open_model(paths[0])
    drawn = learning.repeats(model)
    assert len(drawn) == learning.SEQUENCES == len(set(drawn))
    for ids in drawn:
        assert ids[0] == model.tokenizer.bos_id
        once, twice = ids[1 : learning.PERIOD + 1], ids[learning.PERIOD + 1 :]
        assert once == twice and len(set(once)) == learning.PERIOD
    assert drawn == learning.repeats(open_model(paths[1]))  # the same for all checkpoints


def test_a_context_without_room_for_words_said_twice_is_refused(tmp_path):
    for context, room in ((4, False), (5, True)):
        name = build_folder(tmp_path / str(context), "llama", max_position_embeddings=context)
        if room:
            assert {len(ids) for ids in learning.repeats(open_model(name))} == {5}
            continue
        with pytest.raises(ModelFileError, match="said twice"):
            learning.repeats(open_model(name))


def spelled(*tokens):
    """As much of a model as its words are read from; the last token is a control token."""
    names = Tokenizer(
        tokens=tokens,
        special={tokens[-1]: len(tokens) - 1},
        end_ids=frozenset(),
        bos_id=None,
        add_bos=False,
        rule="none",
        template=None,
        encoder=NoText("no text"),
        spell=str.encode,
    )
    return SimpleNamespace(tokenizer=names, config=SimpleNamespace(vocab=len(tokens)))


def test_words_are_tokens_with_a_space_that_no_other_token_goes_on_from(monkeypatch):
    monkeypatch.setattr(learning, "PERIOD", 3)
    tokens = (" ", " c", " cat", " ca", "s", " in", " inn", " dog", "dogs", " <s>")
    assert learning.words(spelled(*tokens)) == [2, 6, 7]


def test_where_words_are_few_all_tokens_but_control_tokens_are_drawn(tiny):
    assert learning.words(spelled(" cat", "s", "<s>")) == [0, 1]
    control = set(tiny.tokenizer.special.values())
    assert control and not control & set(learning.words(tiny))


def test_scores_are_means_of_single_weights(paths):
    path, period = paths[0], learning.PERIOD
    induced, previous, right = [], [], []
    for ids in learning.repeats(open_model(path)):
        trace = run(RunSpec(path, ids=ids))
        maps = np.stack([trace.read("attn.weights", layer) for layer in range(2)])
        second, n = range(period + 1, 2 * period + 1), len(ids)
        induced.append(sum(maps[:, :, i, i - period + 1] for i in second) / period)
        previous.append(sum(maps[:, :, i, i - 1] for i in range(1, n)) / (n - 1))
        right += [np.argmax(trace.logits(i)) == ids[i + 1] for i in second if i + 1 < n]
    found = learning.skill(path)
    assert found.induction.shape == found.previous.shape == (2, 4)
    np.testing.assert_allclose(found.induction, np.mean(induced, axis=0), rtol=1e-5)
    np.testing.assert_allclose(found.previous, np.mean(previous, axis=0), rtol=1e-5)
    assert found.copied == pytest.approx(np.mean(right))
    assert not np.allclose(found.induction, learning.skill(paths[1]).induction)


def test_the_best_head_of_a_table_and_the_first_moment_above_a_score():
    assert learning.best(np.array([[0.1, 0.2], [0.9, 0.3]])) == (0.9, 1, 0)
    assert learning.first_above([0.1, 0.5, 0.9, 0.2], 0.5) == 1
    assert learning.first_above([0.1, 0.2], 0.5) is None


def test_an_induction_head_looks_behind_the_same_word():
    # BOS a b c a b c: the second a (4) at the first b (2), b (5) at c (3), c (6) at the second a
    assert learning.induction_cells(7) == [(4, 2), (5, 3), (6, 4)]


def test_the_surprise_of_a_text_is_the_mean_of_its_tokens(paths):
    ids = (1, 7, 30, 7, 90)
    found = learning.moment(paths[0], RunSpec("any", ids=ids), 3)
    trace = run(RunSpec(paths[0], ids=ids))
    surprise = [-math.log(trace.probs(at)[id]) for at, id in enumerate(ids[1:])]
    assert found.loss == pytest.approx(sum(surprise) / 4, rel=1e-5)
    np.testing.assert_array_equal(found.probs, trace.probs())
    assert [c.id for c in found.guess.top] == np.argsort(-found.probs)[:3].tolist()


def test_a_single_token_has_nothing_to_be_surprised_at(paths):
    assert learning.moment(paths[0], RunSpec("any", ids=(5,))).loss is None


def test_maps_of_all_checkpoints(paths):
    spec = learning.repeated(paths[0])
    maps = learning.attention_maps(paths, spec, 1, 3)
    n = 2 * learning.PERIOD + 1
    assert maps.shape == (2, n, n) and not np.array_equal(*maps)
    for path, found in zip(paths, maps, strict=True):
        trace = run(RunSpec(path, ids=spec.ids))
        np.testing.assert_array_equal(found, trace.read("attn.weights", 1)[3])


def test_the_rows_of_all_heads_are_the_whole_matrix(paths):
    weights = open_model(paths[0]).weights
    rows = [learning.head_weights(paths[:1], "attn_q", 1, head)[0] for head in range(4)]
    np.testing.assert_array_equal(np.concatenate(rows), weights.get("attn_q", 1))
    # two query heads share one head of keys
    keys = [learning.head_weights(paths[:1], "attn_k", 1, head)[0] for head in range(4)]
    np.testing.assert_array_equal(np.concatenate(keys[::2]), weights.get("attn_k", 1))
    np.testing.assert_array_equal(keys[0], keys[1])


def test_a_model_without_checkpoints_has_no_training(paths, tiny):
    assert learning.training(open_model(paths[0])) is None
    assert learning.training(tiny) is None  # a GGUF file


def test_damage_is_told(tmp_path):
    path = build_folder(tmp_path / "damaged", "llama")
    (tmp_path / "damaged" / "checkpoints.json").write_text("{}")
    with pytest.raises(ModelFileError, match="checkpoints.json"):
        learning.training(open_model(path))
