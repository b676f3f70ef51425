"""One pair of a query and of a key on the page: what stands there equals what the run recorded, in
every family, whatever the link says.
"""

import math
import os
import re

import numpy as np
import pytest

import lessons
from core import RunSpec, open_model, run
from tests.conftest import SMOLLM
from tests.families import CONFIGS, build_gguf
from tests.pages import reader

PROMPT = "The cat saw the cat and the dog saw the other cat"
LAYER, HEAD, POSITION, PAIR = 7, 4, 6, 5  # the head reads key/value head 1
CATS = "the cat and the other cat"
HOSTILE = "<b>a</b> $x$ **c** [[token]] <script>alert(1)</script>"
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)


@pytest.fixture(scope="module")
def trace(smollm):
    return run(RunSpec(SMOLLM, prompt=PROMPT))


@pytest.fixture
def page(trace):
    """Opens the view at one place of the run; a link says otherwise."""
    here = {"prompt": PROMPT, "layer": LAYER, "head": HEAD, "pos": POSITION, "cell": PAIR}
    return lambda **link: reader.open_page("positions", **here | link)


def drawn(app):
    """The two dials."""
    (sent,) = [meta for meta in reader.canvases(app) if "dials" in meta]
    return sent["dials"]


def verdicts(app):
    return re.findall(r'data-verdict="(\w+)"', "".join(reader.html(app)))


def whole(app):
    return (
        not app.exception
        and not reader.notices(app, "error")
        and not lessons.loader.PLACEHOLDER.search(reader.text(app) + str(reader.canvases(app)))
    )


def shown(value):
    return f"{value:.4f}".replace("-", "−")


@EACH_LANGUAGE
def test_the_arrows_are_the_recorded_numbers_before_and_after(page, trace, language):
    app = page(lang=language)
    assert whole(app) and not reader.missing(app, lessons.page(language, "positions").look)
    angle = POSITION * 100_000 ** (-2 * PAIR / 64)
    assert f"{angle:.6g}" in reader.text(app)
    for dial, letter, head in zip(drawn(app), "qk", (HEAD, 1), strict=True):
        assert dial["arc"][1] == pytest.approx(angle)
        for hand, end in zip(dial["hands"], ("", "_rot"), strict=True):
            row = trace.read(f"attn.{letter}{end}", LAYER)[POSITION, head]
            x, y = float(row[PAIR]), float(row[PAIR + 32])
            assert hand["angle"] == pytest.approx(math.atan2(y, x))
            assert hand["length"] == pytest.approx(1, abs=1e-5)
            assert any(shown(math.hypot(x, y)) in line for line in dial["lines"])


def test_both_coordinates_of_query_and_key_are_computed_again(page, trace):
    app = page()
    assert verdicts(app) == ["equal"] * 4
    for letter, head in (("q", HEAD), ("k", 1)):
        for dim in (PAIR, PAIR + 32):
            after = trace.read(f"attn.{letter}_rot", LAYER)[POSITION, head, dim]
            assert f"<b>{shown(after)}</b>" in "".join(reader.html(app))


def test_the_terms_stand_in_the_order_of_the_formula(page):
    shown = "".join(re.sub("<.*?>", " ", part) for part in reader.html(page()))
    for letter in "qk":
        formula = f"{letter}′₃₇ = {letter}₅ sin φ + {letter}₃₇ cos φ"
        sums = shown[shown.index(formula) + len(formula) :]
        assert sums.index(f"{letter}₅ · sin φ") < sums.index(f"{letter}₃₇ · cos φ")


def test_another_pair_is_picked(page):
    app = page()
    app.number_input(key="pair").set_value(31).run()
    assert whole(app) and app.query_params["cell"] == "31"
    assert drawn(app)[0]["axes"] == ["dimension 31", "dimension 63"]


@pytest.mark.parametrize(
    "link", [{"cell": 32}, {"cell": 999999999}, {"cell": "-1"}, {"cell": "x"}, {"cell": ""}]
)
def test_a_pair_that_is_not_there_is_the_first(page, link):
    app = page(**link)
    assert whole(app) and drawn(app)[0]["axes"] == ["dimension 0", "dimension 32"]
    assert "cell" not in app.query_params


def test_a_place_that_is_not_there_is_another(page):
    app = page(pos=99999, layer=400, head=99, op="nothing")
    assert whole(app) and verdicts(app) == ["equal"] * 4


def test_at_position_0_nothing_turns(page):
    for app in (page(pos=0), page(prompt="Hi", pos="", model="nano", layer=1, head=1)):
        assert whole(app)
        assert set(verdicts(app)) == {"equal"}
    first = drawn(page(pos=0))[0]
    assert first["arc"][1] == 0 and first["hands"][0]["angle"] == first["hands"][1]["angle"]


def turned(x, neighbours=False):
    """x [seq, head_dim] turned as complex numbers."""
    x = x.astype(np.float64)
    first, second = (x[:, ::2], x[:, 1::2]) if neighbours else (x[:, :32], x[:, 32:])
    speeds = 100_000 ** (-np.arange(32) / 32)
    z = (first + 1j * second) * np.exp(1j * np.outer(np.arange(len(x)), speeds))
    if neighbours:
        return np.stack([z.real, z.imag], -1).reshape(x.shape)
    return np.concatenate([z.real, z.imag], -1)


