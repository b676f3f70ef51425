"""Choosing a key in the tables of the attention steps: by a click, by Enter, in a matrix."""

from playwright.sync_api import expect


def row(reader, key):
    """The row of a key in its table."""
    return reader.page.locator(f'tr[data-key="{key}"]')


def test_a_row_of_the_table_and_a_cell_of_the_mix_are_a_key(reader):
    reader.open("/block", op="attn.scores", layer=23, head=4)
    explained = reader.key("explain")
    with reader.rerun():
        row(reader, 1).click()
    expect(row(reader, 1)).to_have_attribute("aria-current", "true")
    expect(explained).to_contain_text("␣capital (1)")
    assert "cell=1" in reader.page.url and "✓ equal" in reader.explanation()
    with reader.rerun():
        row(reader, 2).focus()
        row(reader, 2).press("Enter")
    expect(explained).to_contain_text("␣of (2)")
    expect(row(reader, 2)).to_be_focused()  # the next Tab goes on from here

    with reader.rerun():  # a term of the sum is another list on the same page
        reader.key("terms").locator("tr[data-row]").nth(5).locator("td").first.click()
    expect(row(reader, 2)).to_have_attribute("aria-current", "true")
    assert "cell=2" in reader.page.url
    # a cell of weight times value is its key and its dimension
    reader.step("attn.mix")
    figure = reader.key("weight_times_value").locator("canvas.over")
    figure.focus()
    with reader.rerun():
        figure.press("ArrowDown")
    chosen = reader.page.locator("tr[data-key].tw-here")
    expect(chosen).to_have_count(1)
    key = chosen.get_attribute("data-key")
    assert reader.key("terms").locator(".tw-here").get_attribute("data-row") == key
    dim = reader.page.url.split("cell=")[1].split("&")[0]
    assert f"dimension {dim}" in reader.explanation() and "✓ equal" in reader.explanation()
