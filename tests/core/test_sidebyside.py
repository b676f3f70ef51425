"""Two attention maps side by side: numbers worked by hand, identities, and NumPy alone."""

import numpy as np
import pytest

from core import RunSpec, open_model, run
from core.analyse import sidebyside
from core.analyse.exchanged import _other_word, exchanged
from tests.families import WINDOW, build_gguf

HIDDEN = np.float32(np.nan)
A = np.array([[1, HIDDEN, HIDDEN], [0.5, 0.5, HIDDEN], [0.25, 0.5, 0.25]], np.float32)
B = np.array([[1, HIDDEN, HIDDEN], [0.75, 0.25, HIDDEN], [0.25, 0, 0.75]], np.float32)


def test_a_difference_worked_by_hand():
    found = sidebyside.beside(A, B)
    wanted = [[0, HIDDEN, HIDDEN], [-0.25, 0.25, HIDDEN], [0, 0.5, -0.5]]
    np.testing.assert_array_equal(found.difference, np.float32(wanted))
    assert found.distances.tolist() == [0, 0.25, 0.5]
    assert [part.tolist() for part in found.sums] == [[0, 0.25, 0.5]] * 2
    assert found.largest == (2, 1) and found.column(1) == 0
    assert found.limit == 0.5
    assert found.cell(2, 2) == sidebyside.Cell(2, 2, 0.25, 0.75, -0.5, False)
    assert found.cell(0, 2).hidden
    assert [cell.row for cell in found.ranked()] == [2, 1, 0]


def test_the_cosine_with_the_first_token_and_without():
    found = sidebyside.beside(A, B)
    whole = (1 + 0.375 + 0.125 + 0.0625 + 0.1875) / np.sqrt((1 + 0.5 + 0.375) * (1 + 0.625 + 0.625))
    rest = (0.125 + 0.1875) / np.sqrt((0.25 + 0.3125) * (0.0625 + 0.5625))
    assert found.cosine() == pytest.approx(whole) and found.cosine(1) == pytest.approx(rest)
    assert np.isnan(sidebyside.beside(A[:1, :1], B[:1, :1]).cosine(1))
    assert sidebyside.first_share(A) == 0.375
    assert np.isnan(sidebyside.first_share(A[:1, :1]))


def test_rows_that_do_not_sum_to_the_same_are_told():
    broken = B.copy()
    broken[2, 2] = 0.5
    assert sidebyside.beside(A, B).balance(2).equal
    assert not sidebyside.beside(A, broken).balance(2).equal


@pytest.mark.parametrize(
    ("first", "second", "at"),
    [
        ("abcd", "axcd", ([0, 1, 2, 3], [0, 1, 2, 3])),
        ("abcd", "abxycd", ([0, 1, 2, 3], [0, 1, 4, 5])),
        ("abxcd", "abcd", ([0, 1, 3, 4], [0, 1, 2, 3])),
        ("aaa", "aa", ([0, 1], [0, 1])),
        ("ab", "cde", ([], [])),
        ("ab", "abc", ([0, 1], [0, 1])),
    ],
)
def test_tokens_that_belong_together(first, second, at):
    assert tuple(each.tolist() for each in sidebyside.paired(first, second)) == at


def test_what_a_token_without_a_partner_gets_counts_whole():
    """The second text has a token more, in its middle, which gets 0.5 of the last row."""
    longer = np.array(
        [[1, HIDDEN, HIDDEN], [0.5, 0.5, HIDDEN], [0.25, 0.5, 0.25]], dtype=np.float32
    )
    shorter = np.array([[1, HIDDEN], [0.5, 0.5]], np.float32)
    found = sidebyside.beside(shorter, longer, sidebyside.paired("ac", "abc"))
    np.testing.assert_array_equal(found.difference, np.float32([[0, HIDDEN], [0.25, 0.25]]))
    assert [part.tolist() for part in found.alone] == [[0, 0], [0, 0.5]]
    assert found.distances.tolist() == [0, 0.5] and found.balance(1).equal
    turned = sidebyside.beside(longer, shorter, sidebyside.paired("abc", "ac"))
    assert [part.tolist() for part in turned.sums] == [part.tolist() for part in found.sums[::-1]]
    assert (found.row(1), found.row_second(1), found.row_second(2)) == (1, None, 1)


