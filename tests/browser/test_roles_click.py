"""What heads do: a click on the name of a column sorts the table, on a row chooses its head."""


def order(reader):
    """The first heads of the table."""
    rows = reader.page.locator("tr[data-role]")
    return [rows.nth(n).get_attribute("data-role") for n in range(4)]


def test_names_sort_and_rows_choose(reader):
    reader.open("/atlas", model="nano", op="roles", prompt="The cat sat by the cat and the dog")
    before = order(reader)
    for words in ("by=current", "kind=smallest"):
        with reader.rerun():
            reader.page.locator('[data-sort="current"]').click()
        assert words in reader.page.url
    turned = order(reader)
    assert turned != before
    row = reader.page.locator("tr[data-role]").nth(2)
    row.focus()
    with reader.rerun():
        reader.page.keyboard.press("Enter")
    here = reader.page.locator("tr.tw-here[data-role]")
    assert here.get_attribute("data-role") == turned[2] and here.count() == 1
