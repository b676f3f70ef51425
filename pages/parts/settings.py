"""How the next token is chosen: temperature, filters, penalties, order, seed. The same for every
page that samples. Knows the session, widgets and core's RunSpec, which says what makes sense.
"""

from dataclasses import fields, replace

import streamlit as st

from core import RunSpec
from core.decode.sampling import ORDERS
from core.errors import SettingError
from pages.parts import inputs, session
from pages.parts.words import text

USUAL = {each.name: each.default for each in fields(RunSpec) if each.name in session.SETTINGS}
USUAL |= {"temperature": 1.0}  # the distribution as the model gives it
SLIDERS = {  # from, to, step; the end moves with a larger value that a link brings
    "temperature": (0.0, 2.0, 0.05),
    "top_p": (0.0, 1.0, 0.01),
    "min_p": (0.0, 1.0, 0.01),
    "typical_p": (0.01, 1.0, 0.01),
    "repetition_penalty": (0.5, 2.0, 0.05),
    "presence_penalty": (-2.0, 2.0, 0.1),
    "frequency_penalty": (-2.0, 2.0, 0.1),
}
WHOLE = {"top_k": 1_000_000, "seed": 2**31, "max_new_tokens": 400}  # the largest of each
ORDER = tuple(ORDERS)


def values() -> dict:
    """The fields of a RunSpec that decide how tokens are chosen. What a link asks for and core or
    WHOLE refuses leaves the link.
    """
    return {name: _value(name) for name in USUAL}


def spec(of: RunSpec) -> RunSpec:
    """The spec of a run with these settings."""
    return replace(of, **values())


def changed() -> list[str]:
    """The settings that are not the usual ones, by name."""
    return [name for name, value in values().items() if value != USUAL[name]]


def listed(names) -> str:
    """What some of them are called, beside each other."""
    return text("settings.between").join(text(f"settings.{name}") for name in names)


def put(**new) -> None:
    """Set some of them, because the reader did something."""
    session.put(**{name: None if value == USUAL[name] else value for name, value in new.items()})


def forget() -> None:
    """All of them as usual, but for the seed and the number of tokens."""
    kept = {"seed", "max_new_tokens"}
    put(**{name: value for name, value in USUAL.items() if name not in kept})


def control(name: str, box=st) -> None:
    """The widget of one setting."""
    if name == "order":
        return inputs.switch(
            ORDER,
            _value(name),
            key="set_order",
            label=text("settings.order"),
            name=lambda each: each,
            pick=lambda picked: put(order=picked),
            named=True,
        )
    key, now = f"set_{name}", _value(name)
    st.session_state[key] = now
    how = {"key": key, "help": text(f"settings.help.{name}")}
    how |= {"on_change": lambda: put(**{name: st.session_state[key]})}
    if name in WHOLE:
        low = int(name == "max_new_tokens")
        box.number_input(text(f"settings.{name}"), low, WHOLE[name], step=1, **how)
    else:
        low, high, step = SLIDERS[name]
        ends = min(low, now), max(high, now)
        box.slider(text(f"settings.{name}"), *ends, step=step, **how)


def _value(name):
    """What the session holds, as a number of the right kind; the usual value where it is none, or
    one that neither core nor the widget takes.
    """
    held = session.get(name)
    if held is None:
        return USUAL[name]
    try:
        value = held if name == "order" else type(USUAL[name])(held)
        RunSpec("model", ids=(0,), **{name: value})
        if value <= WHOLE.get(name, value):
            return value
    except (ValueError, OverflowError, SettingError):
        pass
    session.settle(**{name: None})
    return USUAL[name]
