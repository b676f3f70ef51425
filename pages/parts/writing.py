"""Continuations on a page: how far a reader wants to see one, the buttons that say so, the text as
it comes. Knows core's writer, the session and the canvas; no view by name.
"""

import streamlit as st

from core.decode import background
from core.errors import TokenwalkError
from pages import canvas
from pages.parts import html, run, session, settings, words
from pages.parts.html import Token
from pages.parts.words import text
from viz.written import LABELS, written

LOOK_SECONDS = 0.2  # between two looks at what has come
WAIT_SECONDS = 0.15  # for tokens that come at once; what lasts longer is watched
ONE_SECONDS = 1.0  # for a single one
BEFORE = 60  # tokens in front of a text that are shown


def limit() -> int:
    """Tokens at most, as the settings say."""
    return min(settings.values()["max_new_tokens"], background.MOST)


def look(spec, n: int, patient: bool = True) -> background.Continuation:
    """The continuation of a spec of which the page wants to show n tokens; waits a moment for them,
    if patient. What cannot be written is said then, and the page ends there.
    """
    again = session.get("again") or 0
    found = background.find(spec, again)
    wait = ONE_SECONDS if n - len(found.tokens) == 1 else WAIT_SECONDS
    if not found.error:
        found = background.look(spec, n, run.COMPUTE, wait if patient else 0, again)
    if patient and found.error:
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


def watch(draw, wanted, waiting: bool) -> None:
    """draw() now, and again as tokens come, until all are there; then the page runs once more.

    wanted: pairs of a spec and how many tokens of it the page wants to show. waiting: whether the
    rest of the page was drawn without some of them.
    """
    st.fragment(_watched, run_every=LOOK_SECONDS if waiting else None)(draw, wanted, waiting)


def _watched(draw, wanted, waiting):
    if session.get("moved"):  # a token was chosen: the rest of the page shows it, too
        st.rerun()
    if waiting and _there(wanted):
        st.rerun()
    draw()


def _there(wanted):
    """Whether everything wanted has come; asking keeps the writer at it."""
    return all([look(spec, n, patient=False).has(n) for spec, n in wanted])


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


def piece(tokenizer, id: int) -> str:
    """A token in a running text: its spaces as such, unless it has nothing else; a line's end ends
    the line.
    """
    shown = tokenizer.display(id)
    spaced = shown.replace("␣", " ") if shown.strip("␣") else shown
    return spaced.replace("⏎", "⏎\n")


def pieces(tokenizer, ids) -> list[str]:
    """The last of some tokens in front of a text; three dots for what is left out."""
    shown = [piece(tokenizer, id) for id in ids[-BEFORE:]]
    return ["… ", *shown] if len(ids) > BEFORE else shown


def strip(tokenizer, before, ids, probs, *, key: str, pick, selected, scale=True, **drawn) -> None:
    """Tokens behind those in front of them, coloured by probability.

    pick(number) is called before the next run when one is chosen. scale: whether that of the
    colours stands below. drawn: what viz.written takes besides.
    """
    control = set(tokenizer.special.values())
    payload = written(
        pieces(tokenizer, before),
        [piece(tokenizer, id) for id in ids],
        ids,
        probs,
        special=[id in control for id in ids],
        selected=selected,
        labels=words.table("loop.text.strip", *LABELS) | ({} if scale else {"scale": ""}),
        **drawn,
    )
    canvas.written(payload, key, lambda: pick(st.session_state[key]["position"]))


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


def figures(tokens, speed: float) -> str:
    """What a text has cost so far, as HTML."""
    last = tokens[-1].event
    return words.html(
        "loop.text.figures",
        n=len(tokens),
        speed=f"{speed:.1f}",
        first=html.number(tokens[0].took, 2),
        positions=f"{last.n_cached:,}",
        size=f"{last.cache_bytes / 1024:,.0f}",
    )
