"""The map of one head in a real browser: a click and an arrow key choose a cell, whose number and
share are shown where the reader points.
"""

PROMPT = "The capital of France is"
WORDS = ".tw-cell-words"


def cell(reader):
    """Which cell the page speaks of."""
    return reader.page.locator(WORDS).get_attribute("data-cell")


def tip(canvas):
    return canvas.locator("xpath=..").locator(".tip div").all_inner_texts()


def test_a_click_an_arrow_key_and_a_row_of_the_table_choose_a_cell(reader):
    reader.open("/atlas", op="head", prompt=PROMPT, layer=23, head=4, scale="rest")
    assert cell(reader) == "4,3"
    canvas = reader.key("head_map_weights").locator("canvas.over")
    canvas.focus()
    with reader.rerun():
        reader.page.keyboard.press("ArrowUp")
    assert cell(reader) == "3,3" and "pos=3" in reader.page.url and "key_at=3" in reader.page.url
    with reader.rerun():
        canvas.press("ArrowRight")  # above the diagonal: the page says why there is nothing
    assert cell(reader) == "3,4" and "comes later" in reader.page.locator(WORDS).inner_text()
    size = canvas.bounding_box()
    canvas.hover(position={"x": 110, "y": size["height"] - 40})  # the first key of the last row
    lines = tip(canvas)
    assert lines[0].endswith("␣is (4)") and lines[1].endswith("The (0)")
    assert float(lines[2]) > 0 and lines[3] == "left out of the colours"
    with reader.rerun():
        canvas.click(position={"x": 110, "y": size["height"] - 40})
    assert cell(reader) == "4,0" and "looks at" in reader.page.locator(WORDS).inner_text()
    row = reader.page.locator('tr[data-key="1"]')
    with reader.rerun():
        row.press("Enter")
    assert cell(reader) == "4,1"
