"""All layers at once in a real browser: a cell of the matrix and a line of the table choose the
layer, arrow keys as well, and the jump has a door to its neuron.
"""

PROMPT = "The capital of France is"


def place(reader):
    """Layer and position as the link says them; what is left out is as it was opened."""
    pairs = (pair.split("=") for pair in reader.page.url.split("?")[1].split("&"))
    link = dict(pairs)
    return link.get("layer"), link.get("pos")


def test_layers_are_chosen_by_click_and_by_key(reader):
    reader.open("/block", prompt=PROMPT, walk="layers", layer=12, pos=3)
    matrix = reader.key("stream_norms").locator("canvas.over")
    matrix.focus()
    with reader.rerun():
        reader.page.keyboard.press("ArrowUp")
    assert place(reader) == ("11", "3")
    line = reader.page.locator("tr[data-layer='7']")
    line.scroll_into_view_if_needed()
    with reader.rerun():
        line.click()
    assert place(reader) == ("7", "3") and line.get_attribute("class") == "tw-here"
    with reader.rerun():
        reader.press("Shift+ArrowDown")
    assert place(reader) == ("6", "3")
    with reader.rerun():
        reader.key("open_jump").locator("button").click()
    assert place(reader) == ("11", "0") and "mlp.hidden" in reader.explanation()
