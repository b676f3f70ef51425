"""The way through a block and how many positions its figures show: from the link and back into it.

On Nano; knows the switches and the link, no figure by its content.
"""

import pytest

from tests.pages import reader


def said(app, *names) -> list:
    """What the link says for these names; None where it leaves one out."""
    found = [app.query_params.get(name) for name in names]
    return [each[0] if isinstance(each, list) else each for each in found]


def n_rows(app, op) -> int:
    """How many rows the figure of the op's own value has."""
    return next(len(meta["rows"]) for meta in reader.canvases(app) if reader.shown(meta) == op)


def walked(app) -> list[str]:
    """The way that the switch shows, and what the link says of the walk."""
    [ways] = [group for group in app.button_group if group.key == "ways"]
    return [ways.value, *said(app, "walk", "op", "together")]


def test_a_link_opens_the_short_walk_with_all_positions_and_says_so_again():
    link = {"model": "nano", "prompt": "a b c d e f g", "layer": 1, "walk": "short"}
    app = reader.open_page("block", **link, op="attn.mix", together=1)
    assert walked(app) == ["short", "short", "attn.mix", "1"] and not app.exception
    [n_tokens] = [len(meta["tokens"]) for meta in reader.canvases(app) if "tokens" in meta]
    assert n_rows(app, "attn.mix") == n_tokens > 7
    app.button_group(key="together").set_value(False).run()
    assert walked(app) == ["short", "short", "attn.mix", None]
    assert n_rows(app, "attn.mix") == 1


@pytest.mark.parametrize(
    "walk, together", [("zzz", "0"), ("Short", "true"), ("", "11"), ("layers ", "")]
)
def test_a_way_that_there_is_not_is_the_full_one_and_leaves_the_link(walk, together):
    app = reader.open_page("block", model="nano", walk=walk, together=together, op="mlp.up")
    assert walked(app) == ["full", None, "mlp.up", None]
    assert app.button_group(key="together").value is False


@pytest.mark.parametrize("op, kept", [("attn.weights", "attn.weights"), ("mlp.up", None)])
def test_the_short_walk_keeps_the_step_that_it_has(op, kept):
    app = reader.open_page("block", model="nano", op=op, together=1)
    app.button_group(key="ways").set_value("short").run()
    assert walked(app) == ["short", "short", kept, "1"] and not app.exception
    assert (kept or "attn.scores") in reader.text(app)
    app.button_group(key="ways").set_value("full").run()
    assert walked(app) == ["full", None, kept, "1"]


def test_all_layers_and_back_to_the_same_step_and_other_pages_have_no_way():
    app = reader.open_page("block", model="nano", op="attn.mix", walk="layers", together=1)
    assert walked(app) == ["layers", "layers", "attn.mix", "1"] and not app.exception
    app.switch_page("output.py").run()
    assert said(app, "walk", "together") == [None, None]
    app.switch_page("block.py").run()
    assert walked(app) == ["layers", "layers", "attn.mix", "1"]
    app.button_group(key="ways").set_value("short").run()
    assert walked(app) == ["short", "short", "attn.mix", "1"]
