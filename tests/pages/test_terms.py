"""The list of terms and the whole matrices on the pages: all of a small model, the first terms of a
large one.
"""

import json
import re

import pytest

from core import open_model
from core.record.catalogue import catalogue_of
from tests import nano_shape
from tests.pages import reader

ROW = re.compile(r'<tr data-row="(\d+)"( class="tw-here")?>')
TERMS = '<table class="tw-table mono tw-terms'
MATRICES = "attn.q attn.k attn.v attn.out mlp.gate mlp.up mlp.out".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of Nano's shape, with 200 words."""
    return nano_shape.build(tmp_path_factory.mktemp("small") / "small")


@pytest.fixture
def small(folder, monkeypatch):
    """Opens a page on it."""
    monkeypatch.setenv("TOKENWALK_MODELS", str(folder))
    return lambda page, **link: reader.open_page(
        page, model="small", prompt=nano_shape.PROMPT, **link
    )


def listed(app):
    """The rows of the list of terms: what its first cells say."""
    (table,) = (part for part in reader.html(app) if part.startswith(TERMS))
    return [reader.plain(row) for row in re.findall(r"<tr[^>]*><td>(.*?)</td>", table)]


def rows(app):
    """(numbers of the rows that can be clicked, the one that is pointed at)."""
    found = ROW.findall("".join(reader.html(app)))
    return [int(number) for number, _ in found], [int(n) for n, here in found if here]


def pictures(app):
    """The matrices that are shown whole."""
    shown = reader.canvases(app)
    return [m for m in shown if m.get("marks") and m["exact"] and len(m["rows"]) > 1]


@pytest.mark.parametrize("op, n", [("attn.q", 48), ("attn.out", 48), ("mlp.out", 128)])
def test_all_terms_are_listed_the_largest_first_or_in_order(small, op, n):
    app = small("block", op=op, layer=1)
    numbers, (here,) = rows(app)
    assert len(listed(app)) == n and sorted(numbers) == list(range(n)) != numbers
    assert here == numbers[0]
    app.button_group(key="terms_order").set_value("index").run()
    assert rows(app) == (list(range(n)), [here]) and reader.verdict(app) == "equal"


def test_every_op_lists_every_term(small, folder):
    config = open_model(str(folder)).config
    app = small("block", layer=2, head=1, pos=4)
    for op, n in zip(catalogue_of(config).blocks[2], COUNTS, strict=True):
        app.session_state["op"], app.session_state["moved"] = op, True
        app.run()
        assert not app.exception and reader.verdict(app) == "equal", op
        assert len(listed(app)) == n, op
        assert len(pictures(app)) == (op in MATRICES), op


COUNTS = (1, 48, 48, 48, 48, 2, 2, 12, 1, 5, 5, 48, 2, 48, 48, 48, 1, 1, 128, 2)  # block by block


def test_the_list_and_the_pictures_point_at_the_chosen_term(small):
    app = small("block", op="attn.v", layer=1, head=0, pos=4)
    app.session_state["term"], app.session_state["moved"] = ("attn.v", 30), True
    app.run()
    assert rows(app)[1] == [30]
    (picture,) = pictures(app)
    assert picture["selected"][1] == 30
    strips = [m for m in reader.canvases(app) if reader.shown(m) in ("attn_norm", "attn_v")]
    assert [strip["selected"][1] for strip in strips] == [30, 30, 30]


def test_a_term_of_another_op_is_forgotten(small):
    app = small("block", op="attn.q", layer=1)
    app.session_state["term"], app.session_state["moved"] = ("attn.k", 3), True
    app.run()
    numbers, here = rows(app)
    assert here == numbers[:1]


@pytest.mark.parametrize("op, n", [("logits", 48), ("probs", 200)])
def test_the_output_shows_every_token(small, op, n):
    app = small("output", op=op)
    app.toggle(key="all_bars").set_value(True).run()
    assert len(listed(app)) == n and len(pictures(app)) == (op == "logits")
    (chart,) = (c for c in app.get("plotly_chart") if "bars" in c.proto.id)
    assert len(json.loads(chart.proto.spec)["data"][0]["customdata"]) == 200


def test_the_embedding_page_shows_the_table_with_its_words(small):
    assert not pictures(small("tokens", pos=1))
    (table,) = (meta for meta in pictures(small("embedding", pos=1)) if len(meta["rows"]) == 200)
    assert table["rows"][17] == "17 w17" and len(table["rows"]) == 200
    assert table["marks"] == [[17, 0, 18, 48]] and table["selected"][0] == 17


def test_of_a_large_model_the_largest_terms_are_listed_and_all_on_request(smollm):
    app = reader.open_page("block", op="mlp.out", layer=7)
    assert len(listed(app)) == 9 and len(rows(app)[0]) == 8 and not pictures(app)
    app.button_group(key="terms_order").set_value("size").run()
    assert len(listed(app)) == 1536 and reader.verdict(app) == "equal"
    assert not pictures(reader.open_page("tokens"))
    app = reader.open_page("output", op="probs")
    assert len(listed(app)) == 9 and not pictures(app)
