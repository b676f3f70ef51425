"""The reading sends each stretch of the text with the tokens it belongs to, and refuses what does
not fit together. What the browser makes of it is run by Node.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from core.text.display import show_text
from viz.payload import unpack
from viz.reading import LABELS, parts, reading

CANVAS = Path(__file__).parents[2] / "pages" / "canvas"
NODE = shutil.which("node")
WORDS = dict.fromkeys(LABELS, "x")


def meta(text, tokens, spans, **changes):
    n = len(tokens)
    wanted = {"hexes": [""] * n, "shown": show_text, "labels": WORDS} | changes
    return unpack(reading(text, tokens, range(n), spans, **wanted))[0]


def stretches(text, spans):
    found = meta(text, ["t"] * len(spans), spans)["parts"]
    return [(part["text"], *part["tokens"]) for part in found]


def test_a_text_falls_apart_where_its_tokens_do():
    spans = [(0, 3), (3, 7), (7, 8)]
    assert stretches("The cats", spans) == [("The", 0), ("␣cat", 1), ("s", 2)]


def test_the_same_word_twice_is_two_stretches():
    assert stretches("no no", [(0, 2), (2, 5)]) == [("no", 0), ("␣no", 1)]


def test_a_character_in_pieces_belongs_to_all_its_tokens():
    """F0 9F | A6 | 99, between whole characters."""
    spans = [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3)]
    assert stretches("a🦙b", spans) == [("a", 0), ("🦙", 1, 2, 3), ("b", 4)]


def test_a_token_with_a_whole_character_and_half_of_the_next():
    assert parts(3, [(0, 2), (1, 2)]) == [(0, 1, [0]), (1, 2, [0, 1]), (2, 3, [])]


def test_what_no_token_stands_for_belongs_to_none():
    assert stretches("a\x04b", [(0, 1), (2, 3)]) == [("a", 0), ("⟨04⟩",), ("b", 1)]
    assert stretches("\x04", []) == [("⟨04⟩",)]


def test_tokens_that_come_in_another_order_than_their_characters_find_them():
    assert stretches("xéy", [(1, 2), (1, 2), (0, 1), (2, 3)]) == [("x", 2), ("é", 0, 1), ("y", 3)]
    assert stretches("xéy", [(1, 2), (0, 3)]) == [("x", 1), ("é", 0, 1), ("y", 1)]


def test_a_token_before_the_text_touches_nothing_of_it():
    assert stretches("ab", [(0, 0), (0, 2)]) == [("ab", 1)]


def test_lines_stay_on_lines_of_their_own_and_nothing_acts_as_mark_up():
    assert stretches("<b>\n $x$", [(0, 3), (3, 5), (5, 8)]) == [
        ("<b>", 0),
        ("⏎\n␣", 1),
        ("$x$", 2),
    ]
    assert stretches("a\u202e⏎b", [(0, 4)]) == [("a⟨U+202E⟩⏎b", 0)]


def test_a_combining_mark_gets_its_carrier_only_where_it_stands_alone():
    assert stretches("e\u0301e\u0301", [(0, 2), (2, 3), (3, 4)]) == [
        ("e\u0301", 0),
        ("e", 1),
        ("◌\u0301", 2),
    ]


def test_all_stretches_together_are_the_text():
    text, spans = "a b  c", [(0, 1), (1, 3), (3, 4), (4, 6)]
    assert "".join(part for part, *_ in stretches(text, spans)) == show_text(text)


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"hexes": [""]}, "hexes has 1"),
        ({"special": [True]}, "special has 1"),
        ({"selected": 2}, "selected is 2"),
        ({"spans": [(0, 1), (1, 9)]}, "outside"),
        ({"spans": [(0, 1), (2, 1)]}, "outside"),
        ({"labels": {"aria": "x"}}, "token"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(changes, named):
    wanted = {"spans": [(0, 1), (1, 2)]} | changes
    with pytest.raises(ValueError, match=named):
        meta("ab", ["a", "b"], **wanted)


@pytest.mark.skipif(NODE is None, reason="needs Node to run JavaScript")
def test_pointing_joins_tokens_and_characters_in_the_browser(tmp_path):
    spans = [(0, 1), (1, 2), (1, 2), (2, 3)]
    sent = meta("a🙂b", ["a", "⟨F0 9F⟩", "⟨99 82⟩", "b"], spans)
    ask = "[partsOf(m, 1), partsOf(m, 2), tokensOf(m, 1), tokensOf(m, 2)]"
    scripts = [(CANVAS / name).read_text("utf-8") for name in ("common.js", "reading.js")]
    scripts.append(f"const m = {json.dumps(sent)}; console.log(JSON.stringify({ask}));")
    (tmp_path / "script.mjs").write_text("\n".join(scripts), "utf-8")
    done = subprocess.run([NODE, "script.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert json.loads(done.stdout) == [[1], [1], [1, 2], [3]], done.stderr
