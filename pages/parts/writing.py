"""Continuations on a page: how far a reader wants to see one, the buttons that say so, the text as
it comes. Knows core's writer, the session and the canvas; no view by name.
"""

import streamlit as st

from core.decode import background
from core.errors import TokenwalkError
from pages import canvas
from pages.parts import following, run, session, settings, words
from pages.parts.following import piece
from pages.parts.html import Token
from pages.parts.words import text
from viz.written import LABELS, written

WAIT_SECONDS = 0.15  # for tokens that come at once; what lasts longer is followed
ONE_SECONDS = 1.0  # for a single one
BEFORE = 60  # tokens in front of a text that are shown


def limit() -> int:
    """Tokens at most, as the settings say."""
    return min(settings.values()["max_new_tokens"], background.MOST)


def look(spec, n: int) -> background.Continuation:
    """The continuation of a spec of which the page wants to show n tokens; waits a moment for them.
    What cannot be written is said then, and the page ends there.
    """
    again = session.get("again") or 0
    found = background.find(spec, again)
    wait = ONE_SECONDS if n - len(found.tokens) == 1 else WAIT_SECONDS
    if not found.error:
        found = background.look(spec, n, run.COMPUTE, wait, again)
    if found.error:
        _refuse(found)
    return found


def _refuse(found):
    """Say why it cannot be written, once: the next run of the page tries again."""
    error = found.error
    found.forget()
    if isinstance(error, TokenwalkError):
        said = words.error(error)
    else:
        said = words.html("loop.text.failed", reason=f"{type(error).__name__}: {error}")
    run.notice(said, "error")
    st.stop()


# ---- buttons -------------------------------------------------------------------------------------


def buttons(texts, now, running: bool, done: bool, most: int, stopped=None, **place) -> None:
    """Run, one token more, stop, and start again. texts: those under way; now() -> how many tokens
    the page shows; running: whether more are on their way; done: whether there is nothing more to
    come; most: where a run ends; stopped() -> how many tokens a stop leaves, by default now();
    place: what all but a stop put into the session besides.
    """

    def stop():
        n = (stopped or now)()
        session.put(cell=n)
        session.below("at", n)
        following.end()
        for each in texts:
            each.forget()

    with st.container(horizontal=True, gap="small", key="writing_buttons"):
        for name, off, then in (
            ("run", running or done, lambda: session.put(cell=most, **place)),
            ("step", running or done, lambda: session.put(cell=now() + 1, **place)),
            ("stop", not running, stop),
            ("again", False, lambda: _again(place)),
        ):
            kind = {"type": "primary"} if name == ("stop" if running else "run") else {}
            label = text(f"loop.text.{name}")
            st.button(label, key=f"writing_{name}", on_click=then, disabled=off, **kind)


def _again(place):
    """From the beginning, measured anew: the same tokens, if nothing is changed."""
    session.put(cell=None, again=next(background.ANEW), **place)


# ---- the text ------------------------------------------------------------------------------------


def pieces(tokenizer, ids) -> list[str]:
    """The last of some tokens in front of a text; three dots for what is left out."""
    shown = [piece(tokenizer, id) for id in ids[-BEFORE:]]
    return ["… ", *shown] if len(ids) > BEFORE else shown


def strip(
    tokenizer,
    before,
    ids,
    probs,
    *,
    key,
    pick,
    selected,
    scale=True,
    wanted=None,
    costs=None,
    **drawn,
) -> None:
    """Tokens behind those in front of them, coloured by probability.

    pick(number) is called before the next run when one is chosen. scale: whether that of the
    colours stands below. wanted: (spec, how many tokens of it, how many of those are here) of a
    text that is being written: more come by themselves, and when all are there the page runs again.
    costs: tokens of which the line below says what they cost; without, there is no line. drawn:
    what viz.written takes besides.
    """
    control = set(tokenizer.special.values())
    off = {"scale": not scale, "said": costs is None, "reads": costs is None}
    labels = words.table("loop.text.strip", *LABELS)
    payload = written(
        pieces(tokenizer, before),
        [piece(tokenizer, id) for id in ids],
        ids,
        probs,
        special=[id in control for id in ids],
        selected=selected,
        labels={name: "" if off.get(name) else label for name, label in labels.items()},
        follow=wanted and _followed(key, *wanted),
        values=following.values(costs) if costs else None,
        **drawn,
    )
    canvas.written(payload, key, lambda: pick(st.session_state[key]["position"]))


def text_strip(tokenizer, found, n: int, **how) -> None:
    """`strip` of the first n tokens of a continuation behind its prompt."""
    tokens = found.tokens[:n]
    strip(tokenizer, found.ids, [t.id for t in tokens], [t.prob for t in tokens], **how)


def _followed(key, spec, n, n_here):
    return following.address(key, spec, n, session.get("again") or 0, n_here)


def why(found, n: int, model, limited: int | None = None) -> str | None:
    """Why a text goes no further than n tokens, as HTML; None where it may."""
    reason = found.why(n, limit() if limited is None else limited)
    last = found.tokens[n - 1].id if n else None
    return reason and because(reason, model, last, found.where)


def because(reason: str, model, id: int | None = None, where=None) -> str:
    """A reason of `Continuation.why` as HTML. id: the last token; where: what was not finite."""
    values = {}
    if reason == "end":
        values = {"token": Token(model.tokenizer.display(id)), "id": id}
    elif reason == "nonfinite":
        op, layer = where
        values = {"op": op, "layer": "–" if layer is None else layer}
    elif reason == "context":
        values = {"context": f"{model.config.context:,}"}
    return words.html(f"loop.text.why_{reason}", **values)
