"""The output of attention as a sum over heads: what each adds to one number, how much it writes in
all beside whom it looks at, and all heads' results side by side.

Knows steps and panels; the shares are core's.
"""

from html import escape

import streamlit as st

from core.analyse import shares
from pages.parts import charts, explanation, html, listing, run, session, terms, words
from pages.parts.html import number, percent
from pages.parts.words import text
from pages.views.block import product, whole

HERE = "block.heads"
MOST_NAMED = 16  # heads that have room for their numbers side by side


def draw(step) -> None:
    """The figures of a step whose output is a sum over heads."""
    whole.output(step)
    if step.together:
        _everyone(step)
    else:
        _one(step)
    product.draw_parts(step, _ruler(step))
    listing.listen("head", lambda head: session.put(at_head=head))


# ---- one position --------------------------------------------------------------------------------


def _one(step):
    place = (step.trace, step.layer, step.position)
    found = run.compute(shares.of_heads, *place, step.column)
    _into(step, found)
    _vectors(step, found, run.compute(shares.looked_at, *place))


def _sizes(step):
    c = step.config
    return {"n_heads": c.n_heads, "head_dim": c.head_dim, "column": step.column}


def _into(step, found):
    """What each head adds to the chosen number, and that these parts make it."""
    words.heading(f"{HERE}.into", **_sizes(step))
    words.caption(f"{HERE}.into_caption", **_sizes(step))
    head = [words.html(f"{HERE}.{key}") for key in ("head", "kv_head", "part")]
    most = max(abs(found.into).max(), abs(found.bias)) or 1.0
    rows = [
        [str(h), str(h // step.config.group), listing.short(part, 3), listing.bar(part, most, 7)]
        for h, part in enumerate(found.into.tolist())
    ]
    own = [words.html(f"{HERE}.bias"), "", listing.short(found.bias, 3)]
    foot = [[*own, listing.bar(found.bias, most, 7)]] if step.op.biases else []
    label = text(f"{HERE}.into", **_sizes(step))
    listing.show("head", [*head, ""], rows, range(len(rows)), step.head, label, foot)
    total = words.html(f"{HERE}.sum{'_bias' * len(foot)}", **_sizes(step))
    lines = [
        (total, number(found.total)),
        (f"<b>{words.html('explain.recorded')}</b>", f"<b>{number(found.recorded)}</b>"),
    ]
    explanation.agreed(found.agreement, lines)


def _vectors(step, found, looked_at):
    """How long a vector each head writes, beside whom it looks at."""
    token, length = html.Token(step.trace.tokens[step.position]), number(found.length, 2)
    words.heading(f"{HERE}.vectors")
    words.caption(f"{HERE}.vectors_caption", token=token, length=length)
    head = [words.html(f"{HERE}.{key}") for key in ("head", "looks", "weight", "length")]
    head += ["", *(words.html(f"{HERE}.{key}") for key in ("cosine", "share"))]
    most = found.lengths.max() or 1.0
    rows = [
        [
            str(h),
            terms.coordinate("key", key, step.trace),
            f"{weight:.2f}",
            listing.short(found.lengths[h]),
            listing.bar(found.lengths[h], most),
            listing.short(found.cosines[h]),
            percent(found.shares[h]),
        ]
        for h, (key, weight) in enumerate(looked_at)
    ]
    listing.show("head", head, rows, range(len(rows)), step.head, text(f"{HERE}.vectors"))
    if step.op.biases:
        words.caption(f"{HERE}.shares_bias")
    columns = ("head", "kv_head", f"dimension_{step.column}", "looks_at", "weight")
    columns += ("length", "cosine", "share")
    numbers = zip(found.into, found.lengths, found.cosines, found.shares, strict=True)
    charts.save(
        step.file("heads"),
        columns,
        [
            (h, h // step.config.group, into, *looked_at[h], *others)
            for h, (into, *others) in enumerate(numbers)
        ],
    )


def _ruler(step):
    """The heads above the strips that hold them side by side, each as wide as its numbers."""
    n, every = step.config.n_heads, -(-step.config.n_heads // MOST_NAMED)
    cells = (
        f'<span class="{"tw-here" if h == step.head else ""}">{h if h % every == 0 else ""}</span>'
        for h in range(n)
    )
    label = text(f"{HERE}.ruler", n_heads=n, head=step.head)
    named = f'role="img" aria-label="{escape(label)}"'
    said = words.html(f"{HERE}.side", **_sizes(step))
    name = f"<b>{words.html(f'{HERE}.head')}</b>"
    row = f'<div class="tw-ruler" {named}>{name}{"".join(cells)}</div>'
    return f'<p class="tw-caption">{said}</p>{row}'


# ---- all positions -------------------------------------------------------------------------------


def _everyone(step):
    """How long a vector each head writes at every position."""
    panel = run.compute(shares.panel_of_heads, step.trace, step.layer, step.position, step.head)
    how = {"on_cell": _to_cell, "name": text(f"{HERE}.everyone")}
    how["saved"] = step.file("head_lengths", alone=False)
    whole.show(step, panel, key="head_lengths", **how)
    words.caption(f"{HERE}.everyone_caption")


def _to_cell():
    position, head = st.session_state["head_lengths"]["cell"]
    session.put(pos=position, at_head=head)
