"""What heads do: one measure of every head at once, how it comes about in one head, the heads to
look at, and all numbers as a table.
"""

import streamlit as st

from core.analyse import heads, learning, repeating, roles, source
from pages import canvas
from pages.parts import doors, explanation, html, inputs, panels, run, session, words
from pages.parts.html import number
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.atlas import role_heads
from pages.views.atlas.role_heads import HERE, SHARES, Found, shown
from viz.matrix import matrix
from viz.tokens import token_strip

BY = ("previous", "current", "first", "duplicate", "induction")
BY += ("entropy", "distance", "distance_rest")
FEW = 10  # tokens below which the measures of a text are crude
LARGEST, STRIP, MAP = 300, 24, 420  # pixels in height
CODE = (roles.previous, roles.current, roles.first, roles.duplicate, roles.entropy)
CODE += (roles.distance, roles.distance_rest)


def view(trace, position: int) -> Shown:
    """Every head by one measure."""
    layer, head = session.layer_and_head(trace.config)
    with st.spinner(text("run.running")):  # the words said twice are another text
        summary = run.compute(heads.attention, trace)
        repeated = run.compute(repeating.repeated, trace.model, trace.spec.model)
    scores = summary.scores | {"induction": repeated.scores}
    by = session.chosen("by", BY)
    found = Found(trace, summary, repeated, {name: scores[name] for name in BY}, by)
    code = source.joined(source.of(*CODE), source.of(repeating.by_row))
    return Shown(
        lambda: _draw(found, position, layer, head),
        {"layer": layer, "head": head, "period": repeated.period},
        lambda: _answer(found),
        code,
        lambda: found.scores | {"induction_ids": repeated.trace.ids},
    )


def _answer(found):
    """What most heads look at, and which head is the best of some."""
    most = roles.most(found.scores)
    numbers = {f"n_{name}": most[name] for name in (*roles.SHARES, "none")}
    for name in ("previous", "induction"):
        best = roles.order(found.scores[name])[0]
        numbers |= {f"layer_{name}": best[0], f"head_{name}": best[1]}
        numbers[f"score_{name}"] = shown(name, float(found.scores[name][best]))
    return numbers


# ---- all heads -----------------------------------------------------------------------------------


def _draw(found, position, layer, head):
    called = {"called": lambda each: text(f"measures.{each}")}
    with st.container(key="roles_by"):
        inputs.choice("by", BY, key="roles_choice", of=HERE, **called)
    _meaning(found)
    _warnings(found)
    _picture(found, layer, head)
    _chosen(found, position, layer, head)
    role_heads.best(found)
    role_heads.table(found, layer, head)


def _meaning(found):
    """The chosen measure: in words, and as its formula."""
    words.heading(f"{HERE}.name_{found.by}")
    html.show(
        f'<p class="tw-caption">{words.html(f"{HERE}.about_{found.by}")}</p>'
        f'<p class="tw-formula">{words.html(f"{HERE}.formula_{found.by}")}</p>'
    )
    if found.by == "induction":
        _sequence(found)


def _sequence(found):
    """The text of the induction score: not the reader's."""
    sequence, period = found.text, found.repeated.period
    front = html.token(sequence.tokens[0])
    key = "with_bos" if found.repeated.begin else "without_bos"
    said = words.html(f"{HERE}.{key}", token=html.Made(front))
    words.caption(f"{HERE}.sequence", n=len(sequence.ids), period=period, front=html.Made(said))
    roles_of = [None] * (len(sequence.ids) - period) + ["attention"] * period
    payload = token_strip(
        sequence.tokens,
        sequence.ids,
        roles=roles_of,
        labels={"aria": text(f"{HERE}.sequence_aria"), "token": text("strip.token")},
    )
    canvas.tokens(payload, "roles_sequence")


def _warnings(found):
    """What these numbers cannot say."""
    n, config = len(found.trace.ids), found.trace.config
    if found.by != "induction" and n < FEW:
        run.notice(words.html(f"{HERE}.short", n=n))
    if found.by in ("first", "duplicate", "induction") and any(config.windows):
        run.notice(words.html(f"{HERE}.windows_{found.by}"))
    if not roles.defined(found.now):
        run.notice(words.html(f"{HERE}.nowhere_{'duplicate' if found.by == 'duplicate' else 'n'}"))


