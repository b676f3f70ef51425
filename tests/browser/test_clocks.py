"""The clocks in a real browser: keys move the hands, not the page; a rest tells the link."""

from playwright.sync_api import expect


def test_keys_move_the_hands_at_once_and_the_link_after_a_rest_and_a_click_shows_a_pair(reader):
    reader.open("/positions", op="clocks", pos=2)
    clocks = reader.key("clocks")
    slider, said = clocks.locator("input[type=range]"), clocks.locator(".where")
    expect(said).to_contain_text("2")
    before = clocks.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    slider.focus()
    for _ in range(9):
        reader.page.keyboard.press("ArrowRight")
    assert "11" in said.inner_text() and "at=" not in reader.page.url
    assert clocks.locator("canvas").evaluate("canvas => canvas.toDataURL()") != before
    reader.page.wait_for_url("**at=11**")
    reader.calm()
    assert reader.key("walk_positions").locator(".count").inner_text().startswith("2 /")
    assert "11" in said.inner_text()
    slider.focus()
    for key in ("Home", "ArrowRight", "ArrowRight", "ArrowRight"):
        reader.page.keyboard.press(key)
    box = clocks.locator("canvas").bounding_box()
    with reader.rerun():  # the clocks stand in rows of eight
        clocks.locator("canvas").click(position={"x": box["width"] * 3.5 / 8, "y": 40})
    assert all(part in reader.page.url for part in ("op=rotation", "cell=3", "pos=3"))
    assert reader.key("pair").locator("input").input_value() == "3"
    with reader.rerun():
        reader.page.go_back()
    assert "op=clocks" in reader.page.url


def test_the_run_button_moves_the_hands_until_it_is_pressed_again(reader):
    reader.open("/positions", op="clocks", pos=0, model="nano")
    clocks = reader.key("clocks")
    button, slider = clocks.locator("button.play"), clocks.locator("input[type=range]")
    button.click()
    expect(slider).not_to_have_value("0")
    button.click()
    stopped = slider.input_value()
    reader.page.wait_for_url(f"**at={stopped}*")
    reader.calm()
    assert slider.input_value() == stopped
    reader.page.keyboard.press("ArrowLeft")  # the button has the focus
    assert slider.input_value() == str(int(stopped) - 1)
    assert reader.key("walk_positions").locator(".count").inner_text().startswith("2 /")
