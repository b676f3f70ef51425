"""The payload of the tree of a beam search, and where the arrow keys lead in it, run by Node."""

import json

import pytest

from tests.viz.test_canvas_scripts import NODE, answer
from viz.branches import LABELS, Branch, branches
from viz.payload import unpack

SAID = dict.fromkeys(LABELS, "said") | {"level": "{level}"}
SCRIPTS = ("common.js", "svg.js", "saving.js", "branches_draw.js", "branches.js")


def branch(parent, state="kept", best=False, text="a"):
    return Branch(parent, text, "-1 -2", state, best, [text, "said"])


TREE = [
    [branch(None, best=True), branch(None), branch(None, "dropped")],
    [branch(1), branch(0, best=True), branch(0, "dropped"), branch(1, "dropped")],
    [branch(1, "finished", True), branch(1, "dropped")],
]


def test_the_payload_says_what_was_given():
    meta, _ = unpack(branches(TREE, chosen=(1, 2), labels=SAID, asked=False))
    assert [len(column) for column in meta["columns"]] == [3, 4, 2]
    assert meta["columns"][1][0] == {
        "parent": 1, "text": "a", "numbers": "-1 -2", "state": "kept", "best": False,
        "title": ["a", "said"],
    }  # fmt: skip
    assert (meta["chosen"], meta["asked"]) == ([1, 2], False)


@pytest.mark.parametrize(
    "columns, chosen, labels, named",
    [
        ([[branch(0)]], None, SAID, "parent 0"),
        ([[branch(None)], [branch(None)]], None, SAID, "parent None"),
        ([[branch(None)], [branch(1)]], None, SAID, "parent 1"),
        ([[branch(None, "lost")]], None, SAID, "lost"),
        (TREE, (1, 4), SAID, "(1, 4)"),
        (TREE, (3, 0), SAID, "(3, 0)"),
        (TREE, None, {}, "aria"),
    ],
)
def test_what_cannot_be_drawn_is_refused(columns, chosen, labels, named):
    with pytest.raises(ValueError) as refused:
        branches(columns, chosen=chosen, labels=labels)
    assert named in str(refused.value)


@pytest.mark.skipif(NODE is None, reason="needs Node to run JavaScript")
@pytest.mark.parametrize(
    "start, keys, end",
    [
        ([0, 0], ["Down", "Down", "Down"], [0, 2]),
        ([0, 1], ["Right"], [1, 0]),  # its best child
        ([0, 2], ["Right"], [0, 2]),  # it has none
        ([1, 2], ["Left", "Up"], [0, 0]),
        ([1, 3], ["Left", "Left"], [0, 1]),
        ([0, 0], ["Right", "Right", "Left", "Left"], [0, 0]),
    ],
)
def test_arrow_keys_walk_the_tree(tmp_path, start, keys, end):
    columns = [[vars(each) for each in column] for column in TREE]
    walk = f"""{json.dumps(keys)}.reduce(
        (at, key) => goal({json.dumps(columns)}, at, `Arrow${{key}}`), {json.dumps(start)})"""
    assert answer(walk, tmp_path, *SCRIPTS) == end
    ends = f'["Home", "End"].map((key) => goal({json.dumps(columns)}, [1, 1], key))'
    assert answer(ends, tmp_path, *SCRIPTS) == [[0, 0], [2, 0]]