def scores(trace, turn):
    q, k = (turn(trace.read(f"attn.{n}", LAYER)[:, h]) for n, h in (("q", HEAD), ("k", 1)))
    return k[: POSITION + 1] @ q[POSITION] / 8


@EACH_LANGUAGE
def test_what_neighbours_as_pairs_would_give(page, trace, language):
    app = page(lang=language)
    app.session_state["other_pairing"] = True
    app.run()
    assert whole(app)
    text = "".join(reader.html(app))
    mixed = turned(trace.read("attn.q", LAYER)[:, HEAD], neighbours=True)[POSITION]
    assert (
        f"<td>{shown(mixed[PAIR])}</td>" in text and f"<td>{shown(mixed[PAIR + 32])}</td>" in text
    )
    before, after = scores(trace, turned), scores(trace, lambda x: turned(x, True))
    worst = int(np.abs(after - before).argmax())
    assert abs(after - before)[worst] > 0.5
    same = before.argmax() == after.argmax()
    for key in ("other_scores", "highest_same" if same else "highest_other", "changes"):
        line = lessons.loader._table(language, "ui")[f"positions.rotation.{key}"]
        assert not reader.missing(app, line)
    beside = trace.read("attn.k", LAYER)[POSITION, 1, 36]  # dimension 37 would turn with 36
    assert f"k₃₆ = {shown(beside)} (18)" in text
    assert shown(after[worst]) in text and shown(before[worst]) in text
    assert abs(after - before)[-1] < 1e-9  # a token and itself are turned alike


@EACH_LANGUAGE
def test_the_answer_names_the_highest_scores_with_and_without_the_turn(page, trace, language):
    app = page(lang=language)
    app.session_state["reveal"] = True
    app.run()
    assert whole(app)
    recorded, plain = scores(trace, turned), scores(trace, lambda x: x.astype(float))
    best, other = int(recorded.argmax()), int(plain.argmax())
    moved = int(np.abs(plain - recorded).argmax())
    values = {"best": trace.tokens[best], "plain": trace.tokens[other]}
    values |= {"moved": trace.tokens[moved], "best_at": best, "plain_at": other, "moved_at": moved}
    values |= {"best_score": shown(recorded[best]), "plain_score": shown(plain[other])}
    values |= {"moved_before": shown(recorded[moved]), "moved_after": shown(plain[moved])}
    answer = lessons.fill(lessons.page(language, "positions").reveal, **values)
    assert all(part in reader.text(app) for part in answer.split("\n\n"))


def test_a_hostile_prompt_stays_text(page):
    app = page(prompt=HOSTILE, pos=3)
    for key in ("reveal", "other_pairing"):
        app.session_state[key] = True
    app.run()
    assert not app.exception and not reader.notices(app, "error")
    assert "<script" not in "".join(reader.html(app))
    assert not any("alert" in said for said in reader.streamlit_texts(app))


# --- other families


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("turning")
    return {family: build_gguf(folder / f"{family}.gguf", family) for family in CONFIGS}


@pytest.fixture
def opened(paths, monkeypatch):
    """Opens the view for a family's model."""
    monkeypatch.setenv("TOKENWALK_MODELS", os.pathsep.join(paths.values()))
    return lambda family, **link: reader.open_page("positions", model=family, prompt=CATS, **link)


@pytest.mark.parametrize("family", CONFIGS)
def test_every_family(opened, paths, family):
    config = open_model(paths[family]).config
    for layer, language in zip((0, config.n_layers - 1), lessons.LANGUAGES, strict=True):
        app = opened(family, layer=layer, head=3, lang=language, pos=4, cell=1)
        for key in ("reveal", "other_pairing"):
            app.session_state[key] = True
        app.run()
        assert whole(app), (layer, language)
        turns = config.ropes[layer] is not None
        assert verdicts(app) == ["equal"] * (4 * turns + config.learned_positions)


def test_dimensions_that_are_in_no_pair_are_named(opened):
    assert "4 of the 8 numbers of a head, dimensions 4 to 7" in reader.text(opened("gpt_neox"))


def test_a_layer_without_rotation_says_so(opened):
    app = opened("smollm3", layer=3)
    assert lessons.text("en", "positions.rotation.nothing") in reader.notices(app)
    app.session_state["reveal"] = True
    app.run()
    assert "In 3 of 4." in reader.text(app)


def test_a_learned_position_is_a_row_that_was_added(opened, paths):
    app = opened("gpt2", pos=2, cell=3)
    weights, trace = open_model(paths["gpt2"]).weights, run(RunSpec(paths["gpt2"], prompt=CATS))
    added = weights.get("embed")[trace.ids[2], 3] + weights.get("pos_embed")[2, 3]
    assert f"<b>{shown(added)}</b>" in "".join(reader.html(app))
    assert verdicts(app) == ["equal"] and whole(opened("gpt2", pos=2, cell=99999))


def test_a_clicked_number_of_the_sum_is_explained(opened):
    app = opened("gpt2", pos=2, cell=3)
    app.session_state["pos"], app.session_state["cell"] = 4, 7
    app.session_state["moved"] = True
    app.run()
    assert whole(app) and verdicts(app) == ["equal"]
    assert "(4) · dimension 7" in reader.text(app)
