"""A cell chosen in one of the compared maps, by keyboard or through the table, is the chosen one of
all three.

Knows figures and the address; what is computed is tested elsewhere.
"""


def place(reader):
    """Query and key in the address."""
    values = dict(part.split("=") for part in reader.page.url.split("?")[1].split("&"))
    return tuple(int(values[name]) for name in ("pos", "key_at"))


def press(reader, figure, key):
    """An arrow key in a figure, which starts at its chosen cell."""
    with reader.rerun():
        reader.key(figure).locator(".over").press(key)


def test_a_cell_is_chosen_in_all_three(reader):
    reader.open("/atlas", op="compare", layer=23, head=4, pos=4, key_at=3)
    press(reader, "beside_difference", "ArrowLeft")
    assert place(reader) == (4, 2)
    press(reader, "beside_first", "ArrowUp")
    assert place(reader) == (3, 2)
    press(reader, "beside_second", "ArrowLeft")
    assert place(reader) == (3, 1)
    with reader.rerun():
        reader.page.locator("[data-query]").first.press("Enter")
    assert place(reader)[0] == 4  # the row that differs most
    press(reader, "beside_second", "ArrowUp")
    assert place(reader) == (3, 3)


def test_a_door_leads_to_the_weight_of_the_second_head(reader):
    reader.open("/atlas", op="compare", layer=23, head=4, head_b=5, pos=4, key_at=3)
    with reader.rerun():
        reader.key("beside_door_1").locator("button").click()
    assert "/block" in reader.page.url and "op=attn.weights" in reader.page.url
    assert "attn.weights" in reader.explanation() and "head 5" in reader.explanation()
    assert "France" in reader.explanation()
