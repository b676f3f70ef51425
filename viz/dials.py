"""Dials with hands: pairs of numbers as arrows from the centre, or the clock hands of many pairs.

Knows angles, lengths and translated labels; knows no model or page, and draws nothing:
pages/canvas/dials.js does. Angles are radians, counted from the right against the clock.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from viz.payload import pack
from viz.theme import ROLES

LABELS = ("aria", "save_png")
MOVING = ("slider", "play", "pause", "position", "beyond", "round")


@dataclass(frozen=True)
class Hand:
    """An arrow from the centre: length 0..1 of the circle's radius, and a name beside its tip."""

    angle: float
    length: float
    role: str
    name: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Dial:
    """One circle.

    Attributes:
        label: its heading. lines: what stands below it. axes: names of the axis to the right and of
            that upwards. edge: what the radius stands for. arc: a turn from an angle by an angle.
    """

    label: str
    hands: tuple[Hand, ...]
    lines: tuple[str, ...] = ()
    axes: tuple[str, str] = ("", "")
    edge: str = ""
    arc: tuple[float, float] | None = None


@dataclass(frozen=True)
class Slider:
    """A position 0..last that the reader moves in the browser: the one hand of each dial is turned
    from its angle by position × speed. speeds: radians per position [dial]; tokens: the text at its
    first positions.
    """

    last: int
    value: int
    speeds: Sequence[float]
    tokens: Sequence[str] = ()


def dials(
    shown: Sequence[Dial], *, labels: dict[str, str], name: str, slider: Slider | None = None
) -> bytes:
    """The payload of some dials; one or two are drawn large.

    labels: translated strings, those of LABELS and with a slider those of MOVING; "position" has
    {position} and {token}, "beyond" {position}, "round" {n} and {count}. `name` names the file.

    ValueError: no dial, an unknown role, a length outside 0..1, a number that is not finite, a
    slider whose value or speeds do not fit, a missing label.
    """
    _check(shown, slider)
    if missing := [key for key in LABELS + MOVING * bool(slider) if key not in labels]:
        raise ValueError(f"labels lack {missing}")
    meta = {
        "dials": [asdict(dial) for dial in shown],
        "slider": asdict(slider) if slider else None,
        "colours": ROLES,
        "labels": labels,
        "name": name,
    }
    return pack(meta)


def _check(shown, slider):
    if not shown:
        raise ValueError("no dials")
    for dial in shown:
        for hand in dial.hands:
            _check_hand(hand)
        if dial.arc and not all(map(math.isfinite, dial.arc)):
            raise ValueError(f"arc {dial.arc} of {dial.label!r} is not finite")
    if slider:
        _check_slider(shown, slider)


def _check_hand(hand):
    if hand.role not in ROLES:
        raise ValueError(f"unknown role {hand.role!r}, wanted one of {sorted(ROLES)}")
    # a length divided by the longest one may pass 1 by a rounding step
    if not (math.isfinite(hand.angle) and 0 <= hand.length <= 1.001):
        raise ValueError(f"hand at {hand.angle} of length {hand.length}, wanted 0..1")


def _check_slider(shown, slider):
    if not 0 <= slider.value <= slider.last:
        raise ValueError(f"position {slider.value} is not one of 0 to {slider.last}")
    if len(slider.speeds) != len(shown) or not all(map(math.isfinite, slider.speeds)):
        raise ValueError(f"{len(slider.speeds)} speeds for {len(shown)} dials")
