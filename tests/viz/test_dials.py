"""Dials send exactly the angles they were given, and refuse what cannot be drawn; where they lie,
and where the keys lead, run by Node.
"""

import json
import math
from dataclasses import replace

import pytest

from tests.viz.test_canvas_scripts import NODE, answer
from viz.dials import LABELS, MOVING, Dial, Hand, Slider, dials
from viz.payload import unpack

WORDS = {name: name for name in LABELS}
MORE = WORDS | {name: name for name in MOVING}
HAND = Hand(math.pi / 2, 0.5, "query", "q", dashed=True)
DIAL = Dial("<b>", (HAND, Hand(1.0, 1.0, "query")), ("a", "b"), ("x", "y"), "2.5", (0.5, -30.0))
SLIDER = Slider(9, 3, (1.0, 0.1), ("the", "<i>"))
SCRIPTS = ("common.js", "figure.js", "saving.js", "dials_paint.js", "dials.js")
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node to run JavaScript")


def meta(*shown, labels=WORDS, **more):
    return unpack(dials(shown, labels=labels, name="d", **more))[0]


def test_all_arrives_as_it_was_given():
    sent = meta(DIAL)
    (dial,) = sent["dials"]
    assert dial["hands"][0] == {
        "angle": math.pi / 2, "length": 0.5, "role": "query", "name": "q", "dashed": True,
    }  # fmt: skip
    assert (dial["label"], dial["lines"], dial["axes"]) == ("<b>", ["a", "b"], ["x", "y"])
    assert (dial["edge"], dial["arc"], sent["slider"]) == ("2.5", [0.5, -30.0], None)


def test_a_slider_keeps_its_speeds_to_the_last_bit():
    speeds = (1.0, 100_000 ** (-1 / 32))
    sent = meta(DIAL, DIAL, labels=MORE, slider=replace(SLIDER, speeds=speeds))
    assert tuple(sent["slider"]["speeds"]) == speeds
    assert sent["slider"]["tokens"] == ["the", "<i>"]


@pytest.mark.parametrize(
    "shown, slider, named",
    [
        ([], None, "no dials"),
        ([replace(DIAL, hands=(replace(HAND, role="red"),))], None, "unknown role"),
        ([replace(DIAL, hands=(replace(HAND, length=1.1),))], None, "length"),
        ([replace(DIAL, hands=(replace(HAND, length=-0.1),))], None, "length"),
        ([replace(DIAL, hands=(replace(HAND, angle=math.nan),))], None, "nan"),
        ([replace(DIAL, arc=(0.0, math.inf))], None, "arc"),
        ([DIAL, DIAL], replace(SLIDER, value=10), "position 10"),
        ([DIAL, DIAL], replace(SLIDER, value=-1), "position -1"),
        ([DIAL], SLIDER, "2 speeds for 1"),
        ([DIAL, DIAL], replace(SLIDER, speeds=(1.0, math.nan)), "speeds"),
    ],
)
def test_what_cannot_be_drawn_is_refused(shown, slider, named):
    with pytest.raises(ValueError, match=named):
        dials(shown, labels=MORE, name="d", slider=slider)


@pytest.mark.parametrize("name", LABELS + MOVING)
def test_a_missing_label_is_named(name):
    labels = {key: value for key, value in MORE.items() if key != name}
    with pytest.raises(ValueError, match=name):
        dials([DIAL, DIAL], labels=labels, name="d", slider=SLIDER)
    assert name in LABELS or meta(DIAL, labels=labels)  # without a slider it is not needed


# --- the script


def places(tmp_path, n, width):
    """The place of n dials in a width, and where the first and the last have their centres."""
    view = json.dumps({"dials": [{"lines": ["a"], "axes": ["dimension 9", "y"]}] * n})
    story = f"((p) => [p, ...[...Array({n}).keys()].map((i) => centreOf(p, i))])"
    return answer(f"{story}(placeDials({view}, {width}))", tmp_path, *SCRIPTS)


