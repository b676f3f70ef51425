"""The view about distance in a browser: keys move the sliders, the point stays or runs."""

import pytest

MARY = "When Mary and John went to the store, John gave a drink to"


@pytest.fixture
def view(reader):
    return reader.open("/positions", op="distance", prompt=MARY, layer=24, head=4)


def slide(reader, name, key):
    """One step of a slider, as a reader does it with the keyboard."""
    reader.key(f"distance_{name}").locator("input[type=range]").focus()
    with reader.rerun():
        reader.page.keyboard.press(key)


def sums(reader):
    return reader.page.locator(".tw-sums").first.inner_text()


def test_moving_both_keeps_the_score_and_moving_the_key_changes_it_until_another_is_chosen(view):
    marks = view.key("distance_curve").locator(".scatterlayer .trace").nth(1).locator("path")
    before = marks.first.get_attribute("transform")
    assert "3.5330" in sums(view) and "✓" in sums(view)
    slide(view, "both", "ArrowRight")
    assert "query at 14, key at 2: distance 12" in sums(view).replace("\n", " ")
    assert "✓" in sums(view) and marks.first.get_attribute("transform") == before
    slide(view, "one", "ArrowRight")
    assert "distance 11" in sums(view) and "✓" not in sums(view)
    assert marks.first.get_attribute("transform") != before
    assert "at=14" in view.page.url and "key_at=3" in view.page.url
    # another key puts both back
    with view.rerun():
        view.chips("distance_key").nth(3).click()
    assert "cell=3" in view.page.url and "at=" not in view.page.url.replace("cell=", "")
    assert "distance 10" in sums(view) and "✓" in sums(view)
    assert "key at 3" in sums(view)
