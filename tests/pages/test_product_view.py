"""Matrix products, heads and rotations on the block page: what stands there is what the run has."""

import re

import numpy as np
import pytest

import lessons
from core import RunSpec, open_model, run
from tests import nano_shape
from tests.families import build_gguf
from tests.pages import reader

PROMPT = "the cat 🦙\nthe cat"
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A random model of the size of Nano: every matrix is shown whole."""
    return nano_shape.build(tmp_path_factory.mktemp("product") / "small")


@pytest.fixture
def opened(small, monkeypatch):
    """Opens the block page at an op of that model."""
    monkeypatch.setenv("TOKENWALK_MODELS", str(small))
    here = {"model": "small", "prompt": PROMPT, "layer": 1, "head": 3}
    return lambda op, **link: reader.open_page("block", op=op, **here | link)


@pytest.fixture(scope="module")
def trace(small):
    return run(RunSpec(str(small), prompt=PROMPT))


def whole(app):
    return (
        not app.exception
        and not reader.notices(app, "error")
        and not lessons.loader.PLACEHOLDER.search(reader.text(app) + str(reader.canvases(app)))
    )


def named(app, name):
    """The figures of this value."""
    return [meta for meta in reader.canvases(app) if reader.shown(meta) == name]


def shown(value):
    return f"{value:.4f}".replace("-", "−")


@EACH_LANGUAGE
def test_the_products_of_one_number_and_their_sums(opened, trace, language):
    app = opened("attn.k", lang=language, pos=2, cell=5)
    assert whole(app)
    head = trace.config.n_kv_heads - 1  # which query head 3 reads
    number = head * trace.config.head_dim + 5
    row = trace.model.weights.get("attn_k", 1)[number].astype(np.float64)
    terms = row * trace.read("attn_norm", 1)[2]
    (products,) = named(app, "attn.k.products")
    assert products["selected"] == [0, int(np.abs(terms).argmax())]
    said = "".join(reader.html(app))
    for total in (terms[terms > 0].sum(), terms[terms < 0].sum(), terms.sum()):
        assert f"<b>{shown(total)}</b>" in said
    name = lessons.text(language, "block.product.positive", n=int((terms > 0).sum()))
    assert name in reader.text(app)
    assert [meta["selected"][0] for meta in named(app, "attn_k") if meta["marks"]] == [number]


def test_the_heads_are_lines_with_their_readers(opened, trace):
    group = trace.config.group
    keys = [meta for meta in named(opened("attn.v"), "attn.v") if len(meta["rows"]) > 1]
    assert keys[0]["rows"] == [
        f"KV {n} ← {n * group}–{n * group + group - 1}" for n in range(trace.config.n_kv_heads)
    ]
    app = opened("attn.q")
    (queries,) = [meta for meta in named(app, "attn.q") if len(meta["rows"]) > 1]
    assert queries["rows"][3] == f"3 → KV {3 // group}" and queries["selected"][0] == 3
    boxes = re.findall(
        r'<span class="(here)?" title="[^"]*"><b>(\d+)</b>', "".join(reader.html(app))
    )
    assert boxes == [("here" * (n == 3), str(n)) for n in range(trace.config.n_heads)]


@pytest.mark.parametrize("op", ["attn.q", "mlp.gate"])
def test_all_positions_meet_the_same_matrix(opened, trace, op):
    app = opened(op, together=1)
    assert whole(app)
    source = trace.catalogue.op(op, 1).inputs[0]
    (rows,) = named(app, source)
    assert rows["rows"] == list(trace.tokens) and not named(app, f"{op}.products")


def test_a_matrix_too_large_to_be_shown_whole_has_a_part_at_full_size(opened, trace, monkeypatch):
    monkeypatch.setattr("core.analyse.panel.LARGEST_WHOLE", (20, 20))
    monkeypatch.setattr("core.analyse.panel.LARGEST_PICTURE", (10, 10))
    monkeypatch.setattr("core.analyse.products.ZOOM", (8, 12))
    app = opened("mlp.up", pos=1, cell=40)
    assert len(named(app, "mlp_up")) == 1  # the row alone, until the box is opened
    app.session_state["unfolded"] = True
    app.run()
    part, blocks = named(app, "mlp_up")[1:]
    assert part["exact"] and not blocks["exact"] and len(part["rows"]) == 8
    top, left = part["first_row"], part["first_column"]
    row, column = (top + part["selected"][0], left + part["selected"][1])
    assert row == 40 and str(40) == part["rows"][part["selected"][0]]
    assert len(blocks["marks"]) == 1
    first = app.session_state["zoom"]
    assert first == ("mlp.up", (top, left))
    app.session_state["cell"], app.session_state["moved"] = 41, True
    app.session_state["term"] = ("mlp.up", column)
    assert app.run().session_state["zoom"] == first  # the part stays in sight
    app.session_state["op"], app.session_state["moved"] = "mlp.gate", True
    assert len(named(app.run(), "mlp_gate")) == 3  # open at the next product too


def test_files_say_where_their_numbers_were(opened):
    here = {"pos": 2, "cell": 5, "lang": "en"}
    names = {meta["name"] for meta in reader.canvases(opened("attn.k", **here)) if "rows" in meta}
    assert names == {
        "attn.k_layer1_kv_head1_pos2",
        "attn.k_layer1_pos2",  # all heads
        "attn_norm_layer1_pos2",
        "attn_k_layer1_row17",
        "attn.k.products_layer1_kv_head1_pos2_cell5",
        "attn_k_layer1",
    }
    together = reader.canvases(opened("attn.weights", together=1))
    assert "attn.weights_layer1_head3" in {meta.get("name") for meta in together}
    first = reader.canvases(opened("resid_pre", layer=0, pos=2))
    assert {"resid_pre_layer0_pos2", "embed_pos2"} <= {meta.get("name") for meta in first}


@EACH_LANGUAGE
def test_a_turned_row_before_and_after_with_the_partner_outlined(opened, trace, language):
    app = opened("attn.q_rot", lang=language, pos=3, cell=2)
    assert whole(app)
    half = trace.config.head_dim // 2
    (before,), (turns,), (after,) = (named(app, n) for n in ("attn.q", "turns", "attn.q_rot"))
    assert before["marks"] == after["marks"] == [[0, 2 + half, 1, 3 + half]]
    assert before["selected"] == turns["selected"] == after["selected"] == [0, 2]
    row = trace.read("attn.q", 1)[3, 3].astype(np.float64)
    assert "✓ " in reader.text(app) and shown(np.linalg.norm(row)) in reader.text(app)
    said = "".join(reader.html(app))
    for dim in (2, 2 + half):
        assert f"<b>{shown(trace.read('attn.q_rot', 1)[3, 3, dim])}</b> ✓" in said


def test_at_position_0_it_says_that_nothing_turns(opened):
    said = lessons.text("en", "block.rotation.nothing_turns", position=0)
    assert said in reader.text(opened("attn.k_rot", pos=0))
    assert said not in reader.text(opened("attn.k_rot", pos=1))


def test_the_door_leads_to_the_same_pair(opened):
    app = opened("attn.k_rot", pos=3, cell=1)
    app.button(key="rotation_door").click().run()
    assert not app.exception and app.query_params["cell"] == "1"
    assert (app.query_params["layer"], app.query_params["pos"]) == ("1", "3")


def test_numbers_that_do_not_turn_and_a_bias(tmp_path, monkeypatch):
    path = build_gguf(tmp_path / "neox.gguf", "gpt_neox")
    monkeypatch.setenv("TOKENWALK_MODELS", str(path))
    here = {"model": "neox", "prompt": "the cat and the other cat", "layer": 1, "head": 3}
    app = reader.open_page("block", op="attn.q_rot", cell=6, **here)
    assert whole(app) and lessons.text("en", "block.rotation.passes", dim=6) in reader.text(app)
    assert named(app, "turns")[0]["labels"]["masked"] == lessons.text("en", "block.rotation.still")
    app = reader.open_page("block", op="mlp.up", pos=2, cell=6, **here)
    bias = open_model(str(path)).weights.get("mlp_up_bias", 1)[6]
    assert whole(app) and f"<b>{shown(bias)}</b>" in "".join(reader.html(app))
