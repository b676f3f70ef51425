"""Where the boxes of the data-flow diagram lie, run by Node: in rows, low where there are many."""

import json
from itertools import pairwise

import pytest

from tests.viz.test_canvas_scripts import NODE, answer

pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node to run JavaScript")


@pytest.mark.parametrize("width, font, rows", [(320, 12, 2), (300, 11, 2), (270, 12, 3)])
def test_boxes_are_drawn_tight_only_where_that_saves_a_row(tmp_path, width, font, rows):
    nodes = [{"column": n, "label": "x" * 10} for n in range(6)]
    meta = json.dumps({"nodes": nodes, "breaks": []})
    chosen = f'(({{size, rows}}) => [size.font, rows.length])(chooseRows({meta}, "mono", {width}))'
    assert answer(chosen, tmp_path, "flow_place.js") == [font, rows]


def test_rows_below_each_other_are_low_and_their_boxes_do_not_touch(tmp_path):
    nodes = [{"id": n, "column": n // 2, "lane": n % 2, "label": "x" * 10} for n in range(12)]
    meta = json.dumps({"nodes": nodes, "edges": [], "breaks": []})
    plan = f"""((width) => {{
        const {{heights, height, rows}} = place({meta}, "mono", width);
        return [heights.box, height, rows.map(({{y}}) => [0, 1].map(y))];
    }})"""
    asked = f"[{plan}(1000), {plan}(320)]"
    (tall, _, single), (low, height, rows) = answer(asked, tmp_path, "flow_place.js")
    assert len(single) == 1 and len(rows) == 2 and low < tall
    centres = [y for row in rows for y in row]
    assert all(b - a > low for a, b in pairwise(centres)) and centres[-1] + low / 2 < height
