"""Models of other families on the pages: every op that they have, in its own words, explained.

Knows what the pages must show of any model; the models are tiny and random.
"""

import os
import re

import pytest

import lessons
from core import open_model
from core.record.catalogue import catalogue_of
from tests.families import build_gguf
from tests.lessons.models import VIEWS
from tests.pages import reader

FAMILIES = ("gpt2", "gemma2", "gemma3", "olmo2", "gpt_neox", "smollm3")
EACH = pytest.mark.parametrize("family", FAMILIES)
# caps, windows and norms on both sides; biases and learned positions; both halves at once
MOST_DIFFERENT = ("gemma2", "gpt2", "gpt_neox")
# every lesson of every family is rendered in both languages by tests/lessons
BOTH = list(zip(FAMILIES, ("zh", "en") * 3, strict=True))
EVERY_VIEW = [("tokens", "merges"), ("embedding", "row")]  # others have own tests
OWN_TESTS = ("positions", "block")
EVERY_VIEW += [tuple(view.split(".")) for view in VIEWS if not view.startswith(OWN_TESTS)]
EACH_IN_A_LANGUAGE = pytest.mark.parametrize("family, language", BOTH)
PROMPT = "the cat and the other cat"
DOUBLE_SIGN = re.compile(r"[−+] −\d")  # a negative number that is added stands in brackets


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """The files of the families, as a server is given them."""
    folder = tmp_path_factory.mktemp("families")
    return {family: build_gguf(folder / f"{family}.gguf", family) for family in FAMILIES}


@pytest.fixture
def opened(paths, monkeypatch):
    """Opens a page for a family's model."""
    monkeypatch.setenv("TOKENWALK_MODELS", os.pathsep.join(paths.values()))

    def page(name, family, **link):
        return reader.open_page(name, model=family, prompt=PROMPT, **link)

    return page


def template(language, key):
    """A text of the pages with its placeholders."""
    return lessons.loader._table(language, "ui")[key]


def assert_whole(app, language, title):
    """The page ran to its end, in this language, with nothing left to fill in."""
    assert not app.exception, app.exception[0].value
    assert not reader.notices(app, "error")
    assert not lessons.loader.PLACEHOLDER.search(reader.text(app) + str(reader.canvases(app)))
    heading = "".join(part for part in reader.html(app) if "<h1" in part)
    assert [p for p in reader.pieces(title) if p not in reader.plain(heading)] == []


def go(app, op):
    """To another step, as its box in the diagram does it."""
    app.session_state["op"], app.session_state["cell"] = op, None
    app.session_state["moved"] = True
    return app.run()


@EACH_IN_A_LANGUAGE
def test_every_op_of_a_block_is_taught_and_explained(family, language, opened, paths):
    catalogue = catalogue_of(open_model(paths[family]).config)
    kinds = {tuple(block.items()): layer for layer, block in enumerate(catalogue.blocks)}
    for layer in sorted({0, *kinds.values()}):  # the last of each kind of block
        block = catalogue.blocks[layer]
        app = opened("block", family, lang=language, layer=layer, head=3)
        title = lessons.page(language, "block", tags_of(block)).title
        alone = lessons.text(language, "block.alone", token="[[token]]")
        whole = layer in kinds.values()  # else the first op alone: it comes from the embedding
        for id, op in list(block.items())[: None if whole else 1]:
            go(app, id)
            mlp = id.startswith("mlp") or id == "resid_post"
            assert_whole(app, language, alone if mlp else title)
            assert app.session_state["op"] == id, (layer, id)
            assert reader.verdict(app) == "equal", (layer, id)
            assert not DOUBLE_SIGN.search(reader.text(app)), (layer, id)
            lesson = lessons.op(language, id, op.tags)
            for section in ("title", "idea", "maths", "look"):
                assert not reader.missing(app, getattr(lesson, section)), (id, section)
            assert op.source.strip() in [code.value for code in app.code]


def tags_of(ops):
    return frozenset().union(*(op.tags for op in ops.values()))


@EACH_IN_A_LANGUAGE
def test_every_step_of_the_output(family, language, opened, paths):
    after = catalogue_of(open_model(paths[family]).config).after
    app = opened("output", family, lang=language)
    for id, op in after.items():
        go(app, id)
        assert_whole(app, language, lessons.page(language, "output", tags_of(after)).title)
        assert app.session_state["op"] == id or id == "probs"
        assert reader.verdict(app) == "equal"
        lesson = lessons.op(language, id, op.tags)
        assert not reader.missing(app, lesson.idea)


@pytest.mark.parametrize("family", MOST_DIFFERENT)
@pytest.mark.parametrize("page, view", EVERY_VIEW)
def test_every_view_shows_any_model(page, view, family, opened):
    app = opened(page, family, op=view, layer=1, head=3)
    assert not app.exception, app.exception[0].value
    assert app.session_state["op"] == view
    app.session_state["reveal"] = True
    assert_whole(app.run(), "en", "")
    assert reader.verdict(app) in ("equal", None)


@EACH
@pytest.mark.parametrize("name", ["start", "tokens"])
def test_the_other_pages_show_any_model(name, family, opened):
    for language in lessons.LANGUAGES:
        app = opened(name, family, lang=language)
        assert_whole(app, language, lessons.page(language, name).title)


def test_a_layer_without_the_op_of_the_link_shows_its_first_step(opened):
    app = opened("block", "smollm3", layer=2, op="attn.q_rot")
    assert app.session_state["op"] == "attn.q_rot" and reader.verdict(app) == "equal"
    app.session_state["at_layer"], app.session_state["moved"] = 3, True
    app.run()  # this layer does not rotate
    assert_whole(app, "en", lessons.page("en", "block").title)
    assert app.session_state["op"] is None and "op" not in app.query_params
    assert "resid_pre" in reader.text(app)


@pytest.mark.parametrize("op", ["attn.softcap", "mlp.gate", "embed_scaled", "logits", "nothing"])
def test_an_op_that_the_model_lacks_falls_back(op, opened):
    app = opened("block", "gpt2", op=op)
    assert_whole(app, "en", lessons.page("en", "block").title)
    assert app.session_state["op"] is None and reader.verdict(app) == "equal"


def test_a_key_outside_the_window_is_explained(opened):
    app = opened("block", "gemma2", layer=0, op="attn.masked", pos=15, cell=2)
    said = lessons.text("en", "explain.outside", window=8)
    assert said in reader.text(app) and reader.verdict(app) == "equal"
    later = lessons.text("en", "explain.masked")
    assert later not in reader.text(app)
    assert later in reader.text(opened("block", "gemma2", layer=0, op="attn.masked", pos=5, cell=9))


def test_the_logits_of_a_capped_model_are_shown_before_and_after_the_cap(opened):
    def said(app):
        caption = [key for key in keys if not reader.missing(app, template("en", f"output.{key}"))]
        [line] = [part for part in reader.html(app) if "</bdi> is number" in part]
        return [*caption, "capped logit" in line]

    keys = ("uncapped_caption", "logits_capped_caption", "logits_caption")
    app = opened("output", "gemma2", op="logits")
    assert said(app) == ["uncapped_caption", False]
    for op in ("logits_capped", "probs"):
        assert said(go(app, op)) == ["logits_capped_caption", True]
    assert said(opened("output", "gpt2", op="logits")) == ["logits_caption", False]


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_where_no_head_parks_on_the_first_token_the_first_page_says_so(opened, language):
    app = opened("start", "gemma2", lang=language)  # random heads
    assert not reader.missing(app, template(language, "start.heads.no_sink"))
    assert reader.missing(app, template(language, "start.heads.sink"))
