"""The walk through a block: what the bar counts, and what the diagram shows of each step.

Nano has two layers: the first begins with the ops before the blocks, the second is the last one.
"""

import pytest

from core import open_model
from core.record.catalogue import catalogue_of
from pages.parts import walk
from tests.pages import reader

CATALOGUE = catalogue_of(open_model("nano").config)
FIRST, LAST = (list(block) for block in CATALOGUE.blocks)
BEFORE, AFTER = list(CATALOGUE.before), list(CATALOGUE.after)
PROMPT = "the cat"


def opened(**link):
    app = reader.open_page("block", model="nano", prompt=PROMPT, **link)
    assert not app.exception
    return app


def bar(app):
    (found,) = [meta for meta in reader.canvases(app) if "steps" in meta]
    return found


def nodes(app):
    (found,) = [meta["nodes"] for meta in reader.canvases(app) if "nodes" in meta]
    return {node["id"]: node for node in found}


def test_the_bar_knows_the_steps_of_every_layer_and_both_ends():
    found = bar(opened(op="attn.q", layer=1))
    assert [found["steps"][n] for n in found["of"]] == [BEFORE + FIRST, LAST]
    assert (found["layer"], found["step"]) == (1, LAST.index("attn.q"))
    assert set(BEFORE + FIRST + LAST) <= found["names"].keys()
    assert found["before"] and found["beyond"] and found["play"]


@pytest.mark.parametrize("layer", [0, 1])
def test_the_short_walk_has_five_steps_and_no_way_on(layer):
    app = opened(walk="short", layer=layer)
    found = bar(app)
    assert found["steps"] == list(walk.SHORT) and "of" not in found
    assert "before" not in found and "beyond" not in found
    numbers = {id: node["number"] for id, node in nodes(app).items() if node["number"]}
    assert list(numbers) == list(walk.SHORT) and list(numbers.values()) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("together", [0, 1])
def test_what_is_done_shows_its_data_and_what_is_to_come_does_not(together):
    shown = nodes(opened(op="attn.scores", layer=0, together=together))
    done = (BEFORE + FIRST)[: (BEFORE + FIRST).index("attn.scores") + 1]
    assert [id for id, node in shown.items() if node["picture"]] == done
    rows = 3 if together else 1  # <s> and two words
    assert shown["attn.scores"]["picture"]["shape"] == [rows, 3]
    assert shown["attn.q"]["picture"]["shape"] == [rows, 16]
    assert shown["attn.masked"]["state"] == "later" and shown["attn.q_rot"]["state"] == "input"


def test_the_first_layer_begins_with_the_embedding_and_the_last_one_ends_in_the_output():
    first, last = nodes(opened(layer=0)), nodes(opened(layer=1))
    assert list(first) == BEFORE + FIRST + ["to"]
    assert list(last) == ["from", *LAST, *AFTER]
    assert first["to"]["door"] and last["from"]["state"] == "input"


def test_a_box_names_its_weights_and_its_numbers():
    q = nodes(opened(op="attn.q", layer=1, lang="en"))["attn.q"]
    assert q["weight"] and q["title"][1] == "weight: query matrix"
    assert q["title"][2].startswith("16 numbers, from ")
    assert not nodes(opened(op="attn.q", layer=1))["attn.scores"]["weight"]


@pytest.mark.parametrize(
    "op, way, then",
    [("attn.mix", "short", "short"), ("mlp.up", "short", "full"), ("mlp.up", "full", "full")],
)
def test_a_box_outside_the_short_walk_leads_to_the_whole_one(op, way, then, monkeypatch):
    put = {}
    monkeypatch.setattr(walk.session, "put", put.update)
    walk.to_op(op, way)
    assert put == {"op": op, "walk": then}


@pytest.mark.parametrize("layer", [0, 1])
def test_the_short_walk_is_drawn_up_to_the_sum_behind_attention(layer):
    app = opened(op="attn.scores", layer=layer, walk="short")
    shown = nodes(app)
    assert "resid_mid" in shown and "to" in shown
    assert not {"mlp_norm", "mlp.out", "resid_post", "layer", *AFTER} & shown.keys()


@pytest.mark.parametrize(
    "page, link",
    [
        ("block", {"op": "mlp.up", "layer": 1}),
        ("block", {"op": "attn.weights", "layer": 1, "pos": 1}),
        ("output", {"op": "logits"}),
    ],
)
def test_the_number_of_a_cell_can_be_typed(page, link):
    app = reader.open_page(page, model="nano", prompt=PROMPT, **link)
    box = app.number_input(key="cell_box")
    assert box.min == 0
    assert box.max + 1 == {"mlp.up": 72, "attn.weights": 3, "logits": 207}[link["op"]]
    wanted = 0 if box.value else 1
    box.set_value(wanted).run()
    assert not app.exception and app.query_params["cell"] in (str(wanted), [str(wanted)])
    assert app.number_input(key="cell_box").value == wanted
    assert reader.verdict(app) == "equal"
