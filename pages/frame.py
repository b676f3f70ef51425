"""The frame around every page: page settings, navigation, style, sidebar, journey strip."""

import streamlit as st

st.set_page_config(page_title="Tokenwalk", page_icon="🧠", layout="wide", initial_sidebar_state=270)

from pages.parts import journey, models, run, session, sidebar, style, walk  # noqa: E402

session.begin(models.available())
stops = journey.pages()
page = st.navigation(list(stops.values()), position="hidden")
name = next(name for name, stop in stops.items() if stop == page)
session.follow(name, models.available(), journey.PLACES[name])
walk.leave()
style.inject()
sidebar.show(name, run.model_if_there())
journey.show(name, stops)
session.write_link(name, models.DEFAULT, journey.PLACES[name])
page.run()
session.write_link(name, models.DEFAULT, journey.PLACES[name])  # with what the page settled
