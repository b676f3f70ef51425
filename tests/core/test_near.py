"""Cosines with a whole table, the arithmetic of one, words as rows, sums of rows."""

from types import SimpleNamespace

import numpy as np
import pytest

from core import open_model
from core.analyse import near

TABLE = [[3, 4], [6, 8], [-4, 3], [0, 0], [4, 3]]  # lengths 5, 10, 5, 0, 5


def model_of(table):
    """What stands for a model: a table, under a key of its own."""
    embed = np.array(table, np.float32)
    weights = SimpleNamespace(embed=embed, tied=True, get=lambda name, layer=None: embed)
    return SimpleNamespace(weights=weights, source=SimpleNamespace(key=object()))


@pytest.fixture
def small():
    return model_of(TABLE)


@pytest.fixture(scope="module")
def nano():
    return open_model("nano")


# ---- the whole vocabulary ------------------------------------------------------------------------


def test_cosines_worked_by_hand_and_none_where_a_row_has_no_direction(small):
    found = near.cosines(small, [3, 4])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, [1, 1, 0, np.nan, 24 / 25], atol=1e-7)
    assert np.isnan(near.cosines(small, [0, 0])).all()


def test_a_row_that_is_no_number_has_no_cosine():
    found = near.cosines(model_of([[3, 4], [np.inf, 1], [np.nan, 1]]), [3, 4])
    assert found[0] == pytest.approx(1) and np.isnan(found[1:]).all()


def test_the_nearest_come_first_and_what_is_left_out_is_missing():
    found = np.array([0.5, np.nan, 0.9, -1, 0.9], np.float32)
    assert [id for id, _ in near.nearest(found, 9)] == [2, 4, 0, 3]
    assert near.nearest(found, 2, [2]) == [(4, pytest.approx(0.9)), (0, 0.5)]
    assert near.nearest(np.full(3, np.nan), 2) == []


def test_a_rank_is_the_place_in_that_order():
    found = np.array([0.5, np.nan, 0.9, -1, 0.8], np.float32)
    assert [near.rank(found, id) for id in (2, 4, 0, 3)] == [1, 2, 3, 4]
    assert near.rank(found, 0, [2]) == 2 and near.rank(found, 0, [1, 3]) == 3


def test_rows_that_are_nearly_the_same_are_counted_but_for_those_left_out():
    found = np.float32([1.0, 0.995, 0.98, np.nan, 0.992])
    assert near.n_alike(found) == 3 and near.n_alike(found, [0, 2]) == 2


@pytest.mark.parametrize(("token", "alike"), [("<file_sep>", True), (" France", False)])
def test_only_rows_that_training_left_alone_are_nearly_the_same(smollm, token, alike):
    (id,) = smollm.tokenizer.encode(token, control=True)
    found = near.cosines(smollm, smollm.weights.embed[id])
    assert (near.n_alike(found, [id]) > 15) is alike and bool(near.n_alike(found, [id])) is alike


def test_the_spread_counts_every_other_row_once():
    found = np.array([1, 0.2, 0.4, np.nan, 0.9], np.float32)
    spread = near.spread(found, [0])
    assert spread.counts.sum() == 3 and spread.median == pytest.approx(0.4)
    assert spread.edges[[0, -1]] == pytest.approx([0.2, 0.9])
    assert near.spread(np.full(3, np.nan)).counts.sum() == 0


def test_cosines_agree_with_float64_over_all_rows(smollm):
    table = smollm.weights.embed
    exact = table.astype(np.float64)
    exact /= np.linalg.norm(exact, axis=1)[:, None]
    for id in (0, 260, 4649):
        np.testing.assert_allclose(near.cosines(smollm, table[id]), exact @ exact[id], atol=1e-6)


def test_the_neighbours_of_france(smollm):
    shown, id = smollm.tokenizer.display, near.word(smollm.tokenizer, "France").id
    best = near.nearest(near.cosines(smollm, smollm.weights.embed[id]), 6, [id])
    assert [shown(each) for each, _ in best[:3]] == ["France", "␣Spain", "␣Germany"]
    assert [value for _, value in best[:3]] == pytest.approx([0.86, 0.70, 0.69], abs=0.005)
    assert ("French", pytest.approx(0.67, abs=0.005)) in [(shown(i), v) for i, v in best]


# ---- one number ----------------------------------------------------------------------------------


def test_a_cosine_worked_by_hand():
    made = near.cosine([3, 4], [8, 6], 0.96)
    assert made.dot.products.tolist() == [24, 24] and made.dot.value == 48
    assert made.norms == (5, 10) and made.check.value == pytest.approx(0.96)
    assert made.check.equal and not near.cosine([3, 4], [8, 6], 0.9601).check.equal


def test_the_sum_that_is_wrong_by_more_than_its_terms_allow_is_not_equal():
    assert near.checked(1.0, 1.0 + 9e-6, 1.0).equal
    assert not near.checked(1.0, 1.0 + 2e-5, 1.0).equal
    assert near.checked(1.0, 1.0 + 2e-5, 10.0).equal


def test_the_heaviest_products_and_the_rest_make_the_sum():
    rng = np.random.default_rng(1)
    made = near.dot(rng.normal(size=50), rng.normal(size=50))
    top = made.top(7)
    assert sorted((abs(p) for *_, p in top), reverse=True) == [abs(p) for *_, p in top]
    assert all(a * b == p == made.products[i] for i, a, b, p in top)
    assert abs(top[-1][3]) >= max(np.delete(abs(made.products), [i for i, *_ in top]))
    assert sum(p for *_, p in top) + made.rest(7) == pytest.approx(made.value, abs=1e-12)


