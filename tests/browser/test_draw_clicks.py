"""The draw answers clicks on its line and on its buttons; the tree of a beam search answers the
mouse and the keys, grows in front of the reader, and stops when it is told to.

Knows figures, buttons and the address; what is computed is tested elsewhere.
"""

PIECE = ".barlayer .point path"


def test_a_seed_moves_u_and_a_click_explains_another_piece(reader):
    reader.open("/sampling", op="draw", temperature=1.5, seed=3)
    said = reader.page.locator(".tw-draw-said")
    before = said.inner_text()
    with reader.rerun():
        reader.key("draw_another").locator("button").click()
    assert said.inner_text() != before and "seed=4" in reader.page.url
    explained = reader.key("draw_explain").inner_text()
    box = reader.key("draw_line").locator(PIECE).nth(1).bounding_box()
    with reader.rerun():
        reader.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert reader.key("draw_explain").inner_text() != explained and "cell=" in reader.page.url
    with reader.rerun():
        reader.page.locator("tr[data-draw]").nth(2).press("Enter")
    assert reader.page.locator("tr[data-draw].tw-here td").first.inner_text() == "3"


def test_a_branch_is_chosen_by_mouse_and_by_keys(reader):
    reader.open("/loop", op="beams", model="nano", prompt="The cat", at=4)
    branches = reader.key("beams_tree").locator(".branch")
    explained = reader.key("beams_node").inner_text()
    with reader.rerun():
        branches.nth(1).click()
    assert "cell=1001" in reader.page.url
    assert reader.key("beams_node").inner_text() != explained
    with reader.rerun():
        for key in ("ArrowUp", "ArrowRight", "Enter"):
            reader.page.keyboard.press(key)
    assert "cell=200" in reader.page.url and "cell=1001" not in reader.page.url
    chosen = reader.key("beams_tree").locator(".branch[aria-current]")
    assert chosen.count() == 1
    assert chosen.evaluate("node => node === node.getRootNode().activeElement")
    with reader.page.expect_download() as saved:
        reader.key("beams_tree").locator(".save").click()
    text = saved.value.path().read_text("utf-8")
    assert text.startswith("<svg") and text.count('class="branch"') == branches.count()


def test_a_long_search_shows_how_far_it_is_and_stops(reader):
    link = "/loop?op=beams&n_beams=6&at=20&prompt=Once+upon+a+time+there+was"
    reader.page.goto(reader.address + link)
    stop = reader.key("beams_stop").locator("button")
    stop.wait_for()
    reader.page.locator(".tw-beams-now").wait_for()
    stop.click()
    reader.key("beams_go_on").locator("button").wait_for()
    reader.calm()
    assert reader.key("beams_go_on").locator("button").count() == 1
    assert stop.count() == 0
