"""Lists of heads, neurons and positions in a real browser: a click on a row, or Enter, chooses."""

import lessons

PROMPT = "The capital of France is"


def listed(reader, name, number):
    row = reader.page.locator(f'tr[data-{name}="{number}"]').last
    row.scroll_into_view_if_needed()
    return row


def test_rows_choose_heads_neurons_and_positions_and_a_long_list_stays_where_it_was(reader):
    reader.open("/block", prompt=" ".join([PROMPT] * 5), op="attn.out", layer=23, head=4)
    with reader.rerun():
        listed(reader, "head", 3).click()
    assert (
        "head=3" in reader.page.url
        and reader.page.locator(".tw-ruler .tw-here").inner_text() == "3"
    )
    with reader.rerun():
        row = listed(reader, "head", 7)
        row.focus()
        row.press("Enter")
    assert "head=7" in reader.page.url and "op=attn.out" in reader.page.url
    reader.step("mlp.act")
    neuron = reader.page.locator("tr[data-neuron]").nth(3).get_attribute("data-neuron")
    assert f"cell={neuron}" not in reader.page.url
    with reader.rerun():
        listed(reader, "neuron", neuron).click()
    assert f"cell={neuron}" in reader.page.url
    assert neuron in reader.key("explain").inner_text()
    point, box = (reader.page.locator(f".tw-bend{part}").bounding_box() for part in (" .point", ""))
    assert box["x"] < point["x"] < box["x"] + box["width"] and point["width"] > 5
    reader.step("mlp.out")
    with reader.rerun():
        reader.key("together").get_by_text(lessons.text("en", "block.all")).click()
    row = listed(reader, "position", 20)
    scrolled = "document.querySelector('.tw-rows-box').scrollTop"
    before = reader.page.evaluate(scrolled)
    with reader.rerun():
        row.click()
    assert "pos=20" in reader.page.url and before > 50
    assert reader.page.evaluate(scrolled) == before
