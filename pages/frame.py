"""The frame around every page: page settings, navigation, style, sidebar, journey strip."""

import streamlit as st

st.set_page_config(page_title="Tokenwalk", page_icon="🧠", layout="wide", initial_sidebar_state=270)

from core import ModelFileError, open_model  # noqa: E402
from core.files import registry  # noqa: E402
from pages.parts import journey, models, run, session, sidebar, style  # noqa: E402


def config():
    """Sizes of the chosen model where it is on disk: the sidebar needs their limits."""
    name = run.model_name()
    if name in registry.MODELS and not registry.on_disk(name):
        return None
    try:
        return open_model(name).config
    except ModelFileError:
        return None


session.begin(models.available())
stops = journey.pages()
page = st.navigation(list(stops.values()), position="hidden")
name = next(name for name, stop in stops.items() if stop == page)
session.follow(name, models.available())
style.inject()
sidebar.show(name, config())
journey.show(name, stops)
session.write_link(name, models.DEFAULT, journey.PLACES[name])
page.run()
session.write_link(name, models.DEFAULT, journey.PLACES[name])  # with what the page settled
