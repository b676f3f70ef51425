"""Where the bar leads, run by Node: over layers with different steps, and no further than its ends.

The bar itself is pressed in a real browser.
"""

import json

import pytest

from tests.viz.test_canvas_scripts import NODE, answer

pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node to run JavaScript")
SCRIPTS = ("common.js", "stepper_play.js", "stepper.js")
# three layers: the first begins with "e", the last one lacks "b"
WALK = {"steps": [["e", "a", "b", "c"], ["a", "b", "c"], ["a", "c"]], "of": [0, 1, 2]}
WALK |= {"n_layers": 3, "before": "page before", "beyond": "page after"}
ALONE = {"steps": ["a", "b", "c"], "n_layers": 3}  # a layer that the bar does not leave


def at(layer, step):
    return {"layer": layer, "step": step}


def presses(tmp_path, meta, start, keys):
    """Every place on the way: "+" and "-" are a step forth and back, "^" and "v" a layer."""
    move = '{"+": [1, 0], "-": [-1, 0], "^": [0, 1], "v": [0, -1]}'
    walk = f"""{json.dumps(keys)}.split("").reduce((way, key) => {{
        const [steps, layers] = ({move})[key], meta = {json.dumps(meta)};
        return [...way, toLayer(meta, onward(meta, way.at(-1), steps), layers)];
    }}, [{json.dumps(start)}])"""
    return answer(walk, tmp_path, *SCRIPTS)[1:]


def test_the_walk_goes_on_from_layer_to_layer_and_past_its_ends(tmp_path):
    forth = presses(tmp_path, WALK, at(0, 0), "+" * 10)
    assert forth == [at(0, 1), at(0, 2), at(0, 3), *(at(1, n) for n in range(3))] + [
        at(2, 0), at(2, 1), at(2, 2), at(2, 2)
    ]  # fmt: skip
    back = presses(tmp_path, WALK, at(2, 0), "-" * 9)
    assert back == [at(1, n) for n in (2, 1, 0)] + [at(0, n) for n in (3, 2, 1, 0, -1, -1)]


def test_another_layer_keeps_the_step_though_it_has_another_number_there(tmp_path):
    assert presses(tmp_path, WALK, at(0, 3), "^^^vv") == [
        at(1, 2), at(2, 1), at(2, 1), at(1, 2), at(0, 3)
    ]  # fmt: skip
    assert presses(tmp_path, WALK, at(1, 1), "^") == [at(2, 0)]  # no "b" there: its first step


def test_without_neighbours_the_ends_hold(tmp_path):
    assert presses(tmp_path, ALONE, at(1, 1), "++---") == [at(1, n) for n in (2, 2, 1, 0, 0)]
    assert presses(tmp_path, ALONE, at(1, 1), "^^^v") == [at(n, 1) for n in (2, 2, 2, 1)]


def test_a_button_names_what_comes_and_in_which_layer(tmp_path):
    meta = WALK | {"names": {"a": "first", "c": "third"}, "labels": {"to_layer": "layer {layer}"}}
    places = [(1, 0, -1), (0, 3, 1), (0, 0, -1), (2, 1, 1), (1, 0, 1)]
    asked = [f"beside(meta, {json.dumps(at(layer, s))}, {by})" for layer, s, by in places]
    expression = f"((meta) => [{', '.join(asked)}])({json.dumps(meta)})"
    assert answer(expression, tmp_path, *SCRIPTS) == [
        "third · layer 0", "first · layer 1", "page before", "page after", "b"
    ]  # fmt: skip


def test_playing_waits_until_the_page_has_answered_the_last_step(tmp_path):
    """A page that is slower than the pace is not outrun, and only one step is ever under way."""
    script = """((meta) => {
        let timers = 0;
        globalThis.setTimeout = () => (timers += 1);
        const bar = { meta, at: { layer: 0, step: 1 }, revision: 2, reportedAt: performance.now() };
        Object.assign(bar, { due: true, playing: true, timer: 0, next: 0 });
        bar.parts = { pace: { value: 1 } };
        return [1, 2, 2].map((revision) => {
            const heard = adopt(bar, { ...meta, layer: 0, step: 1, revision });
            if (heard) follow(bar);
            return [heard, timers];
        });
    })"""
    found = answer(f"{script}({json.dumps(ALONE)})", tmp_path, *SCRIPTS)
    assert found == [[False, 0], [True, 1], [True, 1]]


def test_arrows_scroll_a_box_that_is_wider_than_its_room(tmp_path):
    """Anywhere else they step, also in a box that shows all it holds, or hides the rest."""
    boxes = [[300, 200, "auto"], [200, 200, "auto"], [300, 200, "hidden"]]
    script = """((meta, boxes) => boxes.map(([scrollWidth, clientWidth, overflowX]) => {
        globalThis.getComputedStyle = () => ({ overflowX });
        globalThis.setTimeout = () => 1;
        const bar = { meta, at: { layer: 0, step: 0 } };
        show = () => {}; // there is no page
        let taken = false;
        const path = [{ scrollWidth, clientWidth }], preventDefault = () => { taken = true; };
        onKey(bar, { key: "ArrowRight", composedPath: () => path, preventDefault });
        return [bar.at.step, taken];
    }))"""
    meta = json.dumps(ALONE)
    found = answer(f"{script}({meta}, {json.dumps(boxes)})", tmp_path, *SCRIPTS)
    assert found == [[0, False], [1, True], [1, True]]
