"""The grid of the logit lens in a browser: a click and an arrow key choose a cell.

Knows the grid and the address; what is computed is tested elsewhere.
"""


def test_a_click_and_a_key_choose_a_cell(reader):
    reader.open("/lens", model="nano")
    canvas = reader.key("lens_grid").locator("canvas.over")
    before = reader.key("lens_pair").inner_text()
    box = canvas.bounding_box()
    with reader.rerun():
        reader.page.mouse.click(box["x"] + 130, box["y"] + 38 + 9)
    assert "cell=0" in reader.page.url and "pos=0" in reader.page.url
    clicked = reader.key("lens_pair").inner_text()
    assert clicked != before
    with reader.rerun():
        canvas.press("ArrowDown")
    assert "cell=2" in reader.page.url
    assert reader.key("lens_pair").inner_text() not in (before, clicked)
