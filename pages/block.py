"""Block: every op of one layer in order, around one token and one cell; then all layers at once."""

import streamlit as st

from pages.parts import html, lesson, run, session, walk, words
from pages.parts.words import text
from pages.views.block import layers, steps

trace = run.trace(lambda: html.show(f'<h1 class="tw-title">{words.html("pages.block")}</h1>'))
layer, head = session.layer_and_head(trace.config)
position = session.position(len(trace.ids))
block = trace.catalogue.blocks[layer]
title = words.page("block", block.values()).title
if walk.alone(block):
    title = text("block.alone", token="[[token]]")
values = lesson.of_model(trace.model) | lesson.token_values(trace, position)
with walk.beside("block_top"):
    st.html(f'<h1 class="tw-title">{html.rich(title, **values)}</h1>', width="content")
    way = walk.pick()
if way == "layers":
    layers.show(trace, layer, position)
else:
    steps.show(trace, layer, head, position, way)
