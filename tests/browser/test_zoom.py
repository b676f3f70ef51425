"""The matrix of a product in a real browser: a click on a block, and then one on a weight beside
it, explains the number that was clicked on.
"""

import pytest

import lessons

PROMPT = "The capital of France is"


def value_at(reader, key, x, y):
    """The canvas of a figure, a place on it in parts of its size, and the number shown there."""
    canvas = reader.key(key).locator("canvas.over")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    at = {"x": 92 + (box["width"] - 95) * x, "y": 21 + (box["height"] - 60) * y}
    canvas.hover(position=at)
    lines = canvas.locator("xpath=..").locator(".tip div").all_inner_texts()
    return canvas, at, float(lines[2].replace("−", "-"))


def an_enlarged_number(reader):
    """A click on the last number of an enlarged part of a row."""
    canvas = reader.key("output_mlp_norm").locator("canvas.over")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    with reader.rerun():
        canvas.click(position={"x": box["width"] - 12, "y": box["height"] - 36})  # the last one
    shown = canvas.locator("xpath=..").locator(".tip div").all_inner_texts()
    cell = int(reader.page.url.split("cell=")[1].split("&")[0])
    assert 300 < cell <= 307 and f"dimension {cell}" in reader.explanation(), shown


def test_a_click_on_an_enlarged_number_or_in_the_matrix_explains_what_was_clicked(reader):
    reader.open("/block", prompt=PROMPT, op="mlp_norm", layer=5, cell=300)
    an_enlarged_number(reader)
    reader.step("mlp.gate")
    with reader.rerun():
        reader.key("terms_order").get_by_text("all, in order").click()
    assert reader.key("zoom_mlp.gate").count() == 0
    with reader.rerun():
        reader.page.get_by_text(lessons.text("en", "block.product.around")).click()
    weights = []
    for key, x, y in (("reduced_mlp.gate", 0.7, 0.8), ("zoom_mlp.gate", 0.3, 0.4)):
        canvas, at, value = value_at(reader, key, x, y)
        with reader.rerun():
            canvas.click(position=at)
        here = reader.key("terms").locator(".tw-here span[title]").get_attribute("title")
        assert float(here.split(" × ")[1].replace("−", "-")) == pytest.approx(value, rel=1e-7)
        weights.append(value)
        assert "cell=" in reader.page.url
    assert weights[0] != weights[1]
    assert "equal" in reader.explanation()