def test_a_long_map_is_reduced_to_its_strongest_numbers():
    values = np.array([[1, HIDDEN, HIDDEN], [-3, 2, HIDDEN], [0, 4, -5]], np.float32)
    small = sidebyside.reduced(values, 2)
    np.testing.assert_array_equal(small, np.float32([[-3, HIDDEN], [4, -5]]))
    assert sidebyside.behind(values, 2, (0, 0)) == (1, 0)
    assert sidebyside.behind(values, 2, (1, 0)) == (2, 1)
    assert sidebyside.behind(values, 2, (0, 1)) == (0, 2)
    assert [sidebyside.block_of(n) for n in (1, 192, 193, 512)] == [1, 1, 2, 3]


def test_maps_of_a_run_and_the_partner_of_a_head(tiny_name):
    trace = run(RunSpec(tiny_name, prompt="the cat and the other cat"))
    weights = trace.read("attn.weights", 1)
    n = len(trace.ids)
    later = np.triu(np.ones((n, n), bool), 1)
    for map_, wanted in (
        (sidebyside.of_head(trace, 1, 2), weights[2]),
        (sidebyside.of_layer(trace, 1), weights.mean(0)),
    ):
        assert np.isnan(map_[later]).all()
        np.testing.assert_allclose(map_[~later], wanted[~later], atol=1e-7)
    assert np.mean(sidebyside.of_heads(trace, 1, 3, 1)) == pytest.approx(weights.mean(0)[3, 1])
    assert [sidebyside.partner(trace, 1, head) for head in range(4)] == [1, 0, 3, 2]
    assert weights.flags.writeable is False


def test_without_shared_keys_the_partner_is_the_most_different_head(tmp_path):
    path = build_gguf(tmp_path / "gpt2.gguf", "gpt2")
    trace = run(RunSpec(path, ids=(5, 9, 12, 9, 30)))
    weights = trace.read("attn.weights", 0)
    gaps = np.abs(weights - weights[1]).sum(axis=(1, 2))
    assert sidebyside.partner(trace, 0, 1) == np.argmax(gaps)


def test_keys_outside_a_window_are_hidden(tmp_path):
    path = build_gguf(tmp_path / "gemma2.gguf", "gemma2")
    trace = run(RunSpec(path, ids=tuple(range(5, 5 + WINDOW + 4))))
    inside, whole = (trace.config.windows.index(window) for window in (WINDOW, None))
    first, second = (sidebyside.of_head(trace, layer, 0) for layer in (inside, whole))
    assert np.isnan(first[-1]).sum() == 4 and not np.isnan(second[-1]).any()
    difference = sidebyside.beside(first, second).difference
    np.testing.assert_array_equal(difference[-1, :4], -second[-1, :4])


def test_a_first_token_outside_the_window_gets_nothing():
    """Three rows behind the first: 0.5, 0.25, and 0 where it is hidden; as the run recorded it."""
    inside = np.array(
        [
            [1, HIDDEN, HIDDEN, HIDDEN],
            [0.5, 0.5, HIDDEN, HIDDEN],
            [0.25, 0.5, 0.25, HIDDEN],
            [HIDDEN, 0.5, 0.25, 0.25],
        ],
        np.float32,
    )
    assert sidebyside.first_share(inside) == 0.25


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("The capital of France is", "The capital of Spain is"),
        ("When Mary and John went, John fell", "When Jane and John went, John fell"),
        ("1 2 3", None),
    ],
)
def test_a_minimal_pair_differs_in_one_word(smollm, text, wanted):
    assert exchanged(smollm, text) == wanted


def test_a_word_is_exchanged_wherever_it_stands():
    nano = open_model("nano")
    text = "When Ben and Tom met, Tom fell"
    other = exchanged(nano, text)
    before, after = (nano.tokenizer.encode(each) for each in (text, other))
    changed = [n for n, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    assert len({before[n] for n in changed}) == len({after[n] for n in changed}) == 1
    assert len(changed) == before.count(before[changed[0]])


def test_a_form_of_the_same_word_is_no_other_word():
    for other, is_other in (("␣cats", False), ("␣dog", True), ("␣Dog", False), ("dog", False)):
        assert _other_word("␣cat", other) == is_other
