"""Clicks and keys on the running sum, the picture and the lists of who wrote a logit."""


def test_a_bar_a_cell_and_a_line_choose_a_part_and_a_neuron_has_a_door(reader):
    reader.open("/lens", model="nano", op="parts")
    seen = {reader.key("parts_one").inner_text()}
    bars = reader.key("parts_running").locator(".barlayer .point path")
    box = max((bars.nth(n).bounding_box() for n in range(1, bars.count() - 1)), key=area)
    with reader.rerun():
        reader.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    seen.add(reader.key("parts_one").inner_text())
    assert "cell=" in reader.page.url
    lines = reader.page.locator("tr[data-part]:not(.tw-here)")
    lines.last.focus()
    with reader.rerun():
        reader.page.keyboard.press("Enter")
    seen.add(reader.key("parts_one").inner_text())
    picture = reader.key("parts_picture").locator("canvas[tabindex]")
    picture.focus()
    with reader.rerun():
        picture.press("ArrowUp")
    seen.add(reader.key("parts_one").inner_text())
    assert len(seen) == 4
    # the next view: a neuron leads to its place in the walk
    with reader.rerun():
        reader.press("ArrowRight")
    reader.expect_link("op=neurons")
    before = reader.key("neuron_one").inner_text()
    with reader.rerun():
        reader.page.locator("tr[data-unit]").nth(4).click()
    assert reader.key("neuron_one").inner_text() != before
    with reader.rerun():
        reader.key("open_neuron").locator("button").click()
    reader.calm()
    assert "/block" in reader.page.url and "op=mlp.hidden" in reader.page.url
    cell = reader.page.url.split("cell=")[1].split("&")[0]
    assert cell in before or cell in reader.explanation()


def area(box):
    return box["width"] * box["height"]
