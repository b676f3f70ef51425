"""The cache grows in a real browser: three steps by key without the server, a rest that tells the
link, and a click on a strip that shows another head.
"""

from playwright.sync_api import expect

PICTURE = "canvas => canvas.toDataURL()"


def test_three_steps_grow_the_cache_and_only_a_rest_tells_the_link(reader):
    reader.open("/cache")
    figure = reader.key("grow_strips")
    said, base = figure.locator(".where"), figure.locator("canvas.base")
    expect(said).to_contain_text("0")
    seen = [base.evaluate(PICTURE)]
    figure.locator("input[type=range]").focus()
    for step in (1, 2, 3):
        reader.page.keyboard.press("ArrowRight")
        assert f"Step {step}:" in said.inner_text()
        assert f"{(5 + step) * 46_080:,} bytes" in figure.locator(".lines").inner_text()
        seen.append(base.evaluate(PICTURE))
    assert len(set(seen)) == 4 and "at=" not in reader.page.url
    reader.page.wait_for_url("**at=3**")
    reader.calm()
    assert "Step 3:" in said.inner_text()
    assert reader.key("walk_cache").locator(".count").inner_text().startswith("1 /")


def test_playing_runs_to_the_last_step_and_a_click_shows_another_head(reader):
    reader.open("/cache", model="nano", max_new_tokens=3, layer=0, head=0)
    figure = reader.key("grow_strips")
    slider = figure.locator("input[type=range]")
    figure.locator("button.play").click()
    expect(slider).to_have_value(slider.get_attribute("max"))
    reader.page.wait_for_url("**at=**")
    reader.calm()
    before = figure.locator("canvas.base").evaluate(PICTURE)
    figure.locator("canvas.over").focus()
    with reader.rerun():
        reader.page.keyboard.press("End")  # the step stays; arrows choose the row
        reader.page.keyboard.press("ArrowDown")
    assert "layer=1" in reader.page.url or "head=" in reader.page.url
    assert figure.locator("canvas.base").evaluate(PICTURE) != before
    assert slider.input_value() == slider.get_attribute("max")
