"""The merge player sends symbols, merges and trees as they were given, and refuses a story that
does not hold together. What the browser makes of it is run by Node.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from viz.merging import LABELS, Join, player
from viz.payload import unpack

CANVAS = Path(__file__).parents[2] / "pages" / "canvas"
NODE = shutil.which("node")
WORDS = dict.fromkeys(LABELS, "x") | {"id": "id {id}"}


def story(word, *merges, tokens, **changes):
    """The payload for a word whose symbols are letters; merges and tokens as (start, ..., stop)."""
    symbols = [(letter, letter.encode().hex()) for letter in word]
    joins = [Join(a, m, b, word[a:b], "", n, str(n)) for n, (a, m, b) in enumerate(merges)]
    left = [(a, b, word[a:b], [9]) for a, b in tokens]
    return unpack(player(symbols, joins, left, labels=WORDS, **changes))[0]


# "berry": er, ry, ber, berry
BERRY = ((1, 2, 3), (3, 4, 5), (0, 1, 3), (0, 3, 5))


def test_a_merge_stands_one_above_the_higher_of_its_two():
    meta = story("berry", *BERRY, tokens=[(0, 5)])
    assert [merge["height"] for merge in meta["merges"]] == [1, 1, 2, 3]
    assert [merge["text"] for merge in meta["merges"]] == ["er", "ry", "ber", "berry"]
    assert [symbol["bytes"] for symbol in meta["symbols"]] == ["62", "65", "72", "72", "79"]


def test_all_merges_are_done_unless_a_step_is_asked_for():
    assert story("berry", *BERRY, tokens=[(0, 5)])["step"] == 4
    assert story("berry", *BERRY, tokens=[(0, 5)], step=0)["step"] == 0


def test_a_piece_without_merges_is_a_row_of_tokens():
    meta = story("xy", tokens=[(0, 1), (1, 2)])
    assert meta["merges"] == [] and meta["step"] == 0


def test_one_token_may_stand_for_symbols_that_were_never_merged():
    """As `<unk>` does for several unknown characters in a row."""
    assert len(story("xyab", (2, 3, 4), tokens=[(0, 2), (2, 4)])["tokens"]) == 2


@pytest.mark.parametrize(
    "merges, tokens, named",
    [
        ([(0, 2, 3)], [(0, 3)], "not there"),  # ab was never made
        ([(0, 1, 2), (1, 2, 3)], [(0, 3)], "not there"),  # b is part of ab by then
        ([(0, 1, 2)], [(0, 1), (1, 3)], "leave"),  # a cut inside ab
        ([(0, 1, 2)], [(0, 2)], "leave"),  # c is missing
        ([], [(1, 2), (0, 1), (2, 3)], "leave"),
    ],
)
def test_a_story_that_does_not_hold_together_is_refused(merges, tokens, named):
    with pytest.raises(ValueError, match=named):
        story("abc", *merges, tokens=tokens)


@pytest.mark.parametrize("step", [-1, 5])
def test_a_step_outside_is_refused(step):
    with pytest.raises(ValueError, match="step is"):
        story("berry", *BERRY, tokens=[(0, 5)], step=step)


def test_a_missing_label_is_refused():
    with pytest.raises(ValueError, match="slider"):
        player([], [], [], labels={name: "x" for name in LABELS if name != "slider"})


@pytest.mark.skipif(NODE is None, reason="needs Node to run JavaScript")
def test_the_browser_counts_the_parts_of_every_step_as_we_do(tmp_path):
    meta = story("berry", *BERRY, tokens=[(0, 5)])
    ask = """[0, 1, 2, 3, 4].map((step) =>
      partsAt(m, step).map(([start, stop]) => namesOf(m)(start, stop).text).join(" "))"""
    scripts = [(CANVAS / name).read_text("utf-8") for name in ("common.js", "merges_tree.js")]
    scripts.append(f"const m = {json.dumps(meta)}; console.log(JSON.stringify({ask}));")
    (tmp_path / "script.mjs").write_text("\n".join(scripts), "utf-8")
    done = subprocess.run([NODE, "script.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert json.loads(done.stdout) == ["b e r r y", "b er r y", "b er ry", "ber ry", "berry"]
