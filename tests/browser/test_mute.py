"""Muting a head in a real browser: one click there, one click back, and a text out of several."""

import lessons

FIGURE = ".st-key-mute_bars .main-svg"


def test_one_click_mutes_a_head_and_one_click_takes_it_back(reader):
    for path, link in (("/atlas", {"op": "effect"}), ("/block", {"op": "attn.weights"})):
        reader.open(path, layer=23, head=4, **link)
        assert reader.page.locator(FIGURE).count() == 0
        with reader.rerun():
            reader.key("mute_head").get_by_role("button").click()
        assert "by=muted" in reader.page.url
        assert reader.page.locator(FIGURE).first.is_visible()
        assert "77.3% → 14.1%" in reader.page.locator(".tw-mute-said", has_text="→").inner_text()
        with reader.rerun():
            reader.key("mute_head").get_by_role("button").click()
        assert "by=" not in reader.page.url and reader.page.locator(FIGURE).count() == 0


def test_a_row_of_several_texts_opens_that_text(reader):
    reader.open("/atlas", op="effect", kind="several", layer=24, head=4)
    lines = lessons.text("en", "atlas.effect.example_smollm2").split("\n")
    row = reader.page.locator('tr[data-sample="3"]')
    row.focus()
    with reader.rerun():
        row.press("Enter")
    assert "kind=" not in reader.page.url
    assert (
        reader.page.get_by_label("Your text (Ctrl + Enter runs it)").input_value()
        == [line for line in lines if line][3]
    )
    assert "81.0%" in reader.page.locator(".tw-mute-said").first.inner_text()