@needs_node
@pytest.mark.parametrize("n", [1, 2, 3, 8, 32, 64, 128])
@pytest.mark.parametrize("width", [300, 520, 900])
def test_no_two_dials_overlap_and_all_lie_inside(tmp_path, n, width):
    place, *centres = places(tmp_path, n, width)
    radius = place["radius"]
    assert radius > (20 if n > 2 else 45)
    for i, (x, y) in enumerate(centres):
        assert radius <= x <= width - radius and y >= radius
        for other in centres[:i]:
            assert math.dist((x, y), other) > 2 * radius + 4


@needs_node
def test_a_click_finds_the_dial_at_its_place(tmp_path):
    view = json.dumps({"dials": [{"lines": ["a"], "axes": ["", ""]}] * 32})
    found = answer(
        f"""((view, place) => [[-9, -9], [0, place.row - 1], [5, -9]].map(([x, y]) =>
        view.dials.map((_, i) => centreOf(place, i)).map(([a, b]) =>
        dialAt(view, place, a + x, b + (y < 0 ? y : y - place.radius)))))
        ({view}, placeDials({view}, 800))""",
        tmp_path,
        *SCRIPTS,
    )
    assert found == [list(range(32))] * 3  # on the circle and on the words below it
    outside = f"dialAt({view}, placeDials({view}, 800), -1, 10)"
    assert answer(outside, tmp_path, *SCRIPTS) == -1


@needs_node
def test_a_turn_is_an_arc_a_spiral_or_what_is_left_of_many_turns(tmp_path):
    def ends(by):
        points = answer(f"arcPoints([0.5, {by}], 100)", tmp_path, *SCRIPTS)
        return [
            (math.atan2(-y, x) % math.tau, math.hypot(x, y)) for x, y in (points[0], points[-1])
        ]

    for by in (0.3, 3.0, -2.0, 20.0, 1000.0):
        (start, inner), (end, outer) = ends(by)
        assert start == pytest.approx(0.5)
        assert math.cos(end - 0.5 - by) == pytest.approx(1)
        assert 30 <= inner <= outer < 60  # inside the circle, however often it goes round


@needs_node
def test_keys_move_the_position_and_stay_inside(tmp_path):
    presses = [
        ("ArrowRight", 5),
        ("ArrowLeft", 0),
        ("End", 5),
        ("Home", 5),
        ("PageUp", 95),
        ("a", 5),
    ]
    story = [f"positionAfterKey({{key: {key!r}}}, {at}, 99)" for key, at in presses]
    story.append("positionAfterKey({key: 'ArrowRight', shiftKey: true}, 5, 99)")
    found = answer(f"[{', '.join(story)}]", tmp_path, *SCRIPTS)
    assert found == [6, 0, 99, 0, 98, None, None]


@needs_node
def test_hands_are_turned_by_position_times_speed(tmp_path):
    labels = {
        "position": "{position}: {token}",
        "beyond": "{position} past",
        "round": "{n}/{count}",
    }
    view = {"dials": [{"hands": [{"angle": 0.5, "length": 1}]}] * 2, "labels": labels}
    view["slider"] = {"speeds": [1.0, 0.01], "tokens": ["$&", "b"]}
    text = json.dumps(view)
    turned = f"turnedTo({text}, 7).dials.map(({{hands, arc}}) => [hands[0].angle, ...arc])"
    said = f"sayPosition({text}, 0), sayPosition({text}, 7)"
    angles, *found = answer(f"[{turned}, {said}]", tmp_path, *SCRIPTS)
    assert angles == [pytest.approx([7.5, 0.5, 7]), pytest.approx([0.57, 0.5, 0.07])]
    assert found == [["0: $&", "0/2"], ["7 past", "1/2"]]


@needs_node
@pytest.mark.parametrize("dashed", [True, False])
@pytest.mark.parametrize("axis", [0, math.pi / 2])
def test_the_name_of_a_hand_keeps_clear_of_the_arrow_of_an_axis(tmp_path, axis, dashed):
    angles = [axis + n / 20 for n in range(-20, 21)]
    hands = [{"angle": angle, "length": 1, "dashed": dashed} for angle in angles]
    places = answer(f"{json.dumps(hands)}.map((hand) => namePlace(hand, 125))", tmp_path, *SCRIPTS)
    for x, y in places:
        along, across = (x, abs(y)) if axis == 0 else (-y, abs(x))
        assert along <= 125 or across >= 11
        assert math.hypot(x, y) < 125 + 27
