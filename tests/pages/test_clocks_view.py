"""All pairs as clocks on the page: their speeds, the position in the link, the answer."""

import math
import os

import pytest

import lessons
from core import RunSpec, open_model, run
from tests.conftest import SMOLLM
from tests.families import CONFIGS, build_gguf
from tests.pages import reader

PROMPT = "The cat saw the cat and the dog saw the other cat"  # 12 tokens
SPEEDS = [100_000 ** (-i / 32) for i in range(32)]
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)


def page(**link):
    return reader.open_page("positions", **{"op": "clocks", "prompt": PROMPT} | link)


def clocks(app):
    (sent,) = [meta for meta in reader.canvases(app) if "dials" in meta]
    return sent


def whole(app):
    return (
        not app.exception
        and not reader.notices(app, "error")
        and not lessons.loader.PLACEHOLDER.search(reader.text(app) + str(reader.canvases(app)))
    )


@EACH_LANGUAGE
@pytest.mark.usefixtures("smollm")
def test_every_pair_has_a_clock_with_its_speed(language):
    app = page(lang=language)
    lesson = lessons.view(language, "positions.clocks")
    assert whole(app)
    for section in ("gist", "idea", "maths", "look", "predict"):
        assert not reader.missing(app, getattr(lesson, section)), section
    sent = clocks(app)
    assert sent["slider"]["speeds"] == pytest.approx(SPEEDS, rel=1e-12)
    assert [dial["label"] for dial in sent["dials"]] == [str(i) for i in range(32)]
    assert sent["dials"][0]["lines"] == ["6.3"] and sent["dials"][31]["lines"] == ["438,460"]
    assert (sent["slider"]["last"], sent["slider"]["value"]) == (63, 11)
    assert len(sent["slider"]["tokens"]) == 12


@pytest.mark.usefixtures("smollm")
def test_the_table_holds_the_speeds():
    (table,) = [part for part in reader.html(page()) if "<table" in part]
    for pair in (0, 7, 31):
        speed = SPEEDS[pair]
        cells = [str(pair), f"{pair}, {pair + 32}", f"{speed:.6g}"]
        wave = 2 * math.pi / speed
        cells.append(f"{wave:,.1f}" if wave < 100 else f"{wave:,.0f}")
        cells += [f"{math.degrees(speed):.4g}", f"{8191 * speed / (2 * math.pi):,.2f}"]
        assert "".join(f"<td>{cell}</td>" for cell in cells) in table


@EACH_LANGUAGE
@pytest.mark.usefixtures("smollm")
def test_the_answer_counts_the_pairs_that_do_not_get_round(language):
    app = page(lang=language)
    gone = sum(8191 * speed >= 2 * math.pi for speed in SPEEDS)
    within = sum(11 * speed >= 2 * math.pi for speed in SPEEDS)
    assert (gone, within) == (20, 2)
    said = lessons.text(language, "positions.clocks.gone_round", last=11, text=within, n=32)
    assert said in reader.text(app)
    app.session_state["reveal"] = True
    app.run()
    values = {"n_less": 32 - gone, "n_gone": gone, "n_gone_text": within, "n_tokens": 12}
    values |= {"n_pairs": 32, "slowest_turns": f"{8191 * SPEEDS[-1] / (2 * math.pi):.3g}"}
    answer = lessons.fill(lessons.view(language, "positions.clocks").reveal, **values)
    assert answer in reader.text(app)


@pytest.mark.usefixtures("smollm")
def test_the_place_of_the_hands_is_that_of_the_link_or_the_chosen_token():
    assert clocks(page(pos=3))["slider"]["value"] == 3
    app = page(pos=3, at=700)
    assert clocks(app)["slider"]["value"] == 700 and app.query_params["at"] == "700"


@pytest.mark.usefixtures("smollm")
def test_the_slider_spans_a_few_times_the_text_or_the_whole_context():
    app = page(prompt="a " * 40, pos=3)  # one token each, or two: their number is asked for
    n = len(clocks(app)["slider"]["tokens"])
    assert n >= 40 and clocks(app)["slider"]["last"] == 4 * n - 1
    app.toggle(key="whole_context").set_value(True).run()
    assert clocks(app)["slider"]["last"] == 8191
    app = page(pos=3, at=64)  # the first position that a slider near the text has not
    assert app.toggle(key="whole_context").value and clocks(app)["slider"]["last"] == 8191
    app.toggle(key="whole_context").set_value(False).run()
    assert (clocks(app)["slider"]["last"], clocks(app)["slider"]["value"]) == (63, 3)
    assert "at" not in app.query_params
    assert not page(pos=3, at=63).toggle(key="whole_context").value


@pytest.mark.usefixtures("smollm")
def test_many_pairs_scroll_in_a_box_with_a_name():
    (box,) = [part for part in reader.html(page()) if "tw-speeds" in part]
    name = lessons.text("en", "positions.clocks.table")
    assert f'tabindex="0" role="group" aria-label="{name}"' in box
    assert not any("tw-speeds" in part for part in reader.html(page(model="nano")))


@pytest.mark.usefixtures("smollm")
@pytest.mark.parametrize("at", ["8192", "999999999", "-4", "1e3", "x", ""])
def test_a_place_that_is_not_there_is_that_of_the_token(at):
    app = page(pos=3, at=at)
    assert whole(app) and clocks(app)["slider"]["value"] == 3
    assert "at" not in app.query_params


def test_nano_has_eight_clocks():
    sent = clocks(page(model="nano", prompt="In France"))
    assert sent["slider"]["speeds"] == pytest.approx([100 ** (-i / 8) for i in range(8)])
    assert sent["slider"]["last"] == 63
    app = page(model="nano", prompt="In France", at=127)
    assert clocks(app)["slider"]["last"] == 127 and "at" in app.query_params


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clocks")
    return {family: build_gguf(folder / f"{family}.gguf", family) for family in CONFIGS}


@pytest.mark.parametrize("family", CONFIGS)
def test_every_family(paths, family, monkeypatch):
    monkeypatch.setenv("TOKENWALK_MODELS", os.pathsep.join(paths.values()))
    config = open_model(paths[family]).config
    for layer, language in ((0, "en"), (config.n_layers - 1, "zh")):
        app = page(model=family, prompt="the cat and the cat", layer=layer, lang=language)
        app.session_state["reveal"] = True
        app.run()
        assert whole(app), layer
        still = lessons.text(language, "positions.clocks.still", layer=layer)
        assert (still in reader.notices(app)) == (config.ropes[layer] is None)
        shown = [meta for meta in reader.canvases(app) if "dials" in meta]
        assert len(shown) == (config.ropes[layer] is not None)


def test_the_hands_of_a_real_query(smollm):
    app = page(pos=4, layer=6, head=2)
    app.toggle(key="real_hands").set_value(True).run()
    assert whole(app)
    row = run(RunSpec(SMOLLM, prompt=PROMPT)).read("attn.q", 6)[4, 2]
    for i, dial in enumerate(clocks(app)["dials"]):
        (hand,) = dial["hands"]
        assert hand["angle"] == pytest.approx(math.atan2(row[i + 32], row[i]))
        assert dial["lines"][1] == f"{math.hypot(row[i], row[i + 32]):.3f}"
