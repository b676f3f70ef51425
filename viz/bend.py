"""A curve with one point on it, as plain HTML: light enough for a page that steps. (Pages can show
no SVG of their own: Streamlit takes it out of HTML.)

Knows arrays and translated labels. Knows no op, model or page; its looks are a style sheet's.
"""

from html import escape

LEAST = 4.0  # the bend of an activation lies between -4 and 4
THICK = 1.3  # half of the line's width, in per cent of the height
SIDE = 16  # a label nearer to an edge, in per cent of the width, would be cut
ROOM = 36  # so much of the width the number beside a point takes


def reach(x: float) -> float:
    """How far from 0 the curve is drawn, so that its bend and a point at x are in sight."""
    return max(LEAST, abs(x) * 1.2)


def html(xs, ys, point, shown, *, x: str, y: str, alt: str) -> str:
    """The curve through (xs, ys), both 1-D, from left to right.

    point: (x, y) of the point. shown: its two numbers as text. x, y: what the axes are called. alt:
    the figure in words.
    """
    low, high = min(0.0, float(min(ys))), max(float(max(ys)), 1e-9)

    def place(a, b):  # per cent from the left and from the top
        return 100 * (a - xs[0]) / (xs[-1] - xs[0]), 100 * (high - b) / (high - low)

    line = [place(a, b) for a, b in zip(xs, ys, strict=True)]
    (left, top), (zero_left, zero_top) = place(*point), place(0, 0)
    beside = f"{y} = {shown[1]}"  # above the curve, to the left of the point where there is room
    parts = [
        _box("axis", left=0, top=zero_top, width=100),
        _box("axis", left=zero_left, top=0, height=100),
        f'<i class="line" style="clip-path:polygon({_band(line)})"></i>',
        _box("guide", left=left, top=min(top, zero_top), height=abs(zero_top - top)),
        _box("guide", left=min(left, zero_left), top=top, width=abs(left - zero_left)),
        _box("point", left=left, top=top),
        _text("before" if left > ROOM else "behind", beside, left=left, top=top),
        _text("under", f"{x} = {shown[0]}", left=min(max(left, SIDE), 100 - SIDE), top=100),
        _text("first", f"{xs[0]:.3g}".replace("-", "−"), left=0, top=zero_top),
        _text("last", f"{xs[-1]:.3g}", left=100, top=zero_top),
    ]
    return f'<div class="tw-bend" role="img" aria-label="{escape(alt)}">{"".join(parts)}</div>'


def _band(line):
    """A polygon along a line: there above it, and back below it."""
    there = [(x, y - THICK) for x, y in line]
    back = [(x, y + THICK) for x, y in reversed(line)]
    return ",".join(f"{x:.1f}% {y:.1f}%" for x, y in there + back)


def _box(name, **places):
    return f'<i class="{name}" style="{_style(places)}"></i>'


def _text(name, said, **places):
    return f'<span class="{name}" style="{_style(places)}">{escape(said)}</span>'


def _style(places):
    return ";".join(f"{name}:{value:.1f}%" for name, value in places.items())
