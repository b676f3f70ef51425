"""All layers at once, and the work of a step: the numbers on the page are those of the run."""

import re

import numpy as np
import pytest

import lessons
from core import Edit, RunSpec, run
from pages.parts import work
from tests.conftest import SMOLLM
from tests.families import build_gguf
from tests.pages import reader

HERO = "The capital of France is"
FAMILIES = ("gpt2", "gemma2", "olmo2", "gpt_neox", "smollm3")


def texts(key, language="en", **values):
    return lessons.text(language, f"block.layers.{key}", **values)


def lines(app, classes):
    """The rows of a table, as texts."""
    (table,) = [part for part in reader.html(app) if f"tw-table {classes}" in part]
    return [
        [reader.plain(cell) for cell in re.findall(r"<td>(.*?)</td>", row)]
        for row in re.findall(r"<tr[^>]*>(.*?)</tr>", table)[1:]
    ]


def open_layers(**link):
    app = reader.open_page("block", walk="layers", **link)
    assert not app.exception, app.exception[0].value
    return app


@pytest.fixture(scope="module")
def hero(smollm):
    return run(RunSpec(SMOLLM, prompt=HERO))


def test_the_table_says_what_each_layer_adds(hero):
    table = lines(open_layers(pos=4, layer=11), "tw-layers")
    assert [row[0] for row in table] == [str(layer) for layer in range(30)]
    for layer in (0, 11, 23):
        attention, mlp = (hero.read(op, layer)[4].astype(float) for op in ("attn.out", "mlp.out"))
        x, y = hero.stream[layer, 4].astype(float), hero.stream[layer + 1, 4].astype(float)
        cosine = x @ y / np.linalg.norm(x) / np.linalg.norm(y)
        norms = [float(np.linalg.norm(part)) for part in (attention, mlp, attention + mlp)]
        shown = [float(cell.replace(",", "")) for cell in table[layer][2:5]]
        assert shown == pytest.approx(norms, abs=0.06)
        assert float(table[layer][5].replace("−", "-")) == pytest.approx(cosine, abs=0.006)


def test_the_jump_is_named_with_a_door_to_its_neuron(hero):
    app = open_layers()
    assert "22,712.3" in reader.text(app) and "1,229" in reader.text(app)
    app.button(key="open_jump").click().run()
    link = {name: app.query_params[name] for name in ("op", "layer", "pos", "cell")}
    assert link == {"op": "mlp.hidden", "layer": "11", "pos": "0", "cell": "1229"}
    assert reader.verdict(app) == "equal" and "2823.5967" in reader.text(app).replace(",", "")


def test_the_experiment_runs_when_it_is_asked_for(hero):
    app = open_layers()
    assert texts("sinks_stay") not in reader.text(app)
    app.session_state["off"] = True
    app.run()
    off = run(RunSpec(SMOLLM, prompt=HERO, edits=(Edit("mlp.hidden", 11, index=1229),)))
    best = int(np.argmax(hero.probs()))
    assert texts("sinks_stay") in reader.text(app)
    for number in ("126", "118", f"{off.probs()[best]:.1%}", f"{hero.probs()[best]:.1%}"):
        assert f"<td>{number}</td>" in "".join(reader.html(app))


def test_the_matrix_is_on_a_logarithmic_scale_with_plain_numbers(hero):
    shown = _matrix(open_layers(layer=3))
    assert shown["selected"] == [4, 4] and len(shown["rows"]) == 31
    lengths = np.linalg.norm(hero.stream.astype(float), axis=-1)
    assert shown["low"] == pytest.approx(lengths.min())
    assert shown["limit"] == pytest.approx(lengths.max())


def _matrix(app):
    (found,) = [each for each in reader.canvases(app) if each.get("name") == "stream_norms"]
    return found


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_and_its_answer(family, language, tmp_path, monkeypatch):
    monkeypatch.setenv("TOKENWALK_MODELS", build_gguf(tmp_path / f"{family}.gguf", family))
    app = open_layers(model=family, prompt="the cat and the cat", lang=language)
    app.session_state["off"] = app.session_state["reveal"] = True
    app.run()
    assert not app.exception and not reader.notices(app, "error")
    said = reader.text(app)
    assert not lessons.loader.PLACEHOLDER.search(said)
    assert f'aria-label="{texts("off_aria", language)}"' in "".join(reader.html(app))
    one_of = ("sinks_stay", "sinks_go", "no_sinks", "nobody")
    assert sum(texts(key, language) in said for key in one_of) == 1
    parallel = {"en": "both read the same row", "zh": "两者读的是同一行"}[language]
    assert (parallel in said) == (family == "gpt_neox")
    assert (texts("rescaled", language) in said) == (family in ("gemma2", "olmo2"))


def test_one_token_has_no_sink_to_speak_of():
    app = open_layers(prompt="Hi")
    app.session_state["off"] = True
    assert texts("alone") in reader.text(app.run())


# ---- the work of a step --------------------------------------------------------------------------


def test_all_positions_come_with_count_and_time(hero):
    app = reader.open_page("block", op="attn.scores", layer=23, head=4, together=1)
    said = reader.text(app)
    counted, measured, rate = lines_of_work(app)
    assert counted[1].endswith("= 29,025 FLOP") and "9 heads × 5 queries × 5 keys" in counted[1]
    took = hero.timings["attn.scores", 23]
    assert work.seconds(took) in measured[1] and work.seconds(hero.seconds) in measured[1]
    assert rate[1] == f"{work.short(29_025 / took)}FLOP per second"
    assert lessons.text("en", "block.work.masked", cells=25, seen=15) in said


def lines_of_work(app):
    (table,) = [part for part in reader.html(app) if "tw-work-table" in part]
    cells = r"<td>(.*?)</td><td>(.*?)</td></tr>"
    return [tuple(map(reader.plain, row)) for row in re.findall(cells, table)]


def test_one_position_says_that_there_are_more_unless_it_is_alone():
    one = {n: lessons.text("en", "block.work.one", n=n) for n in (1, 5)}
    assert one[5] in reader.text(reader.open_page("block", op="attn.q"))
    assert one[1] not in reader.text(reader.open_page("block", op="attn.q", prompt="Hi"))


def test_notes_stand_only_where_they_are_true():
    """One token hides no pair of positions; the tables of the rotation count to the first layer."""
    masked = lessons.text("en", "block.work.masked", cells=1, seen=1)
    alone = reader.open_page("block", op="attn.weights", prompt="Hi", together=1)
    assert masked not in reader.text(alone)
    tables = lessons.text("en", "block.work.tables")
    for layer in (0, 1):
        app = reader.open_page("block", model="nano", op="resid_pre", layer=layer, together=1)
        assert (tables in reader.text(app)) == (layer == 0)


@pytest.mark.parametrize(
    "seconds, shown",
    [
        (1.234, "1.23 s"),
        (0.0345, "34.5 ms"),
        (1e-3, "1.00 ms"),
        (229.6e-6, "230 µs"),
        (0, "0.00 µs"),
    ],
)
def test_a_time_is_short(seconds, shown):
    assert work.seconds(seconds) == shown


@pytest.mark.parametrize(
    "value, shown", [(26.31e9, "26.3 G"), (2_211_840, "2.21 M"), (640, "640 "), (0, "0 ")]
)
def test_a_large_number_is_short(value, shown):
    assert work.short(value) == shown
