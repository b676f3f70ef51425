"""Boxes and switches whose value is a plain one of the session, so that links hold it and a widget
that is not drawn forgets nothing. Knows widgets and the session.
"""

from collections.abc import Callable

import streamlit as st

from pages.parts import session
from pages.parts.words import text


def box(
    name: str,
    label: str,
    *,
    key: str,
    longest: int,
    height: int | None = None,
    shown: str = "",
    empty: str | None = None,
    **put,
) -> None:
    """A box for one of the session's texts; emptied, there is none.

    longest: characters that it takes. height: of a box for several lines. shown: what stands in it
    where nothing was typed. empty: what an empty one says. put: other values of the session that
    are set along.
    """

    def take(typed):
        session.put(**{name: typed or None}, **put)

    said = {"shown": session.get(name) or shown, "empty": empty}
    field(label, take, key=key, longest=longest, height=height, **said)


def field(
    label: str,
    take: Callable[[str], None],
    *,
    key: str,
    longest: int,
    height: int | None = None,
    shown: str = "",
    empty: str | None = None,
    width: int | str = "stretch",
) -> None:
    """A box for a text: take(what was typed) is called before the next run, in which it shows
    `shown` again. The rest as in `box`; width: in pixels.
    """
    st.session_state[key] = shown
    options = {"key": key, "max_chars": longest, "placeholder": empty, "width": width}
    options |= {"on_change": lambda: take(st.session_state[key])}
    if height:
        st.text_area(label, height=height, **options)
    else:
        st.text_input(label, **options)


def switch(
    options,
    chosen,
    *,
    key: str,
    label: str,
    name: Callable[[object], str],
    pick: Callable[[object], None],
    named: bool = False,
) -> None:
    """A switch between a few. name(option) is what it is called; pick(option) is called before the
    next run when another is chosen. named: whether the label is shown, or only read aloud.
    """
    st.session_state[key] = chosen
    st.segmented_control(
        label,
        options,
        format_func=name,
        key=key,
        required=True,
        on_change=lambda: pick(st.session_state[key]),
        label_visibility="visible" if named else "collapsed",
    )


def choice(
    name: str, options: tuple[str, ...], *, key: str, of: str = "", label="", called=None, **put
) -> str:
    """A switch for one of the session's names (see `session.chosen`); what is chosen.

    of: whose texts say it: <of>.<name> is the label and <of>.<name>_<option> an option, where
    `label` and `called(option)` do not. put: other values of the session that are set along.
    """
    now = session.chosen(name, options)
    label = label or text(f"{of}.{name}")
    called = called or (lambda each: text(f"{of}.{name}_{each}"))

    def pick(each):
        session.put(**{name: None if each == options[0] else each}, **put)

    switch(options, now, key=key, label=label, name=called, pick=pick, named=True)
    return now
