"""The rows of a norm and of an addition, column below column: a click in any of them chooses that
number of the result.
"""


def test_a_click_in_any_row_chooses_its_column(reader):
    for op, strip in (("attn_norm", "standard_attn_norm"), ("resid_mid", "part_resid_mid_1")):
        reader.open("/block", prompt="The capital of France is", layer=23, op=op)
        canvas = reader.key(strip).locator("canvas.over")
        canvas.scroll_into_view_if_needed()
        before, box = reader.explanation(), canvas.bounding_box()
        with reader.rerun():
            canvas.click(position={"x": box["width"] * 0.6, "y": 10})
        column = reader.page.evaluate("new URLSearchParams(location.search).get('cell')")
        explained = reader.explanation()
        assert f"dimension {column}" in explained and explained != before
        assert "equal" in explained and "not equal" not in explained
