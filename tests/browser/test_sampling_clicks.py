"""The sampling page in a browser: a control changes who is kept, a bar chooses whom to follow."""

import re

KEPT = re.compile(r"Left: ([\d,]+) of")


def kept(reader) -> int:
    """How many tokens the last card says are left."""
    return int(KEPT.search(reader.key("stage_card_last").inner_text())[1].replace(",", ""))


def slide(reader, key: str, press: str):
    """One key press on a slider, whose page then ran."""
    thumb = reader.key(key).locator("input[type=range], [role=slider]").first
    thumb.focus()
    with reader.rerun():
        thumb.press(press)


def test_the_temperature_changes_who_is_kept(reader):
    reader.open("/sampling", top_p=0.9)
    assert kept(reader) == 10 and reader.key("stage_card_temperature").count() == 0
    slide(reader, "set_temperature", "End")
    assert kept(reader) == 13_307 and "temperature=2.0" in reader.page.url
    assert "77.3% to 5.2%" in reader.key("stage_card_temperature").inner_text()
    slide(reader, "set_temperature", "Home")
    assert kept(reader) == 1 and "no dice" in reader.key("stage_card_last").inner_text()
    with reader.rerun():
        reader.key("sampling_off").locator("button").click()
    assert reader.key("stage_card_top_p").count() == 0 and "top_p" not in reader.page.url


def test_a_click_on_a_bar_follows_its_token(reader):
    reader.open("/sampling", top_k=2)
    card = reader.key("stage_card_top_k")
    said = card.locator(".tw-formula")
    assert "Paris" in said.nth(1).inner_text() and "stays" in said.nth(1).inner_text()
    bar = reader.key("stages_bars_top_k").locator(".barlayer .trace").first.locator("path").nth(2)
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    with reader.rerun():
        reader.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert "London" in said.nth(1).inner_text() and "falls" in said.nth(1).inner_text()
    assert "cell=" in reader.page.url
