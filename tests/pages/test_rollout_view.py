"""Rollout: the pictures hold the product of the mean maps of the run, and warn of it."""

import re

import numpy as np
import pytest

import lessons
from core import RunSpec, run
from pages.parts.html import percent
from pages.views.atlas.rollout import KINDS
from tests.conftest import SMOLLM
from tests.pages import reader

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
PROMPT = "When Mary and John went to the store, John gave a drink to"


def open_view(**link):
    app = reader.open_page("atlas", **({"op": "rollout", "prompt": PROMPT} | link))
    assert not app.exception and not reader.notices(app, "error")
    return app


def pictures(app):
    """The values of each picture by its kind, and what else is said of it."""
    named = [each for each in reader.figures(app) if "rollout" in each[0].get("name", "")]
    return {meta["name"].removeprefix("rollout_"): (each["values"], meta) for meta, each in named}


def trace_tokens(prompt):
    return run(RunSpec(SMOLLM, prompt=prompt)).tokens


@pytest.fixture(scope="module")
def product(smollm):
    """R after every layer, as defined: float64 [layer + 1, query, key]."""
    trace = run(RunSpec(SMOLLM, prompt=PROMPT))
    found = [np.eye(len(trace.ids))]
    for weights in trace.each_layer("attn.weights"):
        mean = weights.astype(np.float64).mean(axis=0)
        found.append((mean @ found[-1] + found[-1]) / 2)
    return np.stack(found)


@EACH_LANGUAGE
def test_pictures_and_warning_are_of_this_run(product, lang):
    app = open_view(lang=lang, layer=12, pos=11)
    shown = pictures(app)
    assert tuple(shown) == KINDS
    np.testing.assert_allclose(shown["whole"][0], product[:, 11, :12], atol=1e-5)
    for values, meta in shown.values():
        np.testing.assert_allclose(values.sum(axis=1), np.ones(31), atol=1e-5)
        assert meta["limit"] == 1 and meta["selected"][0] == 13
    assert not shown["rest"][0][:, 0].any()
    assert (shown["late"][0][:26] == np.eye(12)[11]).all() and shown["late"][0][26, 0] > 0
    (warning,) = reader.notices(app)
    passed = int((product[:, 11, 0] > 0.5).argmax())
    assert percent(product[-1, 11, 0]) in warning and f" {passed} " in warning
    second = shown["rest"][0][-1, 1]
    assert second > 0.5 and percent(second) in reader.text(app)
    assert reader.verdict(app) == "equal"


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_is_explained_as_a_sum(product, kind):
    app = open_view(layer=5, pos=13, cell=4, kind=kind, at=27)  # of 30 layers: all but three
    value = float(pictures(app)[kind][0][6, 4])
    shown = "".join(reader.html(app))
    assert f"{value:.6f}" in shown and reader.verdict(app) == "equal"
    assert value > 0 and (kind != "whole" or value == pytest.approx(product[6, 13, 4], abs=1e-5))
    (chosen,) = re.findall(r'data-part="(\d+)" tabindex="0" class="tw-here"', shown)
    assert chosen == "4"


def test_the_answer_says_what_is_left(product):
    app = open_view(pos=13)
    app.session_state["reveal"] = True
    app.run()
    lesson = lessons.view("en", "atlas.rollout")
    assert not reader.missing(app, lesson.reveal)
    assert reader.html(app) and f"{product[-1, 13, 13] * 100:.2g}%" in reader.text(app)
    shown = {kind: values[-1] for kind, (values, _) in pictures(app).items()}
    drains = {"second": "␣Mary", "share": percent(shown["rest"][1])}
    best = 2 + int(shown["late"][2:-1].argmax())
    named = {kind: percent(row[best]) for kind, row in shown.items()}
    named |= {"best": trace_tokens(PROMPT)[best], "position": best}
    for key, values in (("drains", drains), ("besides", named)):
        said = lessons.text("en", f"atlas.rollout.{key}", **values).strip()
        assert said in reader.text(app)


def test_the_number_of_last_layers_is_the_readers(product):
    app = open_view(pos=13, at=2)
    one = pictures(app)["late"][0]
    assert (one[:29] == np.eye(14)[13]).all() and one[29, 0] > 0
    app.number_input(key="rollout_last").set_value(30).run()
    assert not app.exception and app.query_params["at"] in ("30", ["30"])
    late, whole = (pictures(app)[kind][0] for kind in ("late", "whole"))
    np.testing.assert_array_equal(late, whole)


@EACH_LANGUAGE
def test_the_first_token_has_nothing_to_be_made_of(lang):
    app = open_view(model="nano", prompt="The cat", pos=0, lang=lang)
    (notice,) = reader.notices(app)
    assert not pictures(app) and notice.startswith(
        lessons.text(lang, "atlas.rollout.alone", token="T").split("T")[0].strip()
    )


@pytest.mark.parametrize("prompt", ["a b", "🙂\n\n\n", "cat cat cat cat"])
def test_short_and_repeated_texts(prompt):
    app = open_view(model="nano", prompt=prompt, layer=99, cell=99999, kind="nothing")
    assert set(pictures(app)) == set(KINDS) and reader.verdict(app) == "equal"
    assert app.session_state["cell"] is None
