"""The parts of the browser scripts that can be wrong without anyone seeing it, run by Node.

The pictures themselves are looked at in a real browser; here are the payload, the pixel bins, the
saved numbers and the colour code.
"""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from viz.payload import pack

CANVAS = Path(__file__).parents[2] / "pages" / "canvas"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node to run JavaScript")


def answer(expression: str, tmp_path, *scripts: str, data: bytes = b""):
    """The value of a JavaScript expression after the scripts; `bytes` in it is `data`."""
    (tmp_path / "data").write_bytes(data)
    pen = "{createElement: () => ({getContext: () => ({})})}"
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
        tmp_path, "common.js", data=data,
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
        tmp_path, "common.js", "figure.js", data=pack({}, values=values),
    )
    assert texts[:2] == ["0.1", "0.33333334"]
    assert [np.float32(text) for text in texts] == values.tolist()
    assert answer("shortest(NaN) + shortest(-Infinity)", tmp_path, "common.js", "figure.js") == ""


def test_numbers_on_screen(tmp_path):
    shown = "[0.0356623, -1234567, 2.52e-6, 0].map((value) => digits(value, 3))"
    expected = ["0.0357", "\u22121230000", "2.52e\u22126", "0"]
    assert answer(shown, tmp_path, "common.js", "figure.js") == expected


def test_a_token_is_never_a_formula(tmp_path):
    texts = ["=1+1", "@x", "-", 'a"b,c', "␣="]
    cells = answer(f"{json.dumps(texts)}.map(csvText)", tmp_path, "common.js", "figure.js")
    assert cells == ["\"'=1+1\"", "\"'@x\"", "\"'-\"", '"a""b,c"', '"␣="']


def test_colour_codes_and_the_strongest_cell(tmp_path):
    scripts = ("common.js", "figure.js", "matrix_paint.js", "matrix.js")
    signed = '{palette: "signed", limit: 2}'
    codes = answer(f"[-9, -2, 0, 2, NaN, -Infinity].map((v) => codeOf(v, {signed}))",
                   tmp_path, *scripts)
    assert codes == [0, 0, 128, 255, -1, -1]
    view = "{values: [1, -5, NaN, 2, -Infinity, 4], shape: [2, 3]}"
    found = answer(
        f"[strongest({view}, 0, 1, 0, 3), strongest({view}, 0, 2, 2, 3),"
        f" strongest({view}, 1, 2, 0, 3), strongest({view}, 1, 2, 1, 2)]", tmp_path, *scripts,
    )
    assert found == [1, 5, 5, 4]


def test_keys_stay_inside_and_leave_others_alone(tmp_path):
    presses = [
        ["ArrowRight", [0, 2]], ["ArrowDown", [0, 2]], ["End", [1, 0]], ["Home", [1, 2]],
        ["ArrowUp", None], ["ArrowUp", [1, 1], True], ["a", [0, 0]],
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
