"""On Nano: what it has in common with SmolLM2, and what is only small. Knows lessons and sizes; of
any other model it says nothing.
"""

import streamlit as st

from core.analyse.sizes import is_nano, side_by_side
from pages.parts import html, lesson, models, run, words
from pages.parts.words import text


def note(page, model) -> None:
    """What a page's lesson says of it, where the opened model is Nano or a checkpoint of it."""
    if is_nano(model):
        html.show(f'<p class="tw-caption">{html.rich(page.small, **lesson.of_model(model))}</p>')


def table(model) -> None:
    """Behind a click, the sizes of both side by side."""
    if is_nano(model):
        with st.expander(text("nano.table")):
            titles = (models.title(models.DEFAULT), run.title())
            head = [words.html("nano.size"), *map(html.escape, titles)]
            rows = [
                [words.html(f"nano.{name}"), f"{large:,}", f"{own:,}"]
                for name, large, own in side_by_side(model)
            ]
            html.show(html.table(head, rows))
            html.show(f'<p class="tw-caption">{words.html("nano.same")}</p>')
