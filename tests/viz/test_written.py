"""A written text sends what it was given, and refuses what does not fit together; its lines have a
point for each token.
"""

import pytest

from viz.curves import Line
from viz.payload import unpack
from viz.series import MARKED, series
from viz.written import LABELS, written

WORDS = dict.fromkeys(LABELS, "x") | {"token": "{token}, id {id}, {number}"}
TOKENS, IDS, PROBS = [" <b>", "⏎\n", "⟨F0 9F⟩"], [5, 198, 7], [0.25, 1.0, float("nan")]


def payload(**changes):
    given = {"before": ["The"], "tokens": TOKENS, "ids": IDS, "probs": PROBS}
    given |= {"special": [False, False, True], "labels": WORDS} | changes
    four = [given.pop(name) for name in ("before", "tokens", "ids", "probs")]
    return unpack(written(*four, **given))


def test_it_sends_what_it_was_given():
    more = {"follow": "/written/x?first=3", "values": {"n": "3"}}
    meta, arrays = payload(selected=1, first=4, forked=0, **more)
    assert (meta["before"], meta["tokens"], meta["ids"]) == (["The"], TOKENS, IDS)
    assert (meta["selected"], meta["first"], meta["forked"]) == (1, 4, 0)
    assert meta["follow"] == "/written/x?first=3" and meta["values"] == {"n": "3"}
    assert arrays["probs"][:2].tolist() == [0.25, 1.0] and arrays["probs"][2] != arrays["probs"][2]
    assert arrays["lut_light"].shape == (256, 3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"ids": [5]},
        {"probs": [0.5] * 4},
        {"special": []},
        {"selected": 3},
        {"forked": -1},
        {"labels": {"aria": "x"}},
    ],
)
def test_what_does_not_fit_together_is_refused(wrong):
    with pytest.raises(ValueError, match="items|is -?\\d|lack"):
        payload(**wrong)


def line(values, name="a <b>"):
    return Line(name, values, "logits", [f"${n}$" for n in range(len(values))])


def draw(*lines, **more):
    return series(lines, **({"title": "y", "step_title": "x"} | more))


def test_tokens_are_counted_from_their_number_on():
    one, two = draw(line([0.1, 0.5, 0.9]), line([0.2, 0.3], "b"), first=4).data
    assert one.x.tolist() == [4, 5, 6] and two.x.tolist() == [4, 5]
    assert one.y.tolist() == [0.1, 0.5, 0.9] and one.customdata[0] == "&#36;0&#36;"
    assert one.name == "a &lt;b&gt;" and one.line.dash != two.line.dash


def test_the_chosen_token_is_marked_and_the_span_kept():
    figure = draw(line([0.1, 0.5]), first=4, chosen=1, span=(0, 1))
    (mark,) = figure.layout.shapes
    assert mark.x0 == mark.x1 == 5 and figure.layout.yaxis.range == (0, 1)
    assert not draw(line([0.1])).layout.shapes


def test_many_tokens_have_small_points():
    few, many = (draw(line([0.5] * n)).data[0].marker.size for n in (MARKED, MARKED + 1))
    assert few > many