def _picture(found, layer, head):
    """The measure of every head: layers across, heads down."""
    layers, n_heads = found.now.shape

    def on_cell():
        row, column = st.session_state["roles_picture"]["cell"]
        session.put(at_head=row, at_layer=column)

    aria = text("matrix.aria", name=found.name, rows=n_heads, columns=layers)
    labels = panels.cell_labels(aria) | {"masked": text(f"{HERE}.undefined")}
    payload = matrix(
        found.now.T,
        rows=[str(n) for n in range(n_heads)],
        row_title=text("axes.head"),
        column_title=text("axes.layer"),
        palette="amount",
        limit=1.0 if found.by in SHARES else None,
        selected=(head, layer),
        labels=labels,
        name=f"heads_{found.by}",
        lens=False,
        height=LARGEST,
    )
    canvas.matrix(payload, key="roles_picture", on_cell=on_cell)
    words.caption(f"{HERE}.scale_{'share' if found.by in SHARES else found.by}")


# ---- one head ------------------------------------------------------------------------------------


def _chosen(found, position, layer, head):
    """The chosen head: its measure in words, and the rows that make it."""
    score = float(found.now[layer, head])
    key = f"said_{found.by}" if score == score else "said_nothing"
    values = {"layer": layer, "head": head, "score": html.Made(f"<b>{shown(found.by, score)}</b>")}
    values |= {"n": found.now.size, "rank": roles.rank(found.now, layer, head)}
    html.show(f"<p>{words.html(f'{HERE}.{key}', **values)}</p>")
    doors.show(HERE, "atlas.head", "atlas.effect", at_layer=layer, at_head=head)
    if score == score:
        _rows(found, position, layer, head, score)


def _rows(found, position, layer, head, score):
    """What every row adds to the measure, and that together they are the number of the picture."""
    rows = run.compute(role_heads.rows, found, layer, head)
    words.heading(f"{HERE}.rows", layer=layer, head=head)
    words.caption(f"{HERE}.rows_{found.by if found.by.startswith('distance') else 'mean'}")
    own = found.by != "induction"
    canvas.matrix(_strip(found, rows, position if own else None), "roles_rows", _to_row(own))
    if not own:
        _stripe(found, layer, head)
    kind = "distance" if found.by.startswith("distance") else "mean"
    values = {"total": number(rows.total), "whole": number(rows.whole, 2 * (kind != "mean"))}
    lines = [(words.html(f"{HERE}.sum_{kind}", **values), number(rows.score, 6))]
    lines += [(f"<b>{words.html(f'{HERE}.in_picture')}</b>", f"<b>{number(score, 6)}</b>")]
    explanation.agreed(rows.agreement(score), lines)


def _to_row(own):
    """A click on a row of the reader's text moves the page to its token."""
    if own:
        return lambda: session.put(pos=st.session_state["roles_rows"]["cell"][1])
    return None


def _strip(found, rows, position):
    n = len(rows.values)
    aria = text("matrix.aria", name=text(f"{HERE}.rows_aria"), rows=1, columns=n)
    labels = panels.cell_labels(aria, "column", flat=True)
    labels |= {"masked": text(f"{HERE}.not_counted")}
    return matrix(
        rows.values[None],
        rows=[""],
        columns=list(found.text.tokens),
        row_title="",
        column_title=text("axes.query"),
        palette="amount",
        limit=1.0 if found.by in SHARES else None,
        selected=None if position is None else (0, position),
        labels=labels,
        name=f"rows_{found.by}",
        height=STRIP,
        indent=8,
    )


def _stripe(found, layer, head):
    """The head's map of the words said twice, with the cells that are counted outlined."""
    words.caption(f"{HERE}.stripe", layer=layer, head=head)
    n = len(found.text.ids)
    cells = learning.induction_cells(n)
    marks = [(cells[0][0], 0, n, n), *((i, j, i + 1, j + 1) for i, j in cells)]
    how = {"marks": marks, "height": MAP, "names": list(found.text.tokens)}
    how["name"] = f"said_twice_{layer}_{head}"
    canvas.matrix(role_heads.map_of(found, layer, head, **how), "roles_stripe")
