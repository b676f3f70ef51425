"""The chosen cell of the logit lens: its first candidates, its column as a curve, and the last row
beside the run. Knows core's window, charts and words.
"""

from core.analyse import lens
from pages.parts import charts, explanation, html, listing, session, style, words
from pages.parts.html import Made, Token, number, percent
from pages.parts.words import text
from pages.views.lens.layers_grid import HERE, row_name
from viz.curves import Line, curves
from viz.lens import PROBS

FIRST = 20  # candidates of a cell
WIDEST = 7  # letters (em) of the longest bar
MOST_TICKS = 16  # names below a curve
DIGITS = 6  # decimals of the two logits of the check, which differ in the last ones


def since(place, row: int) -> str:
    """Where the stream of a row was read, as HTML."""
    point = place.found.points[row]
    kind = "attention" if point % 2 else "end" if point == place.found.points[-1] else "block"
    return words.html(f"{HERE}.since.{kind if point else 'input'}", layer=(point - 1) // 2)


def first_tokens(place) -> None:
    """The most probable tokens of the cell; a click on one makes it the token that is followed."""
    ids, probs = zip(*place.found.first_tokens(place.row, place.column, FIRST), strict=True)
    names, n = [place.display(id) for id in ids], len(ids)
    words.heading(f"{HERE}.first", n=n, **place.values())
    words.caption(f"{HERE}.first_caption", where=Made(since(place, place.row)))
    rows = [
        [f"{rank}", html.token(name), percent(prob), listing.bar(prob, max(probs), WIDEST)]
        for rank, (name, prob) in enumerate(zip(names, probs, strict=True), 1)
    ]
    head = ["#", words.html(f"{HERE}.first_token"), words.html(f"{HERE}.first_prob"), ""]
    chosen = place.target if place.target in ids else None
    listing.show("first", head, rows, ids, chosen, text(f"{HERE}.first_table", n=n))
    listing.listen("first", lambda id: session.put(target=id))
    saved = [(rank, *each) for rank, each in enumerate(zip(names, ids, probs, strict=True), 1)]
    what = text(f"{HERE}.saved_first")
    charts.save("lens_first", ("rank", "token", "id", "probability"), saved, what)


# ---- the column ----------------------------------------------------------------------------------


def column(place) -> None:
    """The chosen column: probabilities and below them ranks, or the measure that colours the grid;
    and since when its token is first.
    """
    words.heading(f"{HERE}.column", **place.values())
    shown = ("prob", "rank") if place.by in (*PROBS, "rank") else (place.by,)
    saved = {"after": [row_name(place, row) for row in range(len(place.found.points))]}
    for measure in shown:
        lines = _lines(place, measure)
        _curve(place, measure, lines)
        saved |= {f"{measure}_{n}": line.values for n, line in enumerate(lines, 1)}
    rows = list(zip(*saved.values(), strict=True))
    charts.save("lens_column", tuple(saved), rows, text(f"{HERE}.saved_column"))
    _settled(place)


def _curve(place, measure, lines):
    """One measure of the column, row by row."""
    points = len(place.found.points)
    every = -(-points // MOST_TICKS)
    drawn = curves(
        [_tick(place, row) if row % every == 0 else "" for row in range(points)],
        lines,
        title=text(f"{HERE}.curve.{measure}"),
        moment_title=text("axes.layer"),
        chosen=place.row,
        upper=1.05 if measure == "prob" else None,
        ranks=measure == "rank",
        dark=style.dark(),
    )
    charts.clickable(
        drawn,
        f"lens_column_{measure}",
        lambda row: session.put(cell=place.found.points[row]),
        name=f"lens_column_{measure}",
        alt=text(f"{HERE}.curve.alt", name=text(f"{HERE}.curve.{measure}")),
    )


def _tick(place, row):
    """The name of a row below a curve: the number of its layer, where that is enough."""
    points = place.found.points
    if points[row] == 0 or (points[row] % 2 and 0 in points):
        return row_name(place, row)
    return str((points[row] - 1) // 2)


def _lines(place, measure):
    """One line, or one for each of two tokens: the answer, and another that is followed."""
    found, column = place.found, place.column
    if measure in ("entropy", "divergence"):
        return [_line(place, measure, getattr(found, measure)[:, column], "residual")]
    values = found.probs_of if measure == "prob" else found.ranks_of
    ids = dict.fromkeys((int(found.top[-1, column]), place.target))
    return [
        _line(place, measure, values(id)[:, column], role, id)
        for id, role in zip(ids, ("logits", "attention"), strict=False)
    ]


def _line(place, measure, values, role, id=None):
    shown = {"prob": percent, "rank": "{:,}".format}.get(measure, lambda value: number(value, 3))
    token = "" if id is None else place.display(id)
    named = {} if id is None else {"token": token}
    details = [
        text(f"{HERE}.curve.{measure}_hover", row=row_name(place, row), value=shown(each), **named)
        for row, each in enumerate(values.tolist())
    ]
    return Line(token, values.tolist(), role, details)


def _settled(place):
    """Since when the followed token is first; or that it is not."""
    ranks = place.found.ranks_of(place.target)[:, place.column].tolist()
    row = lens.first_since(ranks)
    if row is None:
        words.caption(f"{HERE}.never", rank=f"{ranks[-1]:,}", **place.values())
    else:
        words.caption(f"{HERE}.settled", since=Made(since(place, row)), **place.values())


# ---- the check -----------------------------------------------------------------------------------


def check(place) -> None:
    """The formula of all rows, taken for the last one, beside the logits that the run itself gives
    at the chosen position.
    """
    found, column = place.found, place.column
    agreement, logits = found.checks[column], found.logits[-1, column]
    answer, largest = int(found.top[-1, column]), float(abs(logits).max()) or 1.0
    named = {"answer": Token(place.display(answer))}
    lines = [
        (words.html(f"{HERE}.by_formula", **named), number(float(found.again[column]), DIGITS)),
        (words.html(f"{HERE}.recorded", **named), number(float(logits[answer]), DIGITS)),
    ]
    if place.trace.config.logit_softcap:
        lines.append((words.html(f"{HERE}.check_capped"), ""))
    share = number(agreement.difference / largest)
    lines.append((words.html(f"{HERE}.largest", largest=number(largest, 2)), share))
    explanation.agreed(agreement, lines, words.html(f"{HERE}.check", **place.values()))
