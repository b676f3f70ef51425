"""The parts of the browser scripts that can be wrong without anyone seeing it, run by Node.

The pictures themselves are looked at in a real browser; here are the payload, the pixel bins, the
saved numbers, the colour code, and where the parts of a matrix lie.
"""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from viz.atlas import LABELS, atlas
from viz.payload import pack

CANVAS = Path(__file__).parents[2] / "pages" / "canvas"
NODE = shutil.which("node")
MATRIX = (
    "common.js",
    "figure.js",
    "saving.js",
    "matrix_place.js",
    "matrix_paint.js",
    "matrix_lens.js",
    "matrix.js",
)
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node to run JavaScript")


def answer(expression: str, tmp_path, *scripts: str, data: bytes = b""):
    """The value of a JavaScript expression after the scripts; `bytes` in it is `data`."""
    (tmp_path / "data").write_bytes(data)
    pen = "({measureText: (text) => ({width: 7 * text.length})})"
    pen = f"{{createElement: () => ({{getContext: () => {pen}}})}}; globalThis.window = {{}}"
    text = "".join((CANVAS / script).read_text("utf-8") for script in scripts)
    text = f'import {{readFileSync}} from "node:fs"; globalThis.document = {pen};\n{text}\n'
    text += 'const bytes = new Uint8Array(readFileSync("data"));\n'
    text += f"console.log(JSON.stringify({expression}))"
    (tmp_path / "script.mjs").write_text(text, "utf-8")
    done = subprocess.run([NODE, "script.mjs"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("shift", [0, 1, 2, 3])
def test_javascript_reads_what_python_packed(tmp_path, shift):
    meta = {"rows": ["␣مرحبا", "<b>", "🙂"]}
    values = np.array([[0.1, -2.5], [3e38, 1e-40]], np.float32)
    data = bytes(shift) + pack(meta, codes=np.arange(5, dtype=np.uint8), values=values)
    read = f"unpack(bytes.subarray({shift}))"
    found = answer(
        f"[{read}.meta, [...{read}.arrays.codes.data], [...{read}.arrays.values.data],"
        f" {read}.arrays.values.shape]",
        tmp_path,
        "common.js",
        data=data,
    )
    assert found == [meta, [0, 1, 2, 3, 4], values.astype(float).ravel().tolist(), [2, 2]]


@pytest.mark.parametrize(
    "count, pixels, gap, empty", [(1536, 900, 0, 0), (7, 7, 0, 0), (5, 230, 2, 10), (3, 4, 2, 1)]
)
def test_every_item_is_on_some_pixel(tmp_path, count, pixels, gap, empty):
    expression = f"(({{from, to}}) => [[...from], [...to]])(binPixels({count}, {pixels}, {gap}))"
    starts, ends = answer(expression, tmp_path, "common.js", "figure.js")
    spans = [(a, b) for a, b in zip(starts, ends, strict=True) if a >= 0]
    assert {i for a, b in spans for i in range(a, b)} == set(range(count))
    assert pixels - len(spans) == empty


def test_saved_numbers_read_back_as_the_same_float32(tmp_path):
    values = np.array([0.1, 1 / 3, -1e-40, 16777216, 3.4028235e38, 0], np.float32)
    texts = answer(
        "[...unpack(bytes).arrays.values.data].map(shortest)",
        tmp_path,
        "common.js",
        "saving.js",
        data=pack({}, values=values),
    )
    assert texts[:2] == ["0.1", "0.33333334"]
    assert [np.float32(text) for text in texts] == values.tolist()
    assert answer("shortest(NaN) + shortest(-Infinity)", tmp_path, "common.js", "saving.js") == ""


def test_numbers_on_screen(tmp_path):
    shown = "[0.0356623, -1234567, 2.52e-6, 0].map((value) => digits(value, 3))"
    expected = ["0.0357", "\u22121230000", "2.52e\u22126", "0"]
    assert answer(shown, tmp_path, "common.js", "saving.js") == expected


def test_a_token_is_never_a_formula(tmp_path):
    texts = ["=1+1", "@x", "-", 'a"b,c', "␣="]
    cells = answer(f"{json.dumps(texts)}.map(csvText)", tmp_path, "common.js", "saving.js")
    assert cells == ['"\'=1+1"', '"\'@x"', '"\'-"', '"a""b,c"', '"␣="']


def test_colour_codes_and_the_strongest_cell(tmp_path):
    signed = '{palette: "signed", limit: 2}'
    codes = answer(
        f"[-9, -2, 0, 2, NaN, -Infinity].map((v) => codeOf(v, {signed}))", tmp_path, *MATRIX
    )
    assert codes == [0, 0, 128, 255, -1, -1]
    powers = '{palette: "amount", limit: 1000, low: 0.1}'
    codes = answer(f"[0, 0.1, 10, 1000, 9e9].map((v) => codeOf(v, {powers}))", tmp_path, *MATRIX)
    assert codes == [0, 0, 128, 255, 255]
    view = "{values: [1, -5, NaN, 2, -Infinity, 4], shape: [2, 3]}"
    found = answer(
        f"[strongest({view}, 0, 1, 0, 3), strongest({view}, 0, 2, 2, 3),"
        f" strongest({view}, 1, 2, 0, 3), strongest({view}, 1, 2, 1, 2)]",
        tmp_path,
        *MATRIX,
    )
    assert found == [1, 5, 5, 4]


def test_keys_stay_inside_and_leave_others_alone(tmp_path):
    presses = [
        ["ArrowRight", [0, 2]],
        ["ArrowDown", [0, 2]],
        ["End", [1, 0]],
        ["Home", [1, 2]],
        ["ArrowUp", None],
        ["ArrowUp", [1, 1], True],
        ["a", [0, 0]],
    ]
    press = "([key, at, shiftKey]) => cellAfterKey({key, shiftKey}, at, [2, 3])"
    found = answer(f"{json.dumps(presses)}.map({press})", tmp_path, "common.js", "figure.js")
    assert found == [[0, 2], [1, 2], [1, 2], [1, 0], [0, 0], None, None]


def test_a_choice_is_reported_once_and_old_echoes_are_ignored(tmp_path):
    story = """await (async () => {
      const told = [], wait = (ms) => new Promise((done) => setTimeout(done, ms));
      const choice = makeChoice((...what) => told.push(what), {pause: 20, quiet: 30, echo: 3000});
      choice.adopt([0, 0]);
      choice.move([0, 1]); choice.move([0, 2]); await wait(60);
      choice.move([0, 3]); await wait(60);
      const stale = [choice.adopt([0, 2]), choice.current];
      choice.adopt([0, 3]);
      const python = [choice.adopt([7, 7]), choice.current];
      choice.move([0, 3]); await wait(60);
      return {told, stale, python};
    })()"""
    assert answer(story, tmp_path, "common.js") == {
        "told": [[[0, 2], False], [[0, 3], False], [[0, 3], True]],
        "stale": [False, [0, 3]],
        "python": [True, [7, 7]],
    }


def test_a_choice_that_waits_can_be_told_at_once_and_is_told_once(tmp_path):
    story = """await (async () => {
      const told = [], choice = makeChoice((value) => told.push(value), {pause: 20});
      choice.tell();
      choice.move(5); choice.tell();
      const early = [...told];
      choice.tell(); await new Promise((done) => setTimeout(done, 60));
      return [early, told];
    })()"""
    assert answer(story, tmp_path, "common.js") == [[5], [5]]


def test_python_hears_of_the_same_token_again(tmp_path):
    story = """await (async () => {
      const told = [], wait = () => new Promise((done) => setTimeout(done, 40));
      const port = {
        setStateValue: (...what) => told.push(["state", ...what]),
        setTriggerValue: (...what) => told.push(["trigger", ...what]),
      };
      const choice = makeChoice(tellPython(port, "position"), {pause: 5, quiet: 10});
      choice.move(3); await wait();
      choice.adopt(3); choice.adopt(0); await wait();
      choice.move(3); await wait();
      return told;
    })()"""
    told = answer(story, tmp_path, "common.js")
    assert told == [["state", "position", 3], ["trigger", "position", 3]]


def test_saved_files_have_plain_names(tmp_path):
    names = ["attn.q", "W_q / layer 3", "../注意力", "注意力", ".hidden"]
    safe = answer(f"{json.dumps(names)}.map(fileName)", tmp_path, "common.js", "saving.js")
    assert safe == ["attn.q", "w_q-layer-3", "figure", "figure", "hidden"]


# ---- places; every letter is 7 pixels wide here --------------------------------------------------

BARE = {
    "rows": ["abc"],
    "columns": None,
    "row_title": "token",
    "column_title": "dimension",
    "palette": "signed",
    "limit": 1,
    "labels": {"masked": "masked"},
    "lens": True,
    "saves": True,
    "first_row": 0,
    "first_column": 0,
    "column_step": 1,
    "height": None,
    "indent": None,
}


def placed(tmp_path, shape, width, **changes):
    """Where the parts of a matrix lie in a figure of this width; the buttons take 110 pixels."""
    meta = {"rows": ["abc"] * shape[0]} | changes
    view = {"meta": BARE | meta, "shape": shape, "theme": {}, "masked": False}
    pick = "(({across, down, ...rest}) => ({...rest, down: down.from.length}))"
    return answer(f"{pick}(placeMatrix({json.dumps(view)}, {width}, 110))", tmp_path, *MATRIX)


@pytest.mark.parametrize("width", [300, 820])
def test_a_strip_is_low_with_its_lens_and_its_line(tmp_path, width):
    place = placed(tmp_path, [1, 576], width)
    assert place["lens"]["count"] >= 3 and place["total"] <= 92
    assert place["top"] + place["height"] + 15 <= place["lens"]["names"] - 6
    assert place["lens"]["bottom"] <= place["total"] - 19
    assert not place["legend"]["below"]


def test_strips_with_one_indent_align(tmp_path):
    one, two = (placed(tmp_path, [1, 64], 500, rows=[name], indent=90) for name in ("a", "b" * 40))
    assert one["left"] == two["left"] == 90 and one["cw"] == two["cw"]
    assert placed(tmp_path, [1, 64], 500)["left"] == 3 * 7 + 10


@pytest.mark.parametrize("width", [140, 190, 230, 300, 500, 1200])
def test_a_lens_cell_holds_its_number_or_there_is_no_lens(tmp_path, width):
    lens = placed(tmp_path, [4, 576], width)["lens"]
    if lens is None:
        assert width < 3 * (7 * len("-0.0012") + 5)
    else:
        assert 3 <= lens["count"] <= 15 and lens["count"] % 2 == 1
        assert lens["cell"] >= 7 * len("-0.0012") + 2


@pytest.mark.parametrize("chosen, first", [(0, 0), (1, 0), (50, 48), (99, 95)])
def test_a_cell_of_the_lens_is_the_one_that_stands_there(tmp_path, chosen, first):
    lens = {"left": 92, "top": 40, "cell": 50, "height": 20, "count": 5}
    view = {"shape": [3, 100], "place": {"lens": lens}}
    points = ((93, 41), (191, 59), (341, 50), (342, 50), (91, 50), (200, 39), (200, 60))
    events = [{"offsetX": x, "offsetY": y} for x, y in points]
    found = f"{json.dumps(events)}.map((e) => lensAt({json.dumps(view)}, e, [2, {chosen}]))"
    cells = [[2, first], [2, first + 1], [2, first + 4]]
    assert answer(found, tmp_path, *MATRIX) == [*cells, None, None, None, None]


def test_a_reduced_picture_has_no_lens_and_keeps_to_its_height(tmp_path):
    place = placed(tmp_path, [48, 144], 500, lens=False, height=40)
    assert place["lens"] is None and place["height"] == 40
    assert place["down"] == 40 < 48
    assert placed(tmp_path, [48, 144], 500)["height"] > 40


def test_a_whole_matrix_takes_the_height_that_it_is_given(tmp_path):
    place = placed(tmp_path, [200, 48], 420, height=1000, indent=92)
    assert place["height"] == 1000 and place["ch"] == 5 and 6 < place["cw"] < 8
    assert placed(tmp_path, [200, 48], 420)["height"] == 600


def test_outlines_stand_around_their_cells_and_all_but_the_first_are_dashed(tmp_path):
    view = {"meta": {"marks": [[2, 0, 3, 4], [0, 1, 5, 3]]}, "theme": {}}
    view |= {"place": {"left": 10, "top": 20, "cw": 6, "ch": 5}}
    story = f"""(() => {{
      const drawn = [], pen = {{
        setLineDash: (dash) => {{ pen.dash = dash; }},
        strokeRect: (...box) => drawn.push([...box, pen.lineWidth, (pen.dash ?? []).length]),
      }};
      const view = {json.dumps(view)};
      view.meta.marks.forEach((mark, i) => outline(pen, view, mark, i > 0));
      return drawn;
    }})()"""
    background, line, _, dashed = answer(story, tmp_path, *MATRIX)
    assert background[:4] == line[:4] == [9, 29, 26, 7] and background[4] > line[4]
    assert dashed[:4] == [15, 19, 14, 27] and (line[5], dashed[5]) == (0, 2)


def test_the_number_under_the_pointer_is_the_float32_itself(tmp_path):
    values = np.array([0.1, -1 / 3, 2.5e-8, 16777216], np.float32)
    view = f"{{meta: {json.dumps(BARE)}, shape: [1, 4], values: unpack(bytes).arrays.values.data}}"
    words = f"[0, 1, 2, 3].map((column) => cellWords({view}, [0, column]).value)"
    shown = answer(words, tmp_path, *MATRIX, data=pack({}, values=values[None]))
    assert [np.float32(text.replace("\u2212", "-")) for text in shown] == values.tolist()
    assert shown[:2] == ["0.1", "\u22120.33333334"]


def test_short_column_names_lie_flat_and_take_one_line(tmp_path):
    names = ["The", "of", "The", "is", "a"]
    flat = placed(tmp_path, [5, 5], 500, columns=names)
    narrow = placed(tmp_path, [5, 5], 120, columns=names)
    long = placed(tmp_path, [5, 5], 500, columns=[*names[:4], "internationally"])
    assert [p["names"] for p in (flat, narrow, long)] == ["flat", "slanted", "slanted"]
    assert flat["cw"] == 46 and flat["top"] < narrow["top"] < long["top"]


def test_buttons_get_a_line_of_their_own_where_the_scale_leaves_no_room(tmp_path):
    legend = placed(tmp_path, [1, 576], 190)["legend"]
    assert legend["below"] and legend["end"] == 190
    wide = placed(tmp_path, [1, 576], 400)["legend"]
    assert not wide["below"] and wide["end"] + 110 < 400


def test_columns_are_counted_from_the_first_in_steps(tmp_path):
    meta = BARE | {"first_row": 7, "first_column": 40, "column_step": 4, "name": "m"}
    view = f"{{meta: {json.dumps(meta)}, shape: [1, 3], values: Float32Array.of(1, 2, 3)}}"
    words, lines = answer(f"[cellWords({view}, [0, 2]), csvLines({view})]", tmp_path, *MATRIX)
    assert (words["row_index"], words["column"], words["value"]) == (7, 48, "3")
    assert lines[0].endswith('"40","44","48"')


def test_names_that_repeat_carry_their_number_in_a_file(tmp_path):
    names = {"rows": ["a", "b", "a"], "columns": ["x", "x"], "first_row": 7}
    meta = json.dumps(BARE | names)
    view = f"{{meta: {meta}, shape: [3, 2], values: new Float32Array(6)}}"
    lines = answer(f"csvLines({view})", tmp_path, *MATRIX)
    assert [line.split(",")[0] for line in lines[1:]] == ['"a (7)"', '"b"', '"a (9)"']
    assert lines[0].endswith('"x (0)","x (1)"')


def test_a_number_loses_digits_before_it_is_squeezed(tmp_path):
    pen = "{measureText: (text) => ({width: 7 * text.length})}"
    fits = "[50, 42, 35, 28].map((width) => fitting(PEN, -0.1234, width))".replace("PEN", pen)
    shown = [text.replace("\u2212", "-") for text in answer(fits, tmp_path, *MATRIX)]
    assert shown == ["-0.123", "-0.123", "-0.12", "-0.1"]


def ticks(tmp_path, columns, width, title):
    """What is written below a strip, each text with its left and right edge, and where its marks
    stand.
    """
    view = json.dumps({"meta": BARE | {"column_title": title}, "shape": [1, columns], "theme": {}})
    story = f"""(() => {{
      const view = {view}, texts = [], marks = [];
      view.place = placeMatrix(view, {width}, 110);
      const pen = {{
        measureText: (text) => ({{width: 7 * String(text).length}}),
        fillRect: (x) => marks.push(x),
        fillText: (text, x) => {{
          const {{width}} = pen.measureText(text);
          const left = pen.textAlign === "center" ? x - width / 2 : x;
          texts.push([String(text), left, left + width]);
        }},
      }};
      paintTicks(pen, view);
      return {{texts, marks, edge: view.place.left + view.place.width}};
    }})()"""
    return answer(story, tmp_path, *MATRIX)


@pytest.mark.parametrize("columns", [8, 32, 576])
def test_no_number_and_no_mark_stands_in_the_title_of_a_strip(tmp_path, columns):
    found = ticks(tmp_path, columns, 400, "all heads side by side")
    (title, left, right), *numbers = found["texts"]
    assert title == "all heads side by side \u2192" and right <= found["edge"] + 1
    assert numbers and all(end < left for _, _, end in numbers)
    assert len(found["marks"]) == len(numbers) and all(mark < left for mark in found["marks"])


def test_the_title_of_a_short_strip_stands_beside_it(tmp_path):
    found = ticks(tmp_path, 3, 400, "pair of dimensions")
    (title, left, _), *numbers = found["texts"]
    assert title == "pair of dimensions \u2192" and left > found["edge"]
    assert [text for text, _, _ in numbers] == ["0", "1", "2"]


@pytest.mark.parametrize("width", [300, 383, 520, 900])
def test_atlas_maps_fill_the_width(tmp_path, width):
    view = "{shape: [30, 9], meta: {limit: 1, grid: true, labels: {}}, theme: {}}"
    place, last = answer(
        f"((p) => [p, mapCorner(p, 29, 8)])(placeAtlas({view}, {width}, 60))",
        tmp_path,
        "common.js",
        "figure.js",
        "saving.js",
        "atlas.js",
    )
    assert width - 5 <= last[0] + place["side"] <= width
    assert 2 <= place["step"] - place["side"] < 3


ATLAS = ("common.js", "figure.js", "saving.js", "atlas.js")


@pytest.mark.parametrize("n", [1, 6, 24, 270])
@pytest.mark.parametrize("width", [300, 850])
def test_sorted_maps_find_back_their_heads(tmp_path, n, width):
    """Every slot leads to the head whose map stands there, and no map to another's."""
    order = [divmod(i * 7 % 270, 9) for i in range(n)]
    maps, words = np.zeros((30, 9, 2, 2), np.float32), dict.fromkeys(LABELS, "")
    data = atlas(maps, framed=None, labels=words, shown=order, names=["x"] * n)
    read = "const {meta, arrays} = unpack(bytes); const view = {meta, theme: {}, "
    read += f"...readAtlas(meta, arrays)}}; view.place = placeAtlas(view, {width}, 60); return ["
    slots, back, beyond = answer(
        f"(() => {{ {read} view.items.map((item) => slotOf(view, item)),"
        " view.items.map((item) => itemIn(view, slotOf(view, item))),"
        " [slotOf(view, [29, 9]), itemIn(view, [-1, 0]), itemIn(view, [0, 99])]]; })()",
        tmp_path,
        *ATLAS,
        data=data,
    )
    assert back == [list(each) for each in order] and beyond == [None, None, None]
    assert len({tuple(slot) for slot in slots}) == n


@pytest.mark.parametrize(
    "key, before, after",
    [
        ("ArrowRight", [0, 1], [0, 2]),  # on from the end of a row
        ("ArrowLeft", [0, 2], [0, 1]),
        ("ArrowDown", [0, 1], [1, 0]),
        ("ArrowDown", [1, 0], [1, 0]),  # there is no further row
        ("ArrowUp", [0, 0], [0, 0]),
        ("Home", [1, 1], [0, 0]),
        ("End", [0, 1], [1, 1]),
        ("ArrowRight", None, [0, 0]),
        ("ArrowRight", [7, 7], [0, 0]),  # a head whose map is not shown
        ("x", [0, 1], None),
    ],
)
def test_keys_walk_through_a_list_of_maps(tmp_path, key, before, after):
    """Five maps in rows of two."""
    items = [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]]
    items = json.dumps(items)
    view = f"{{items: {items}, meta: {{grid: false}}, place: {{columns: 2, rows: 3}}, where: "
    view += f"new Map({items}.map((item, i) => [String(item), i]))}}"
    call = f"headAfterKey({view}, {{key: {json.dumps(key)}}}, {json.dumps(before)})"
    assert answer(call, tmp_path, *ATLAS) == after


@pytest.mark.parametrize(
    "meta, spans, expected",
    [
        ({"first": True}, "0, 3, 0, 3", [2, 0]),
        ({"first": False}, "0, 3, 0, 3", [1, 1]),
        ({"first": True, "windows": [2]}, "2, 3, 0, 3", [2, 2]),  # key 0 is outside
        ({"first": True}, "0, 1, 1, 3", None),  # later keys
    ],
)
def test_the_strongest_cell_that_is_seen(tmp_path, meta, spans, expected):
    """Of the map 0.1 / 0.3 0.6 / 0.7 0 0.2."""
    meta = json.dumps({"cells": 3, "windows": [], **meta})
    view = f"{{codes: [1, 3, 6, 7, 0, 2], items: [[0, 0]], meta: {meta}}}"
    assert answer(f"strongestSeen({view}, 0, {spans})", tmp_path, *ATLAS) == expected
