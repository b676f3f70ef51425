"""A click on a bar of the neighbours or of a sum, and on a point of the map, explains that number.

Knows bars, points and the address; what is computed is tested elsewhere.
"""

import pytest

from tests.browser.conftest import SIZE
from tests.browser.test_layout import assert_fits

BAR, POINT = ".barlayer .point path", ".scatterlayer .point"


def click(reader, chart: str, marks: str, number: int):
    """A click into the middle of a bar or point of the chart with this key, whose page then ran."""
    mark = reader.key(chart).locator(marks).nth(number)
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    with reader.rerun():
        reader.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


@pytest.mark.parametrize(
    ("view", "chart", "marks"),
    [
        ("neighbours", "neighbours_bars", BAR),
        ("arithmetic", "sum_bars_left_out", BAR),
        ("map", "map_points", POINT),
    ],
)
def test_a_click_explains_another_number_each_time(reader, view, chart, marks):
    reader.open("/embedding", model="nano", op=view)
    seen = {reader.explanation()}
    for number in (2, 4):
        click(reader, chart, marks, number)
        seen.add(reader.explanation())
        assert "cell=" in reader.page.url
    assert len(seen) == 3


@pytest.mark.parametrize("view", ["neighbours", "arithmetic", "map"])
def test_it_fits_wide_and_narrow(reader, view):
    reader.open("/embedding", op=view, lang="zh")
    for width in (1440, 820):
        reader.page.set_viewport_size({"width": width, "height": SIZE["height"]})
        reader.calm()
        assert_fits(reader)
