"""Who wrote it, and the neurons: what the pages list equals what NumPy finds alone; clicks and
doors lead to the parts they name.
"""

import os
import re

import numpy as np
import pytest

import lessons
from core import RunSpec, run
from core.analyse.attribution import AVERAGE, attribution
from core.analyse.promoted import neurons
from tests.conftest import SMOLLM
from tests.families import build_gguf
from tests.pages import reader

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
FACT = "The capital of France is"
LINE = re.compile(r'<tr data-(part|unit)="(\d+)"([^>]*)>(.*?)</tr>')


def open_view(view="parts", /, **link):
    app = reader.open_page("lens", op=view, **link)
    assert not app.exception and not reader.notices(app, "error")
    return app


def listed(app):
    """The lines of the list: number, whether it is chosen, cells."""
    found = LINE.findall("".join(reader.html(app)))
    return [(int(n), "tw-here" in mark, cells(row)) for _, n, mark, row in found]


def cells(row):
    return [reader.plain(cell) for cell in re.findall("<td>(.*?)</td>", row)]


def number(text):
    return float(text.replace("−", "-").replace(",", ""))


def put(app, **values):
    for name, value in (values | {"moved": True}).items():
        app.session_state[name] = value
    return app.run()


def id_of(model, text):
    return model.tokenizer.encode(text)[0]


@pytest.fixture(scope="module")
def fact(smollm):
    return run(RunSpec(SMOLLM, prompt=FACT))


@EACH_LANGUAGE
def test_the_parts_of_the_answer(lang, smollm, fact):
    app, found = open_view(lang=lang), attribution(fact, id_of(smollm, " Paris"))
    every = sorted([*found.heads.reshape(-1), *found.mlps, found.embedding], key=abs, reverse=True)
    lines = listed(app)
    values = [number(line[1]) for _, _, line in lines]
    assert values == pytest.approx([round(float(v), 3) for v in every[:10]], abs=1e-9)
    assert [line[0] for _, here, line in lines if here] == [
        lessons.text(lang, "lens.parts.label_head", layer=23, head=4)
    ]
    shown = reader.text(app)
    for name in ("looks", "raises", "about_head"):
        assert not reader.missing(app, lessons.loader._table(lang, "ui")[f"lens.parts.{name}"])
    assert "0.903" in shown and "2.824" in shown and f"{found.recorded:.4f}" in shown
    assert reader.verdict(app) == "equal"
    (picture,) = [meta for meta in reader.canvases(app) if meta.get("name") == "parts"]
    assert picture["selected"] == [4, 23] and len(picture["rows"]) == 10
    assert picture["limit"] == pytest.approx(np.abs(found.picture).max())
    app.session_state["reveal"] = True
    above = attribution(fact, id_of(smollm, " Paris"), AVERAGE)
    common = found.mlps[29] - above.mlps[29]  # the largest part of the logit
    shown = reader.text(app.run())
    for value in (found.mlps[29], common, above.mlps[29], above.heads[23, 4]):
        assert f"{value:.2f}" in shown
    assert above.heads[23, 4] == max(above.heads.max(), above.mlps.max())


def test_another_part_another_score_and_the_doors(smollm, fact):
    app = open_view()
    paris, the = (id_of(smollm, word) for word in (" Paris", " the"))
    found = attribution(fact, paris)
    lowering = found.parts.index(found.part("head", 29, 0))
    app = put(app, cell=lowering)
    assert "1.606" in reader.text(app)
    assert not reader.missing(app, lessons.loader._table("en", "ui")["lens.parts.lowers"])
    app = put(app, kind="other")
    assert f"{attribution(fact, paris, the).recorded:.4f}" in reader.text(app)  # the runner-up
    london = id_of(smollm, " London")
    app = put(app, against=london)
    found = attribution(fact, paris, london)
    assert f"{found.recorded:.4f}" in reader.text(app) and reader.verdict(app) == "equal"
    assert app.query_params["against"] in (str(london), [str(london)])
    app = put(app, cell=found.parts.index(found.part("mlp", 28)))
    assert app.button(key="to_atlas_effect") and app.button(key="to_lens_layers")
    app.button(key="open_part").click().run()
    assert app.session_state["op"] == "neurons" and app.session_state["at"] == 28
    assert app.session_state["kind"] == "other" and not app.exception
    assert all(cell[0].startswith("L28 N") for _, _, cell in listed(app))


@EACH_LANGUAGE
def test_the_neurons_of_the_answer(lang, smollm, fact):
    app, found = open_view("neurons", lang=lang), neurons(fact, id_of(smollm, " Paris"))
    order = np.argsort(-np.abs(found.added), axis=None)[:15]
    lines = listed(app)
    assert [n for n, _, _ in lines] == order.tolist()
    for n, _, (name, active, unit, added, _) in lines:
        layer, neuron = divmod(n, 1536)
        recorded = fact.read("mlp.hidden", layer)[-1, neuron]
        assert name == f"L{layer} N{neuron}" and number(active) == pytest.approx(recorded, abs=6e-3)
        assert number(unit) * recorded == pytest.approx(number(added), abs=3e-3)
    assert reader.verdict(app) == "equal"
    app = put(app, cell=29 * 1536 + 864)  # not the first
    shown = reader.text(app)
    assert "␣France" in shown and "␣Paris" in shown and "French" in shown
    sign = "negative" if found.active[29, 864] < 0 else "positive"
    assert lessons.text(lang, f"lens.neurons.{sign}").replace("**", "") in shown
    way = "down" if found.added[29, 864] < 0 else "up"
    said = lessons.loader._table(lang, "ui")[f"lens.neurons.target_{way}"]
    assert not reader.missing(app, said) and f"{abs(found.added[29, 864]):.3f}" in shown
    assert app.button(key="to_lens_parts") and app.button(key="to_lens_layers")
    app.button(key="open_neuron").click().run()
    assert app.session_state["page"] == "block" and app.session_state["at_layer"] == 29
    assert app.session_state["op"] == "mlp.hidden" and app.session_state["cell"] == 864


@pytest.mark.parametrize("view", ["parts", "neurons"])
def test_what_a_link_asks_for_is_put_right(view):
    app = open_view(view, model="nano", prompt="the", cell=999_999_999, at=999, kind="<b>", pos=0)
    assert reader.verdict(app) == "equal" and app.session_state["kind"] is None
    assert app.session_state["cell"] is None and app.session_state["at"] in (None, 0, 999)


@pytest.mark.parametrize("family", ["gemma2", "gpt2", "gpt_neox", "olmo2"])
def test_what_a_family_has_besides_is_said(family, tmp_path, monkeypatch):
    path = build_gguf(tmp_path / f"{family}.gguf", family)
    monkeypatch.setenv("TOKENWALK_MODELS", os.fspath(path))
    app = open_view(model=family, prompt="the cat and the other cat", pos=3, kind="average")
    said = lessons.loader._table("en", "ui")
    behind, capped, biased = (
        not reader.missing(app, said[f"lens.parts.{key}"])
        for key in ("behind", "capped", "sum_biases")
    )
    assert (behind, capped, biased) == (
        family in ("gemma2", "olmo2"),
        family == "gemma2",
        family in ("gpt2", "gpt_neox"),
    )
    assert reader.verdict(app) == "equal"
    app.button_group(key="view_lens").set_value("neurons").run()
    assert not app.exception and reader.verdict(app) == "equal"
