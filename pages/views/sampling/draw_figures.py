"""The figures of the draw: the line, the same around u, the counts of many rolls, the list."""

from core.decode import line
from pages.parts import charts, html, listing, session, style, words
from pages.parts.html import Token, number
from pages.parts.words import text
from pages.views.sampling.tokens import token_of
from viz.cumulative import Part, cumulative, rolled

HERE = "sampling.draw"


def show(trace, drawn, place: int, n_first: int) -> None:
    """The line; and where the chosen piece is too thin to see, the same around it."""
    words.heading(f"{HERE}.line", n=f"{drawn.n_kept:,}")
    words.caption(f"{HERE}.line_caption", n=n_first)
    _line(trace, drawn, place, line.pieces(drawn, n_first), "draw_line")
    if drawn.probs[place] < line.THIN and drawn.n_kept > 1:
        near = line.around(drawn, place)
        token = token_of(trace, drawn.ids[place])
        words.heading(f"{HERE}.near", token=token, times=f"{line.times_larger(near):,.0f}")
        _line(trace, drawn, place, near, "draw_near")


def _line(trace, drawn, place, pieces, key):
    parts = [_part(trace, drawn, place, piece) for piece in pieces]
    mark = (drawn.u, f"u = {drawn.u:.4f}")
    if not parts[0].start <= drawn.u <= parts[-1].stop:  # of another token's surroundings
        low = drawn.u < parts[0].start
        mark = (parts[0].start if low else parts[-1].stop, f"{'←' * low} u {'→' * (not low)}")
    made = cumulative(parts, mark=mark, title=text(f"{HERE}.axis"), dark=style.dark())
    chosen = [n for n, piece in enumerate(pieces) if _holds(piece, place)]
    charts.clickable(
        made,
        key,
        lambda n: session.put(cell=int(drawn.ids[pieces[n].place])),
        name=key,
        alt=text(f"{HERE}.line_alt"),
        names=[part.hover for part in parts],
        chosen=chosen[0] if chosen else None,
    )


def _holds(piece, place):
    return piece.place <= place < piece.place + piece.n


def _part(trace, drawn, place, piece):
    named = name(trace, drawn, piece)
    ends = f"{piece.start:.6g} … {piece.stop:.6g}"
    state = "rest" if piece.n > 1 else ""
    if piece.n == 1 and piece.place == drawn.place:
        state = "drawn"
    elif piece.n == 1 and piece.place == place:
        state = "chosen"
    return Part(piece.start, piece.stop, charts.short(named), f"{named}: {ends}", state)


def name(trace, drawn, piece) -> str:
    """What a piece is called: its token, or how many it holds."""
    if piece.n > 1:
        return text(f"{HERE}.rest", n=f"{piece.n:,}")
    return trace.model.tokenizer.display(int(drawn.ids[piece.place]))


def histogram(trace, drawn, bins, place: int) -> None:
    """How often each of the first tokens came, beside what is to be expected."""
    names = [name(trace, drawn, each.piece) for each in bins]
    chosen = [n for n, each in enumerate(bins) if _holds(each.piece, place)]
    made = rolled(
        [charts.short(each) for each in names],
        [each.count for each in bins],
        [each.expected for each in bins],
        [each.spread for each in bins],
        names=(text(f"{HERE}.came"), text(f"{HERE}.expected")),
        title=text(f"{HERE}.times"),
        chosen=chosen[0] if chosen else None,
        dark=style.dark(),
    )
    alt = text(f"{HERE}.rolled_alt")
    pick = {"name": "draw_rolled", "alt": alt}
    charts.clickable(made, "draw_rolled", lambda n: _pick(drawn, bins, n), **pick)


def _pick(drawn, bins, n):
    """A click on a bar, or on the mark beside it."""
    if n < len(bins):
        session.put(cell=int(drawn.ids[bins[n].piece.place]))


def called(trace, drawn, piece):
    """What a piece is called in a sentence."""
    named = name(trace, drawn, piece)
    return named if piece.n > 1 else Token(named)


def listed(trace, drawn, place: int, counts, n_first: int) -> None:
    """The first candidates, the drawn and the chosen one: probability, from, to, and counts.
    counts: of the rolls [kept], None where there were none.
    """
    places = sorted({*range(min(n_first, drawn.n_kept)), drawn.place, place})
    columns = ["place", "token", "probability", *([] if drawn.greedy else ["from", "to"])]
    columns += ["came", "expected", "deviation"] if counts is not None else []
    head = [words.html(f"{HERE}.head_{each}") for each in columns]
    found = [None if counts is None else line.counted_at(drawn, counts, n) for n in places]
    rows = [_row(trace, drawn, n, each) for n, each in zip(places, found, strict=True)]
    words.heading(f"{HERE}.list")
    listing.show("draw", head, rows, places, place, text(f"{HERE}.list"))
    listing.listen("draw", lambda n: session.put(cell=int(drawn.ids[n])))
    _save(trace, drawn, places, found)


def _row(trace, drawn, place, counted):
    token = html.token(trace.model.tokenizer.display(int(drawn.ids[place])), "logits")
    start, stop = drawn.cumulative[place : place + 2]
    shown = [f"{place + 1:,}", token, _exact(drawn.probs[place])]
    shown += [] if drawn.greedy else [_exact(start), _exact(stop)]
    return shown + (_counts(counted) if counted else [])


def _counts(counted):
    deviation = number(counted.deviation, 2)
    return [f"{counted.count:,}", number(counted.expected, 2), deviation]


def _exact(value):
    return f'<span title="{float(value)!r}">{number(float(value), 6)}</span>'


def _save(trace, drawn, places, found):
    head = ("place", "token", "id", "probability", "from", "to", "count", "expected")
    rows = []
    for n, each in zip(places, found, strict=True):
        id = int(drawn.ids[n])
        ends = [float(value) for value in drawn.cumulative[n : n + 2]]
        counts = [each.count, each.expected] if each else ["", ""]
        token = trace.model.tokenizer.display(id)
        rows.append([n + 1, token, id, float(drawn.probs[n]), *ends, *counts])
    charts.save("draw", head, rows)
