"""The rows of a norm and of an addition, column below column: a click in any of them chooses that
number of the result.
"""

# a step, one of its rows, and how far to the right the click is: not where the last one was
ROWS = [("attn_norm", "standard_attn_norm", 0.6), ("resid_mid", "part_resid_mid_1", 0.3)]


def test_a_click_in_any_row_chooses_its_column(reader):
    reader.open("/block", prompt="The capital of France is", layer=23)
    for op, strip, x in ROWS:
        reader.step(op)
        canvas = reader.key(strip).locator("canvas.over")
        canvas.scroll_into_view_if_needed()
        before, box = reader.explanation(), canvas.bounding_box()
        with reader.rerun():
            canvas.click(position={"x": box["width"] * x, "y": 10})
        column = reader.page.evaluate("new URLSearchParams(location.search).get('cell')")
        explained = reader.explanation()
        assert f"dimension {column}" in explained and explained != before
        assert "equal" in explained and "not equal" not in explained
