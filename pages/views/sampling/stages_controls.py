"""The settings of sampling: three at first, the others on demand. Knows widgets; no model."""

import streamlit as st

from pages.parts import settings
from pages.parts.words import text

HERE = "sampling.stages"
FIRST = ("temperature", "top_k", "top_p")
MORE = (
    ("min_p", "typical_p", "seed"),
    ("repetition_penalty", "presence_penalty", "frequency_penalty"),
)
KEPT = {"seed", "max_new_tokens"}  # change neither scores nor who is kept


def show(order: bool = True) -> None:
    """The controls. order: whether the order of the stages is one of them."""
    with st.container(key="sampling_first"):
        _row(FIRST)
    more = {name for row in MORE for name in row} | ({"order"} if order else set())
    changed = {*settings.changed()}
    with st.expander(text(f"{HERE}.more{'_order' * order}"), expanded=bool(changed & more)):
        for row in MORE:
            _row(row)
        if order:
            settings.control("order")
    if changed - KEPT:
        off = text(f"{HERE}.all_off")
        st.button(off, key="sampling_off", on_click=settings.forget, type="tertiary")


def _row(names):
    for name, box in zip(names, st.columns(len(names), gap="medium"), strict=True):
        settings.control(name, box)
