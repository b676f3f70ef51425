"""The style sheets of the pages and of their views. Knows CSS and the colours of viz.theme only."""

from functools import cache
from pathlib import Path

import streamlit as st

from viz.theme import BACKGROUND, ROLES, RUST, TEAL


@cache
def _sheet(mode: str) -> str:
    colours = {name: shades[mode] for name, shades in ROLES.items()}
    colours |= {"positive": TEAL[mode][-1], "negative": RUST[mode][-1]}
    variables = "".join(f"--tw-{name}:{colour};" for name, colour in colours.items())
    variables += f"--st-background-color:{BACKGROUND[mode]};"  # only components have it
    here = Path(__file__).parent
    parts = here / "style.css", here / "listing.css"
    files = [*parts, *sorted(here.parent.glob("views/*/*.css"))]
    rules = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return f"<style>:root{{{variables}}}\n{rules}</style>"


def dark() -> bool:
    """Whether the reader's theme is dark."""
    return st.context.theme.type == "dark"


def inject() -> None:
    """Put the style sheet on the page, with the colours of the theme."""
    st.html(_sheet("dark" if dark() else "light"))
