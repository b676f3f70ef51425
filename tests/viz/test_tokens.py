"""The token strip sends exactly what it was given, and refuses what does not fit together."""

import pytest

from viz.payload import unpack
from viz.tokens import token_strip

LABELS = {"aria": "tokens", "token": "{token}, id {id}, position {position}"}
# Repeated, mark-up, right-to-left, half a character, a line end: what display texts may hold.
TOKENS = ["the", "the", "<b>", "␣مرحبا", "⟨F0 9F⟩", "↵"]
IDS = [504, 504, 44, 21706, 10813, 198]


def strip(**changes):
    return unpack(token_strip(TOKENS, IDS, labels=LABELS, **changes))[0]


def test_texts_and_ids_arrive_in_logical_order_and_unmerged():
    meta = strip()
    assert meta["tokens"] == TOKENS
    assert meta["ids"] == IDS


def test_what_is_left_out_is_sent_as_nothing_per_token():
    meta = strip()
    assert meta["selected"] is None
    assert meta["roles"] == [None] * 6
    assert meta["details"] == [""] * 6
    assert meta["special"] == [False] * 6
    assert meta["variant"] == "row"


def test_position_zero_is_a_selection():
    assert strip(selected=0)["selected"] == 0


def test_special_tokens_are_marked():
    marks = [True, False, False, True, False, False]
    assert strip(special=marks)["special"] == marks


def test_roles_bring_their_colours_for_both_themes():
    meta = strip(roles=["query", "key", None, None, None, "value"])
    assert meta["roles"][:3] == ["query", "key", None]
    assert set(meta["colours"]["query"]) == {"light", "dark"}


def test_an_empty_strip_is_a_strip():
    assert unpack(token_strip([], [], labels=LABELS))[0]["tokens"] == []


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"selected": 6}, "6"),
        ({"selected": -1}, "-1"),
        ({"roles": ["query"]}, "roles has 1"),
        ({"details": ["a"] * 7}, "details has 7"),
        ({"roles": ["magic"] + [None] * 5}, "magic"),
        ({"variant": "wide"}, "wide"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(changes, named):
    with pytest.raises(ValueError, match=named):
        strip(**changes)


def test_unequal_ids_are_refused():
    with pytest.raises(ValueError, match="ids has 1"):
        token_strip(["a", "b"], [1], labels=LABELS)


def test_a_missing_label_is_refused():
    with pytest.raises(ValueError, match="token"):
        token_strip(["a"], [1], labels={"aria": "tokens"})
