"""Attention rollout: the mean maps of all layers multiplied, as it is defined, without the first
token, and of the last few layers only, side by side; and the sum that makes a number of it.
"""

import streamlit as st

from core.analyse import attending, rollout, source
from pages import canvas
from pages.parts import (
    charts,
    doors,
    explanation,
    html,
    inputs,
    listing,
    panels,
    run,
    session,
    strip,
    words,
)
from pages.parts.html import Token, number, percent
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.block import keys
from viz.matrix import matrix

HERE = "atlas.rollout"
TALL = 330  # pixels of the cells of a picture
SINK = 0.5  # of a rollout on the first token, from which the page warns of it
KINDS = ("whole", "rest", "late")
LAST = 5  # layers of "late", where the reader has chosen no number
CODE = (rollout.means, rollout.without_first, rollout.rollout, rollout.rows)


def view(trace, position: int) -> Shown:
    """What the chosen token is made of, layer by layer."""
    layer, _ = session.layer_and_head(trace.config)
    with st.spinner(text("run.running")):  # attention of all layers once more
        means = run.compute(rollout.means, trace)
    ways = _ways(trace.config.n_layers)
    found = {kind: run.compute(rollout.rows, means, position, *how) for kind, how in ways.items()}
    mean_first = percent(rollout.first_share(means, position))
    last = _last(trace.config.n_layers)
    return Shown(
        lambda: _draw(trace, means, found, position, layer, mean_first),
        {"layer": layer, "mean_first": mean_first, "last": last},
        lambda: _answer(trace, found, position),
        source.of(*CODE),
        lambda: {f"rollout_{kind}": each for kind, each in found.items()},
    )


def _last(n_layers):
    """How many of the last layers the third picture multiplies: the reader's number, or a few."""
    return session.below("at", n_layers + 1) or min(LAST, max(1, n_layers - 1))


def _ways(n_layers):
    """What `rollout` is told for each picture: the kind of map, and the first layer that counts."""
    return {
        "whole": ("whole", 0),
        "rest": ("rest", 0),
        "late": ("whole", n_layers - _last(n_layers)),
    }


def _answer(trace, found, position):
    """What is left of the token itself, where the rest flows, and what it is made of besides."""
    rows = {kind: each[-1] for kind, each in found.items()}
    named = {f"own_{kind}": percent(float(row[position])) for kind, row in rows.items()}
    named |= {f"first_{kind}": percent(float(row[0])) for kind, row in rows.items()}
    best = rollout.telling_key(rows["late"])
    if best == position:
        return named | {"drains": _drains(trace, rows), "besides": text(f"{HERE}.besides_none")}
    shares = {kind: percent(float(row[best])) for kind, row in rows.items()}
    values = {"best": Token(trace.tokens[best]), "position": best, **shares}
    besides = html.Made(words.html(f"{HERE}.besides", **values))
    return named | {"drains": _drains(trace, rows), "besides": besides}


def _drains(trace, rows):
    """The token that takes the first one's place where that is left out, if there is one."""
    if len(rows["rest"]) < 3:
        return ""
    values = {"second": Token(trace.tokens[1]), "share": percent(float(rows["rest"][1]))}
    return html.Made(words.html(f"{HERE}.drains", **values))


def _draw(trace, means, found, position, layer, mean_first):
    strip.show(trace, position, key="rollout_tokens")
    if position == 0:
        return run.notice(words.html(f"{HERE}.alone", token=Token(trace.tokens[0])))
    _warning(trace, found["whole"], position, mean_first)
    key = session.below("cell", position + 1)
    key = rollout.telling_key(found["whole"][layer + 1]) if key is None else key
    with st.container(key="rollout_pair"):
        sides = st.columns(len(found), gap="small")
    for side, kind in zip(sides, KINDS, strict=True):
        with side:
            _picture(trace, found[kind], kind, layer, key)
    _how_many(trace.config.n_layers)
    words.caption(f"{HERE}.legend", token=Token(trace.tokens[position]))
    _shares(trace, found, position, layer, key)
    _arithmetic(trace, means, found, position, layer, key)
    doors.show(HERE, "atlas.head", "atlas.roles")


def _how_many(n_layers):
    """A box for the number of layers of the third picture."""
    st.session_state["rollout_last"] = _last(n_layers)
    st.number_input(
        text(f"{HERE}.last", n_layers=n_layers),
        1,
        n_layers,
        key="rollout_last",
        on_change=lambda: session.put(at=st.session_state["rollout_last"]),
        width=260,
    )


def _warning(trace, whole, position, mean_first):
    """How much of everything flows to the first token, in this run."""
    share, passed = float(whole[-1, 0]), rollout.first_above(whole[:, 0], SINK)
    key = "sink" if share > SINK else "no_sink"
    values = {"token": Token(trace.tokens[position]), "first": Token(trace.tokens[0])}
    values |= {"share": percent(share), "mean": mean_first, "passed": passed}
    run.notice(words.html(f"{HERE}.{key}", **values, n_layers=len(whole) - 1))


