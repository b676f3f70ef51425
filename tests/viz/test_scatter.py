"""The scatter of a map: points where they are, names escaped and not on top of each other."""

import numpy as np
import pytest

from viz import plane
from viz.plane import scatter


@pytest.fixture(params=[False, True], ids=["light", "dark"])
def dark(request):
    return request.param


def draw(points, texts=None, **more):
    texts = texts or [f"t{n}" for n in range(len(points))]
    settings = {"titles": ("x", "y"), "role_name": "residual", "chosen": 0} | more
    return scatter(np.array(points, float), texts, **settings)


def test_points_titles_and_texts_are_as_given(dark):
    figure = draw([[0, 1], [2, 3]], ["<b>", "$a$"], titles=("<i>", "up"), dark=dark)
    (drawn,) = figure.data
    assert drawn.x.tolist() == [0, 2] and drawn.y.tolist() == [1, 3]
    assert list(drawn.customdata) == list(drawn.text) == ["&lt;b&gt;", "&#36;a&#36;"]
    assert figure.layout.xaxis.title.text == "&lt;i&gt;" and figure.layout.yaxis.title.text == "up"


def test_the_room_is_that_of_the_longest_text():
    assert plane.room(["a", "aaaa"]) == plane.room(["aaaa"]) > plane.room(["a"])
    assert plane.room(["词词词"]) > plane.room(["aaa"])


def test_one_unit_is_as_long_across_as_up():
    assert draw([[0, 0], [1, 1]]).layout.yaxis.scaleanchor == "x"


def test_the_chosen_point_stands_out_by_shape_and_size():
    marker = draw([[0, 0], [1, 1], [2, 0]], chosen=1).data[0].marker
    assert list(marker.symbol) == ["circle", "diamond", "circle"]
    assert marker.size[1] > marker.size[0]


def test_every_point_lies_within_the_axes():
    figure = draw([[-1, 5], [4, 5], [2, 5]])
    for axis, values in ((figure.layout.xaxis, (-1, 4)), (figure.layout.yaxis, (5, 5))):
        low, high = axis.range
        assert low < min(values) and max(values) < high


@pytest.mark.parametrize("n", [1, 3])
def test_points_on_one_spot_have_axes_too(n):
    low, high = draw([[2, 2]] * n).layout.xaxis.range
    assert low < 2 < high


def boxes(points, widths):
    """The places of names, and the boxes that they then fill; points in pixels."""
    places = plane._places(np.array(points, float), widths)
    return places, [
        plane._box(point, width, *plane.PLACES[place])
        for point, width, place in zip(points, widths, places, strict=True)
        if place
    ]


def test_a_name_with_room_lies_above_its_point():
    assert boxes([[0, 0], [300, 0]], [40, 40])[0] == ["top center"] * 2


def test_no_name_lies_on_another_or_on_a_foreign_point():
    points = np.random.default_rng(0).uniform(0, 300, (60, 2))
    places, filled = boxes(points, [50.0] * 60)
    assert 20 < len(filled) < 60  # some find room, some do not
    for n, box in enumerate(filled):
        assert not any(plane._meet(box, other) for other in filled[n + 1 :])
    owners = [n for n, place in enumerate(places) if place]
    for owner, (left, bottom, right, top) in zip(owners, filled, strict=True):
        others = np.delete(points, owner, axis=0)
        inside = (others > (left, bottom)) & (others < (right, top))
        assert not inside.all(axis=1).any()


def test_a_name_without_room_is_left_to_the_hover():
    drawn = draw([[0, 0]] * 20 + [[1, 1]]).data[0]
    assert "" in drawn.text and "" not in drawn.customdata


def test_a_long_name_is_cut_on_the_map_only():
    drawn = draw([[0, 0], [1, 1]], ["x" * 70, "b"]).data[0]
    assert drawn.text[0] == "x" * 17 + "…" and drawn.customdata[0] == "x" * 70


def test_chinese_letters_are_taken_to_be_wider():
    assert plane._width("中文") > plane._width("ab")
