"""A click on a bar of the neighbours or of a sum, and on a point of the map, explains that number.

Knows bars, points and the address; what is computed is tested elsewhere.
"""

from tests.browser.conftest import SIZE

BAR, POINT = ".barlayer .point path", ".scatterlayer .point"


def click(reader, chart: str, marks: str, number: int):
    """A click into the middle of a bar or point of the chart with this key, whose page then ran."""
    mark = reader.key(chart).locator(marks).nth(number)
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    with reader.rerun():
        reader.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


VIEWS = [  # view, chart, what is clicked, and which of them
    ("neighbours", "neighbours_bars", BAR, (2, 4)),
    ("arithmetic", "sum_bars_left_out", BAR, (4,)),
    ("map", "map_points", POINT, (2, 4)),
]


def test_a_click_explains_another_number_each_time(reader):
    reader.open("/embedding", model="nano", op=VIEWS[0][0])
    for n, (view, chart, marks, numbers) in enumerate(VIEWS):
        if n:
            with reader.rerun():
                reader.press("ArrowRight")
        reader.expect_link(f"op={view}", without=("cell=",))
        seen = {reader.explanation()}
        for number in numbers:
            click(reader, chart, marks, number)
            seen.add(reader.explanation())
            assert "cell=" in reader.page.url
        assert len(seen) == 1 + len(numbers), view


NAMES = """() => {
  const boxes = [...document.querySelectorAll(".scatterlayer .textpoint text")]
    .map((name) => name.getBoundingClientRect()).filter((box) => box.width > 0);
  const meet = (a, b) => a.left < b.right && b.left < a.right
    && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
  return [boxes.length, boxes.filter((a, n) => boxes.slice(n + 1).some((b) => meet(a, b))).length];
}"""  # two pixels: a line of text is not as high as its box


def test_no_name_of_the_map_lies_on_another(reader):
    reader.open("/embedding", op="map", at=2)
    for width in (SIZE["width"], 820):
        reader.width(width)
        shown, covered = reader.page.evaluate(NAMES)
        assert shown > 12 and covered == 0, width
