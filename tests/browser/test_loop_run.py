"""A text that is written while one watches: it grows by itself, stops when told to, and a token
leads to its branch. Knows buttons and tokens; what is written is tested elsewhere.
"""

import time

from tests.browser.conftest import SIZE


def tokens(reader, key="loop_text"):
    return reader.key(key).locator(".chip")


def press(reader, name):
    reader.key(f"writing_{name}").locator("button").click()


def test_a_text_grows_by_itself_and_stops_when_told_to(reader):
    reader.open("/loop", max_new_tokens=400, seed=11)
    assert tokens(reader).count() == 1
    press(reader, "run")
    seen = set()
    end = time.monotonic() + 60
    while len(seen) < 4 and time.monotonic() < end:  # it is seen to grow
        seen.add(tokens(reader).count())
        time.sleep(0.1)
    assert len(seen) >= 4
    press(reader, "stop")
    reader.calm()
    stopped = tokens(reader).count()
    assert max(seen) <= stopped < 400
    reader.page.wait_for_timeout(700)
    assert tokens(reader).count() == stopped
    assert f"cell={stopped}" in reader.page.url
    with reader.rerun():
        press(reader, "step")
    assert tokens(reader).count() == stopped + 1


def test_a_token_is_chosen_by_keys_and_leads_to_its_branch(reader):
    reader.open("/loop", model="nano", cell=12, max_new_tokens=12)
    last = tokens(reader).nth(11)
    last.focus()
    with reader.rerun():
        last.press("ArrowLeft")
        reader.page.keyboard.press("ArrowLeft")
    assert "at=9" in reader.page.url
    door = reader.page.locator("[data-branch]").first
    other = door.get_attribute("data-branch")
    with reader.rerun():
        door.press("Enter")
    assert "op=branch" in reader.page.url and f"target={other}" in reader.page.url
    original, branch = tokens(reader, "branch_original"), tokens(reader, "branch_other")
    assert original.count() == 12 and 1 <= branch.count() <= 3
    assert original.nth(9).get_attribute("class") == branch.first.get_attribute("class")
    with reader.rerun():
        original.nth(2).click()
    assert "at=2" in reader.page.url and branch.count() <= 10


def test_the_text_stays_inside_its_box(reader):
    reader.page.set_viewport_size({"width": 820, "height": SIZE["height"]})
    reader.open("/loop", model="nano", cell=200, max_new_tokens=200, temperature=0)
    box = reader.key("loop_text").locator(".box")
    wide, inner = box.evaluate("b => [b.clientWidth, b.scrollWidth]")
    assert inner <= wide and box.evaluate("b => b.clientHeight") <= 330