# ---- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [("cat", "␣cat"), (" cat", "␣cat"), ("France", "␣France"), ("7", "7"), ("al", "al")],
)
def test_a_word_is_looked_up_with_its_space_and_else_without(nano, text, shown):
    found = near.word(nano.tokenizer, text)
    assert nano.tokenizer.display(found.id) == shown and found.ids == (found.id,)


def test_a_word_of_several_tokens_has_no_row(nano):
    found = near.word(nano.tokenizer, "cats")
    assert found.id is None
    assert [nano.tokenizer.display(id) for id in found.ids] == ["␣cat", "s"]


def test_a_word_that_is_read_as_unknown_has_no_row(nano):
    assert near.word(nano.tokenizer, "?").id is None
    assert near.word(nano.tokenizer, "").id is None


def test_a_word_of_which_a_byte_is_dropped_has_no_row(tiny):
    assert tiny.tokenizer.encode("\x04the") == tiny.tokenizer.encode("the")
    assert near.word(tiny.tokenizer, "the").id is not None
    assert near.word(tiny.tokenizer, "\x04the").id is None


def test_the_forms_of_a_word_are_its_own_token_and_its_pieces(smollm):
    def forms(text):
        return [smollm.tokenizer.display(id) for id in near.forms(smollm.tokenizer, text)]

    assert forms("strawberry") == ["␣strawberry", "st", "raw", "berry"]
    assert forms("France") == ["␣France", "France"]
    assert forms(" France") == ["␣France"]
    assert forms(" ") == ["␣"]
    assert forms("xylophone")[0] == "x" and forms("") == []
    assert forms("zyzyzyzy").count("zy") <= 1


def test_the_same_word_in_another_spelling(smollm):
    ids = [smollm.tokenizer.encode(text)[0] for text in (" France", "France", " French", "\n", " ")]
    assert near.same_word(smollm.tokenizer, ids[0], ids[1])
    assert not near.same_word(smollm.tokenizer, ids[0], ids[2])
    assert not near.same_word(smollm.tokenizer, ids[3], ids[4])


def test_words_of_a_text_are_those_that_a_sum_can_name(smollm):
    """A digit, a sign, and a word whose token with a space is another one, are none."""
    ids = smollm.tokenizer.encode("France is, in 2 ways is 🦙")
    assert near.own_words(smollm.tokenizer, ids) == ("is", "in", "ways")
    assert near.word(smollm.tokenizer, "France").id != ids[0]


def test_a_sum_can_be_read_where_each_word_has_a_row(smollm):
    assert near.readable(smollm.tokenizer, "king - man = xylophone")
    assert not near.readable(smollm.tokenizer, "king - xylophone")


def test_half_a_character_is_no_word(smollm):
    """Parts of characters, all of which would be read as one and the same sign."""
    halves = smollm.tokenizer.encode("🦙 🦙")
    assert len(set(halves)) == 4
    for a in halves:
        assert not any(near.same_word(smollm.tokenizer, a, b) for b in halves)


def test_the_words_of_a_list_are_parted_by_spaces_and_commas():
    assert near.listed(" a, b  c，d、e\na ") == ("a", "b", "c", "d", "e")
    assert near.listed(" , ") == ()


# ---- sums ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "terms", "expected"),
    [
        ("king", [(1, "king")], None),
        ("-king", [(-1, "king")], None),
        (" king - man+woman ", [(1, "king"), (-1, "man"), (1, "woman")], None),
        ("king − man ＋ woman ＝ queen", [(1, "king"), (-1, "man"), (1, "woman")], "queen"),
        ("a + b =", [(1, "a"), (1, "b")], None),
    ],
)
def test_a_sum_is_read(text, terms, expected):
    assert near.parse(text) == (tuple(terms), expected)


@pytest.mark.parametrize(
    "text", ["", " ", "king queen", "king -", "+", "king -- man", "= queen", "+".join("abcdefghi")]
)
def test_what_is_no_sum_is_refused(text):
    with pytest.raises(ValueError, match="words"):
        near.parse(text)


def test_a_sum_worked_by_hand(small):
    total = near.add_up(small, [1, -1, 1], [1, 0, 2])
    assert total.vector.tolist() == [-1, 7] and total.norm == pytest.approx(50**0.5)
    assert total.cosines[0] == pytest.approx(25 / (5 * 50**0.5))
    assert near.summands(total, small, [1]).tolist() == [[8], [4], [3]]


def test_nearness_need_not_be_mutual():
    """Row 1 lies beside row 2, whose nearest is 3; from row 3 it is 2; from row 0 it is 1."""
    angles = np.radians([0, 30, 50, 60])
    model = model_of(np.stack([np.cos(angles), np.sin(angles)], axis=1))
    assert [near.n_mutual(model, 1, [n]) for n in (0, 2, 3)] == [1, 0, 0]
    assert near.n_mutual(model, 2, [0, 1, 3]) == 2


def test_what_cancels_has_no_direction(small):
    total = near.add_up(small, [1, -1], [0, 0])
    assert total.norm == 0 and near.nearest(total.cosines, 3) == []


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [("king man woman", ("␣queen", 0.72), ("␣king", 0.69)),
     ("Paris France Germany", ("␣Paris", 0.72), ("␣Berlin", 0.64))],
)  # fmt: skip
def test_the_well_known_sums(smollm, words, first, second):
    ids = [near.word(smollm.tokenizer, word).id for word in words.split()]
    best = near.nearest(near.add_up(smollm, (1, -1, 1), ids).cosines, 2)
    for (id, value), (token, cosine) in zip(best, (first, second), strict=True):
        assert smollm.tokenizer.display(id) == token
        assert value == pytest.approx(cosine, abs=0.005)
