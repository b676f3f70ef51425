"""From the field of all heads to one head to one cell of it: by clicks, and by keys.

Knows the field, the view of a head and the words of a cell; what is computed is tested elsewhere.
"""

from playwright.sync_api import expect

FIELD = "atlas_field"
# where the map of a head lies on its canvas: as pages/canvas/atlas.js places a grid
CORNER = """([layer, head, layers, heads, width]) => {
  const step = Math.min(Math.max(46, 380 / heads), (width - 21) / layers);
  return [20 + (layer + 0.4) * step, 18 + (head + 0.6) * step];
}"""


def canvas(reader):
    """The upper canvas of the field."""
    return reader.key(FIELD).locator("canvas.over")


def at(reader, layer, head):
    """The place on the window of a map in the grid of the default model."""
    canvas(reader).scroll_into_view_if_needed()
    box, root = canvas(reader).bounding_box(), reader.key(FIELD).locator(".root")
    width = root.evaluate("root => root.clientWidth")
    x, y = reader.page.evaluate(CORNER, [layer, head, 30, 9, width])
    return box["x"] + x, box["y"] + y


def back(reader):
    """To the field, which is the view before that of a head."""
    with reader.rerun():
        reader.press("ArrowLeft")
    assert "op=every" in reader.page.url and reader.key(FIELD).is_visible()


def test_a_head_is_opened_by_a_click_and_by_keys_and_by_a_door(reader):
    reader.open("/atlas")
    reader.page.mouse.move(*at(reader, 16, 0))
    tip = reader.key(FIELD).locator(".tip")
    expect(tip).to_contain_text("Layer 16, head 0, reads KV head 0")
    expect(tip).to_contain_text("→")  # and the cell under the pointer
    with reader.rerun():
        reader.page.mouse.click(*at(reader, 16, 0))
    assert "op=head" in reader.page.url
    assert "layer=16" in reader.page.url and "head=0" in reader.page.url
    another_cell(reader)
    back(reader)
    field = canvas(reader)
    field.focus()
    with reader.rerun():
        field.press("ArrowRight")
    expect(reader.page.get_by_text("The chosen head: layer 17, head 0")).to_be_visible()
    assert "layer=17" in reader.page.url and "op=every" in reader.page.url
    with reader.rerun():
        field.press("Enter")
    assert "op=head" in reader.page.url and "layer=17" in reader.page.url
    back(reader)
    with reader.rerun():  # the head that the answer names is one click away
        reader.page.get_by_text("Reveal", exact=True).click()
    door = reader.page.locator("[data-door]")
    layer, head = door.get_attribute("data-door").split()
    expect(door).to_have_text(f"layer {layer}, head {head} ▸")
    with reader.rerun():
        door.click()
    assert f"layer={layer}" in reader.page.url and f"head={head}" in reader.page.url
    assert "op=head" in reader.page.url


def another_cell(reader):
    """An arrow key in the map of a head chooses the cell beside, and the page says what it is."""
    words = reader.page.locator(".tw-cell-words")
    expect(words).to_have_count(1)
    before = words.get_attribute("data-cell")
    figure = reader.page.locator("[data-testid=stMain] canvas.over").first
    figure.scroll_into_view_if_needed()
    figure.focus()
    with reader.rerun():
        figure.press("ArrowUp")
    query, key = words.get_attribute("data-cell").split(",")
    assert f"{query},{key}" != before and reader.page.locator(".tw-cell-words").inner_text()


def test_a_sorted_map_opens_its_own_head(reader):
    reader.open("/atlas", by="previous")
    box = canvas(reader).bounding_box()
    place = box["x"] + 40, box["y"] + 60  # within the first map
    reader.page.mouse.move(*place)
    named = reader.key(FIELD).locator(".tip").inner_text()
    with reader.rerun():
        reader.page.mouse.click(*place)
    layer, head = (reader.page.url.split(f"{name}=")[1].split("&")[0] for name in ("layer", "head"))
    assert named.startswith(f"Layer {layer}, head {head},") and (layer, head) != ("0", "0")
