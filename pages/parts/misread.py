"""What is often believed at a step, and what this very run says to it, behind a click.

Knows which figures answer which lesson; the measuring is core's, the sentences are the lessons'.
"""

import streamlit as st

from core.analyse import distance, misreadings
from pages.parts import html, journey, run, words
from pages.parts.html import Token, number, percent
from pages.parts.words import text

HERE = "block.misread"


def show(step, this, values: dict) -> None:
    """The box of a step of a block, where its lesson has one. this: the op's lesson; values: what
    its texts may name.
    """
    if this.misread and not _too_early(step):
        _box(step.op, step.trace, values, lambda: ANSWERS[step.id](step))


def at_output(op, trace, this, values: dict) -> None:
    """The same behind the last block, where every belief is about the guesses."""
    if this.misread:
        _box(op, trace, values, lambda: _guesses(trace))


def _too_early(step):
    """Guesses are read from the stream that leaves the last block, from no other."""
    return step.id == "resid_post" and step.layer < step.config.n_layers - 1


def _box(op, trace, values, answer):
    """The belief, and the answer once it is asked for. answer() -> what it names, a list of more
    (HTML), and the door to where it can be tried, if there is one.
    """
    told = words.op(op, *misreadings.tags(trace.config)).misread
    belief, _, reply = told.partition("\n\n")
    # a key of its own for each op: at the next step the box is closed
    box = st.expander(
        text(f"{HERE}.belief", belief=belief), key=f"misread_{op.id}", on_change="rerun"
    )
    if box.open:
        with box:
            _answered(reply, values, *answer())


def _answered(reply, values, found, listed, door=None):
    """The answer, and below it the door."""
    said = html.paragraphs(html.rich(reply, **values | found))
    html.show(f'<div class="tw-misread">{said}{listed}</div>')
    if door is None:
        return
    if st.button(text(f"{HERE}.door_{door['name']}"), key="misread_door", type="tertiary"):
        journey.go(**door)


def _list(lines):
    """Lines of HTML as a list: the column is too narrow for a table."""
    return f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"


# ---- the guesses of all rows ---------------------------------------------------------------------


def _guesses(trace):
    rows = run.compute(misreadings.guesses, trace)
    known = [row for row in rows if row.next is not None]
    found = {"n_known": len(known), "n_right": sum(row.rank == 1 for row in known)}
    return found, _list(_guess(trace, row) for row in rows)


def _guesses_there(step):
    """The guesses, and where they are made."""
    return *_guesses(step.trace), {"name": "output"}


def _guess(trace, row):
    """What one row expects, and how that compares with the text."""
    display = trace.model.tokenizer.display
    place = {"position": row.position, "token": Token(trace.tokens[row.position])}
    place |= {"guess": Token(display(row.best)), "prob": percent(row.prob)}
    after = "open" if row.rank is None else "right" if row.rank == 1 else "wrong"
    then = {"next": Token(display(row.next)), "rank": f"{row.rank:,}"} if row.rank else {}
    return f"{words.html(f'{HERE}.guess', **place)}<br>{words.html(f'{HERE}.{after}', **then)}"


# ---- what attention is added to ------------------------------------------------------------------


def _sums(step):
    found = run.compute(misreadings.sums, step.trace, step.layer, step.position)
    lines = [_sum(way.name, way.rms, difference=_apart(way.difference)) for way in found.ways]
    return {}, _list([*lines, _sum("recorded", found.rms)])


def _sum(name, rms, **difference):
    """One way to add up, by its root mean square and its difference, where it has one."""
    said = [words.html(f"{HERE}.rms", rms=number(rms, 2))]
    said += [words.html(f"{HERE}.difference", **difference)] if difference else []
    return f"<b>{words.html(f'{HERE}.sum_{name}')}</b><br>{'<br>'.join(said)}"


def _apart(difference):
    """A difference; one of exactly 0 says so."""
    return number(difference, 2) if difference else "0"


# ---- what is kept --------------------------------------------------------------------------------


def _cached(step):
    found = run.compute(misreadings.cached, step.trace, step.layer)
    shape = " × ".join(f"{n:,}" for n in found.shape)
    values = {"cache_shape": shape, "cache_bytes": f"{found.nbytes:,}", "keys_op": found.keys}
    values |= {"n_same": f"{found.n_same:,}", "n_compared": f"{found.n:,}"}
    return values | {"query_bytes": f"{found.query_bytes:,}"}, ""


# ---- where the position is -----------------------------------------------------------------------


def _entering(step):
    found = run.compute(misreadings.entering, step.trace, step.position)
    return {"n_same": found.n_same, "n_turning": found.n_turning}, ""


def _nearer(step):
    """The chosen cell's query and key; at the keys, the query of the chosen token."""
    key = step.column if step.id == "attn.scores" else None
    place = (step.layer, step.head, step.position, key)
    found = run.compute(misreadings.nearer, step.trace, *place)
    first, last = distance.NEAR
    values = {"near_first": first, "near_last": last, "n_falling": found.n_falling}
    values |= {"best": found.best, "best_score": number(found.best_score)}
    values |= {"key_token": Token(step.trace.tokens[found.key]), "key": found.key}
    doors = [{"name": "positions", "op": "distance", "cell": found.key}]
    return values, "", *(doors if step.trace.config.ropes[step.layer] else ())


# ---- looking and helping -------------------------------------------------------------------------


def _looked(step):
    place = (step.layer, step.head, step.position, step.column)
    rows = run.compute(misreadings.looked, step.trace, *place)
    mine = next(row for row in rows if row.key == step.column)
    values = {"key_token": Token(step.trace.tokens[mine.key]), "weight": number(mine.weight)}
    values |= {"share": percent(mine.share)}
    return values, _list(_sent(step.trace, row) for row in rows)


def _sent(trace, row):
    """What one key sends."""
    place = {"position": row.key, "token": Token(trace.tokens[row.key])}
    sizes = {"weight": number(row.weight, 3), "length": number(row.length, 2)}
    return words.html(f"{HERE}.sent", **place, **sizes, share=percent(row.share))


ANSWERS = dict.fromkeys(("attn.masked", "resid_post"), _guesses_there)
ANSWERS |= dict.fromkeys(("attn_norm", "resid_mid"), _sums)
ANSWERS |= dict.fromkeys(("attn.q", "attn.k"), _cached)
ANSWERS |= dict.fromkeys(("embed", "resid_pre", "attn.q_rot"), _entering)
ANSWERS |= dict.fromkeys(("attn.k_rot", "attn.scores"), _nearer)
ANSWERS |= {"attn.weights": _looked}
