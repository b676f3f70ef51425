"""The strips of a growing cache: what is sent, what is refused; and by Node where cells lie and
what is said of them.
"""

import numpy as np
import pytest

from tests.viz.test_canvas_scripts import NODE, answer
from viz.growing import LABELS, Step, growing
from viz.payload import unpack

WORDS = {name: name for name in LABELS}
WORDS |= {"tooltip": "{layer} {kv_head} {token} {position} {value} {when}", "step": "step {step}"}
WORDS |= {"cell": "{dim} {value} {when}"}
LENGTHS = np.arange(24, dtype=np.float32).reshape(2, 3, 4)  # [layer, kv_head, position]
NUMBERS = np.arange(-10, 10, dtype=np.float32).reshape(4, 5)  # [position, head_dim]
STEPS = (Step(0, 7, "prefill"), Step(7, 8, "<b>", ("a",)), Step(8, 9, "c"))
GIVEN = {"role": "key", "tokens": ["a", "b", "<i>", "d"], "first_position": 5, "chosen": (1, 2)}
GIVEN |= {"step": 1, "labels": WORDS, "name": "cache"}
SCRIPTS = ("common.js", "figure.js", "saving.js", "growing_paint.js", "growing.js")


def payload(lengths=LENGTHS, numbers=NUMBERS, steps=STEPS, **changes):
    return growing(lengths, numbers, steps, **GIVEN | changes)


def test_all_arrives_as_it_was_given():
    meta, arrays = unpack(payload())
    assert meta["steps"][1] == {"first": 7, "stop": 8, "title": "<b>", "lines": ["a"]}
    assert (meta["step"], meta["row"], meta["first_position"]) == (1, [1, 2], 5)
    assert meta["tokens"] == GIVEN["tokens"] and meta["limits"] == [23.0, 10.0]
    np.testing.assert_array_equal(arrays["lengths"], LENGTHS)
    np.testing.assert_array_equal(arrays["numbers"], NUMBERS)


def test_zeros_alone_still_have_a_scale():
    meta, _ = unpack(payload(LENGTHS * 0, NUMBERS * 0))
    assert meta["limits"] == [1.0, 1.0]


def test_what_is_not_finite_is_sent_and_has_no_part_in_the_scale():
    lengths, numbers = LENGTHS.copy(), NUMBERS.copy()
    lengths[1, 2, 3], numbers[0, 0], numbers[1, 1] = np.inf, np.nan, -np.inf
    meta, arrays = unpack(payload(lengths, numbers))
    assert meta["limits"] == [22.0, 9.0]
    np.testing.assert_array_equal(arrays["lengths"], lengths)
    np.testing.assert_array_equal(arrays["numbers"], numbers)
    assert unpack(payload(np.full_like(LENGTHS, np.inf), np.full_like(NUMBERS, np.nan)))[0][
        "limits"
    ] == [1.0, 1.0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"lengths": LENGTHS[0]},
        {"numbers": NUMBERS[:3]},
        {"tokens": ["a"]},
        {"chosen": (2, 0)},
        {"step": 3},
        {"steps": STEPS[:2]},
        {"steps": STEPS[::-1]},
        {"labels": {}},
    ],
)
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(ValueError):
        payload(**wrong)


@pytest.mark.skipif(NODE is None, reason="needs Node to run JavaScript")
def test_only_what_is_written_by_then_can_be_pointed_at(tmp_path):
    view = """(() => {
      const {meta, arrays} = unpack(bytes), theme = {mono: "m", sans: "s"};
      const view = {meta, ...arrays};
      view.place = placeGrowing(view, 900, theme);
      const {cw, strips, head} = view.place, x = (column) => GUTTER + (column + 0.5) * cw;
      const at = (step, column, y) => growingAt(view, step, x(column), y);
      return [
        at(0, 1, strips.top + 1), at(0, 2, strips.top + 1), at(1, 2, strips.bottom - 1),
        at(2, 3, head.bottom - 1), at(2, 3, strips.bottom + 3), at(2, 4, strips.top + 1),
        sayCell(view, {part: "strips", row: 4, column: 2}),
        sayCell(view, {part: "head", row: 3, column: 3}),
        sayCell(view, {part: "head", row: 0, column: 0}),
        lengthLines(view)[5], numberLines(view)[1],
      ];
    })()"""
    found = answer(view, tmp_path, *SCRIPTS, data=payload())
    part = [each and (each["part"], each["row"], each["column"]) for each in found[:6]]
    assert part == [("strips", 0, 1), None, ("strips", 5, 2), ("head", 4, 3), None, None]
    assert found[6:9] == [["1 1 <i> 7 18 step 1"], ["3 8 step 2"], ["0 −10 prefill"]]
    assert found[9:] == ["1,1,16,17,18,19", "0,-10,-5,0,5"]


@pytest.mark.skipif(NODE is None, reason="needs Node to run JavaScript")
def test_what_is_not_finite_is_hatched_and_named(tmp_path):
    """A pen that writes down what it is asked for."""
    lengths = LENGTHS.copy()
    lengths[1, 2, :2] = np.inf, np.nan
    lengths[0, 0, 3] = np.inf  # of a step that is still to come
    view = """(() => {
      const {meta, arrays} = unpack(bytes), theme = {mono: "m", sans: "s", faint: "f"};
      const lut = arrays.amount_lut_light.data, luts = {amount: [lut], signed: [lut]};
      const view = {meta, theme, luts, ...arrays};
      view.place = placeGrowing(view, 900, theme);
      const {strips, cw} = view.place, boxes = [];
      hatchAll = (_, __, all) => boxes.push(all);
      const pen = new Proxy({}, {
        get: (_, name) => name === "measureText" ? () => ({width: 9}) : name === "createImageData"
          ? (w, h) => ({data: new Uint8Array(4 * w * h)}) : () => {},
        set: () => true,
      });
      document.createElement = () => ({getContext: () => pen});
      paintCells(pen, view, "strips", 2, (row, column) => view.lengths.data[row * 4 + column]);
      paintScale(pen, view, "lengths", ["0", "1"], 0);
      paintScale(pen, view, "numbers", ["0", "1"], 0);
      const at = ([x, y]) => [Math.floor((y - strips.top) / strips.ch + 0.5), (x - GUTTER) / cw];
      return [boxes[0].map(at), boxes.length, sayCell(view, {part: "strips", row: 5, column: 1})];
    })()"""
    found = answer(view, tmp_path, *SCRIPTS, data=payload(lengths))
    assert found == [[[5, 0], [5, 1]], 2, ["1 2 b 6 broken prefill"]]
