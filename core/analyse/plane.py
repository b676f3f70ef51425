"""A map of some rows of the embedding table: the two directions in which they differ most
(principal component analysis), where each row lies on them, and what that leaves out.

Knows weights; no text, no figures.
"""

from dataclasses import dataclass

import numpy as np

from core.errors import TokenwalkError

from .near import Checked, Dot, checked, dot

FEWEST, MOST = 3, 60  # rows of a map


@dataclass(frozen=True)
class Plane:
    """Rows on a plane, float64.

    Attributes:
        rows, centre: [token, embedding] and their mean [embedding]. components: two directions of
            length 1, at a right angle [component, embedding]. points: where the rows lie along
            them [token, component].
        shares: of the variance, along each direction [component]. variance: the mean squared
            distance from the centre.
        in_space, on_map: distances of every two rows [token, token].
    """

    ids: tuple[int, ...]
    rows: np.ndarray
    centre: np.ndarray
    components: np.ndarray
    points: np.ndarray
    shares: np.ndarray
    variance: float
    in_space: np.ndarray
    on_map: np.ndarray

    @property
    def left_out(self) -> float:
        """The share of the variance that the map does not show."""
        return max(0.0, 1.0 - float(self.shares.sum()))

    @property
    def flat(self) -> bool:
        """Whether all rows are equal, so that there is nothing to draw."""
        return not self.in_space.any()


def plane(model, ids) -> Plane:
    """The map of the rows of 3 to 60 different ids.

    ValueError for another number of them; TokenwalkError where a row holds what is no number.
    """
    ids = tuple(ids)
    if len(set(ids)) != len(ids) or not FEWEST <= len(ids) <= MOST:
        raise ValueError(f"wanted {FEWEST} to {MOST} different rows, not {len(ids)}")
    rows = model.weights.embed[list(ids)].astype(np.float64)
    if not np.isfinite(rows).all():
        raise TokenwalkError("nonfinite_outside", op="embed")
    centre = rows.mean(axis=0)
    components, points, shares, variance = components_of(rows - centre)
    apart = distances(rows), distances(points)
    return Plane(ids, rows, centre, components, points, shares, variance, *apart)


def components_of(centred: np.ndarray):
    """Principal components of centred rows [token, embedding] by their singular values.

    Returns components [2, embedding], points [token, 2], shares [2] and the whole variance. A
    component could as well point the other way: here its largest number is positive.
    """
    along, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    largest = np.abs(directions[:2]).argmax(axis=1)
    signs = np.sign(directions[[0, 1], largest])
    squares = sizes**2
    shares = squares[:2] / squares.sum() if squares.sum() else np.zeros(2)
    points = along[:, :2] * sizes[:2] * signs
    return directions[:2] * signs[:, None], points, shares, float(squares.sum() / len(centred))


def distances(points: np.ndarray) -> np.ndarray:  # [token, token]
    """The distance of every two points [token, axis]."""
    return np.stack([np.sqrt(((points - point) ** 2).sum(axis=1)) for point in points])


def closest(apart: np.ndarray) -> tuple[int, int]:
    """The two points with the smallest distance [token, token]."""
    n = len(apart)
    pairs = np.where(np.tri(n, dtype=bool), np.inf, apart)
    first, second = divmod(int(pairs.argmin()), n)
    return first, second


def neighbours_kept(drawn: Plane) -> int:
    """For how many rows the nearest point on the map is the nearest row in the whole space too."""
    first, second = (_nearest(apart) for apart in (drawn.in_space, drawn.on_map))
    return int((first == second).sum())


def _nearest(apart):
    return np.where(np.eye(len(apart), dtype=bool), np.inf, apart).argmin(axis=1)


def coordinate(drawn: Plane, token: int, component: int) -> tuple[Dot, Checked]:
    """Where a row lies along a component, computed again: the row without the centre, number by
    number, times the component; beside the point that is shown.
    """
    product = dot(drawn.rows[token] - drawn.centre, drawn.components[component])
    shown = float(drawn.points[token, component])
    return product, checked(product.value, shown, np.abs(product.products).sum())
