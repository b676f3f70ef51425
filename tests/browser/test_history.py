"""Back after a step that led to another page: one press leads to where the reader was.

Knows the bar of a page of views and a card of the first page.
"""


def test_back_undoes_a_step_to_another_page_in_one_press(reader):
    reader.open("/tokens", model="nano", op="vocabulary")
    before = reader.page.url
    with reader.rerun():
        reader.press("ArrowRight")
    assert "/embedding" in reader.page.url
    with reader.rerun():
        reader.page.go_back()
    assert reader.page.url == before


def test_a_click_on_a_tab_leaves_the_arrows_to_the_walk(reader):
    reader.open("/block", model="nano", op="attn.q")
    reader.page.get_by_role("tab").nth(1).click()
    reader.calm()
    with reader.rerun():
        reader.page.keyboard.press("ArrowRight")
    assert "op=attn.k" in reader.page.url
    with reader.rerun():
        reader.key("together").get_by_role("radio").nth(1).click()
    with reader.rerun():
        reader.page.keyboard.press("ArrowRight")
    assert "op=attn.v" in reader.page.url
