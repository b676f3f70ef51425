"""A curve with a point: where they lie in the picture, and what is said of them."""

import re

from viz import bend

NAMES = {"x": "in", "y": "out", "alt": 'a <b> "curve"'}


def drawn(point, shown=("1", "2")):
    """The picture, the middle of its line and the point, each (left, top) in per cent."""
    picture = bend.html([-1.0, 0.0, 1.0], [0.0, 0.0, 2.0], point, shown, **NAMES)
    numbers = [float(n) for n in re.findall(r"([-\d.]+)%", picture.split("polygon(")[1])][:12]
    there, back = list(zip(numbers[:6:2], numbers[1:6:2], strict=True)), numbers[6:]
    back = list(zip(back[::2], back[1::2], strict=True))[::-1]
    line = [(a[0], (a[1] + b[1]) / 2) for a, b in zip(there, back, strict=True)]
    return picture, line, placed(picture, "point")


def placed(picture, name):
    return tuple(
        map(float, re.search(f'class="{name}" style="left:([^%]+)%;top:([^%]+)', picture).groups())
    )


def test_the_point_lies_on_the_curve():
    for n, point in enumerate([(-1.0, 0.0), (0.0, 0.0), (1.0, 2.0)]):
        _, line, dot = drawn(point)
        assert line == [(0, 100), (50, 100), (100, 0)] and dot == line[n]


def test_guides_lead_from_the_point_to_both_axes():
    picture, _, _ = drawn((0.5, 1.0))
    guides = re.findall('class="guide" style="([^"]+)"', picture)
    assert guides == ["left:75.0%;top:50.0%;height:50.0%", "left:50.0%;top:50.0%;width:25.0%"]


def test_texts_are_escaped_and_stay_inside():
    picture, _, _ = drawn((1.0, 2.0), ("<i>", "−2"))
    assert "<b>" not in picture and "in = &lt;i&gt;" in picture
    assert 'aria-label="a &lt;b&gt; &quot;curve&quot;"' in picture
    assert placed(picture, "under") == (84, 100)
    assert placed(picture, "before") == (100, 0)  # no room on its right
    assert placed(drawn((-1.0, 0.0))[0], "behind") == (0, 100)
    assert placed(drawn((0.0, 0.0))[0], "before") == (50, 100)  # the curve rises on its right


def test_the_bend_and_the_point_are_in_sight():
    assert bend.reach(0.3) == bend.reach(-1) == 4 and bend.reach(-50) == bend.reach(50) > 50