def _picture(trace, rows, kind, layer, key):
    """The token's row of the rollout, before the first layer and after each."""
    words.heading(f"{HERE}.{kind}")
    name, (n_rows, n) = f"rollout_{kind}", rows.shape

    def on_cell():
        row, column = st.session_state[name]["cell"]
        session.put(at_layer=max(row - 1, 0), cell=column)

    aria = text("matrix.aria", name=text(f"{HERE}.{kind}"), rows=n_rows, columns=n)
    payload = matrix(
        rows,
        rows=[text(f"{HERE}.start"), *map(str, range(n_rows - 1))],
        columns=list(trace.tokens[:n]),
        row_title=text(f"{HERE}.after"),
        column_title=text(f"{HERE}.made_of"),
        palette="amount",
        limit=1.0,
        selected=(layer + 1, key),
        labels=panels.cell_labels(aria),
        name=name,
        lens=False,
        height=TALL,
        square=False,
    )
    canvas.matrix(payload, key=name, on_cell=on_cell)
    values = {"first": Token(trace.tokens[0]), "second": Token(trace.tokens[1])}
    values |= {"share": percent(float(rows[-1, int(kind == "rest")]))}
    words.caption(
        f"{HERE}.{kind}_caption", **values, n=_last(n_rows - 1), before=_passed(n_rows - 1)
    )


def _passed(n_layers):
    """How many layers the third picture passes over."""
    return n_layers - _last(n_layers)


# ---- after one layer -----------------------------------------------------------------------------


def _shares(trace, found, position, layer, key):
    """What the token is made of after the chosen layer, token by token, in all ways."""
    shares = {kind: rows[layer + 1].tolist() for kind, rows in found.items()}
    values = {"token": Token(trace.tokens[position]), "position": position, "layer": layer}
    words.heading(f"{HERE}.shares", **values)
    words.caption(f"{HERE}.shares_caption")
    listed, others = keys.few(attending.largest_first(found["whole"][layer + 1]), key)
    listed, others = sorted({*listed, 0}), [each for each in others if each]
    head = [words.html(f"{HERE}.part")]
    for kind in found:
        head += [words.html(f"{HERE}.kind_{kind}"), ""]
    rows = [[keys.name(n, trace, "attention"), *_cells(shares, n)] for n in listed]
    foot = [[words.html(f"{HERE}.others", n=len(others)), *_others(shares, others)]]
    listing.show("part", head, rows, listed, key, text(f"{HERE}.shares_aria"), foot * bool(others))
    listing.listen("part", lambda each: session.put(cell=each))
    saved = [
        (n, trace.tokens[n], *each) for n, each in enumerate(zip(*shares.values(), strict=True))
    ]
    charts.save("rollout_shares", ("position", "token", *shares), saved, text(f"{HERE}.saved"))
    _sums(found)


def _cells(shares, n):
    """The shares of a token in all ways, each with its bar."""
    for each in shares.values():
        yield percent(each[n])
        yield listing.share(each[n])


def _others(shares, others):
    for each in shares.values():
        yield percent(rollout.together(each, others))
        yield ""


def _sums(found):
    """Every row of the pictures is the whole of a token."""
    for kind in KINDS:
        line = words.html(f"{HERE}.sums_{kind}", n=len(found[kind]))
        explanation.agreed(run.compute(rollout.sums, found[kind]), [(line, "1")])


def _arithmetic(trace, means, found, position, layer, key):
    """The chosen number as a sum over all tokens that may have handed it on."""
    words.heading(f"{HERE}.sum", layer=layer)
    kind = inputs.choice("kind", KINDS, key="rollout_kind", of=HERE)
    share, way = float(found[kind][layer + 1, key]), _ways(trace.config.n_layers)[kind]
    made = run.compute(rollout.terms, means, share, layer, position, key, *way)
    values = {"token": Token(trace.tokens[position]), "key": Token(trace.tokens[key])}
    values |= {"position": position, "at": key, "layer": layer}
    words.caption(f"{HERE}.sum_caption", **values)
    listed, others = keys.few(attending.largest_first(made.products), position)
    head = [words.html(f"{HERE}.{name}") for name in ("over", "step", "before", "product")]
    columns = made.step.tolist(), made.before.tolist(), made.products.tolist()
    rows = [
        [keys.name(n, trace), *(listing.short(column[n], 6) for column in columns)] for n in listed
    ]
    rest = number(rollout.together(made.products, others), 6)
    foot = [[words.html(f"{HERE}.others", n=len(others)), "", "", rest]] * bool(others)
    html.show(
        html.scroll(
            html.table(head, [*rows, *foot], "mono tw-rows"),
            text(f"{HERE}.sum_aria"),
            "tw-rows-box",
        )
    )
    lines = [(words.html("explain.sum", n=len(columns[2])), number(made.total, 6))]
    lines += [(f"<b>{words.html(f'{HERE}.in_picture')}</b>", f"<b>{number(share, 6)}</b>")]
    explanation.agreed(made.agreement, lines)
