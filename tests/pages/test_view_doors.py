"""Doors between views: each page leads on to views that say more about what it shows."""

import pytest

from tests.pages import reader


def through(app, key):
    """The session behind a door."""
    label = app.button(key=key).label
    assert label.endswith(" ▸") and "[[" not in label
    app.button(key=key).click().run()
    assert not app.exception and not reader.notices(app, "error")
    return app.session_state


@pytest.mark.parametrize("op", ["mlp.hidden", "mlp.act", "mlp.out"])
def test_steps_about_neurons_lead_to_the_neurons_of_their_layer(op):
    app = reader.open_page("block", model="nano", op=op, layer=1)
    there = through(app, "to_lens_neurons")
    assert (there["page"], there["op"], there["at"]) == ("lens", "neurons", 1)


def test_other_steps_have_no_such_door():
    app = reader.open_page("block", model="nano", op="attn.q", layer=1)
    assert "to_lens_neurons" not in [each.key for each in app.button]


def test_the_output_leads_to_where_its_token_came_from():
    app = reader.open_page("output", model="nano", cell=7)
    there = through(app, "to_lens_parts")
    assert (there["page"], there["op"], there["target"]) == ("lens", "parts", 7)
    app = reader.open_page("output", model="nano")
    there = through(app, "to_lens_layers")
    assert (there["page"], there["op"], there["target"]) == ("lens", "layers", None)


@pytest.mark.parametrize(
    "view, door",
    [("roles", "head"), ("roles", "effect"), ("rollout", "roles"), ("compare", "effect")],
)
def test_a_view_of_heads_leads_to_another_with_the_same_head(view, door):
    app = reader.open_page("atlas", model="nano", op=view, layer=1, head=2)
    there = through(app, f"to_atlas_{door}")
    assert (there["op"], there["at_layer"], there["at_head"]) == (door, 1, 2)


def test_the_growing_cache_leads_to_the_loop_that_writes_the_text():
    app = reader.open_page("cache", model="nano", max_new_tokens=3)
    there = through(app, "to_loop_text")
    assert (there["page"], there["op"], there["max_new_tokens"]) == ("loop", "text", "3")
