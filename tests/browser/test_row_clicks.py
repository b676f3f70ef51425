"""The first and the last view of the embedding, in a real browser: a click on a number shows its
bytes, a click on a bar takes that candidate apart.
"""

PROMPT = "The capital of France is"


def test_a_click_on_a_number_shows_its_bytes(reader):
    reader.open("/embedding", prompt=PROMPT)
    lines, before = reader.page.locator(".tw-hex span"), None
    reader.key("row_in_table").locator("summary").click()
    for key in ("row_embed", "row_around"):
        canvas = reader.key(key).locator("canvas.over")
        canvas.scroll_into_view_if_needed()
        width = canvas.bounding_box()["width"]
        with reader.rerun():
            canvas.click(position={"x": width * (0.3 if before else 0.8), "y": 30})
        begins = lines.first.inner_text()
        assert begins != before and "cell=" in reader.page.url
        assert reader.page.locator(".tw-hex .own").count() == 1
        before = begins
    assert canvas.is_visible()  # what was unfolded stays so


def test_a_click_on_a_bar_takes_that_candidate_apart(reader):
    reader.open("/embedding", prompt=PROMPT, op="tied")
    bar = reader.key("tied_bars").locator(".barlayer .point path").nth(2)
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    for step in range(8):  # Plotly looks below the mouse a few times a second
        reader.page.mouse.move(box["x"] + 20 + step, box["y"] + 6)
        reader.page.wait_for_timeout(60)
    with reader.rerun():
        reader.page.mouse.down()
        reader.page.mouse.up()
    chosen = int(reader.page.url.split("cell=")[1].split("&")[0])
    assert f"({chosen})" in reader.key("explain").inner_text()
