"""Positions, longer texts: the table and the figure hold what each way makes of each pair."""

import math
import os
import re

import pytest

import lessons
from tests.families import PHI3_SCALINGS, SCALINGS, build_gguf
from tests.pages import reader


def opened(**link):
    app = reader.open_page("positions", **dict(op="longer") | link)
    assert not app.exception, app.exception[0].value
    return app


def tables(app):
    """The cells of every table, row by row."""
    found = []
    for part in reader.html(app):
        if "<table" in part:
            rows = re.findall(r"<tr>(.*?)</tr>", part)
            found.append([re.findall(r"<td>(.*?)</td>", row) for row in rows[1:]])
    return found


def pairs(app):
    """From the summary: of each way the pairs unchanged, between and slowed in full."""
    return {row[0]: [int(cell) for cell in row[1:4]] for row in tables(app)[0]}


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_the_summary_of_smollm2(language, smollm):
    app = opened(lang=language, factor=8)
    linear, ntk, yarn, llama3 = pairs(app).values()
    assert linear == [0, 0, 32] and ntk == [1, 30, 1]
    # wavelengths 2π · 100,000^(i/32): below 8,192 / 4 up to pair 16, above 8,192 from pair 20
    waves = [2 * math.pi * 1e5 ** (i / 32) for i in range(32)]
    kept, full = sum(w < 2048 for w in waves), sum(w > 8192 for w in waves)
    assert llama3 == [kept, 32 - kept - full, full] == [17, 3, 12]
    assert yarn == [11, 9, 12]
    gain = f"{0.1 * math.log(8) + 1:.4f}"
    assert [row[6] for row in tables(app)[0]] == ["1.0000", "1.0000", gain, "1.0000"]


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_a_wavelength_is_called_the_same_in_every_view(language):
    name = lessons.text(language, "positions.clocks.wavelength")
    assert lessons.text(language, "positions.distance.col_wavelength") == name
    assert lessons.text(language, "positions.longer.all_pairs").endswith(name)


def test_all_pairs_with_their_wavelengths(smollm):
    rows = tables(opened(factor=4))[1]
    assert len(rows) == 32 and rows[0] == ["0", "6.3", "25.1", "6.3", "6.3", "6.3"]
    last = 2 * math.pi * 1e5 ** (31 / 32)
    assert rows[31][1:] == [f"{last:,.0f}"] + [f"{4 * last:,.0f}"] * 4


def test_the_answer_counts_the_pairs_with_new_angles(smollm):
    app = opened(factor=4)
    # of 32 pairs, 20 to 31 do not go round within 8,192 tokens; a larger base slows only the last
    # of them in full
    slow = sum(2 * math.pi * 1e5 ** (i / 32) > 8192 for i in range(32))
    answer = "linear 0, with NTK-aware 11, with YaRN 0, with llama3 0"
    assert slow == 12 and answer not in reader.text(app)
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    assert answer in shown and "Without stretching 12:" in shown


def test_the_factor_is_a_switch_and_stays_in_the_link(smollm):
    app = opened()
    assert app.button_group(key="longer_factor").value == 4
    app.button_group(key="longer_factor").set_value(16).run()
    assert app.session_state["factor"] == 16 and app.query_params["factor"] in ("16", ["16"])
    assert "131,072" in reader.text(app)


@pytest.mark.parametrize("factor", [0, 3, 1000, "x", "-2"])
def test_a_factor_that_is_not_offered_falls_back(factor, smollm):
    app = opened(factor=factor)
    assert app.button_group(key="longer_factor").value == 4
    assert app.session_state["factor"] is None


def test_nano():
    found = pairs(opened(model="nano", lang="zh"))
    assert list(found.values()) == [[0, 0, 8], [1, 6, 1], [1, 5, 2], [3, 3, 2]]


OWN = {
    "linear": ("llama", SCALINGS["linear"]),
    "yarn": ("llama", SCALINGS["yarn"]),
    "longrope": ("phi3", PHI3_SCALINGS["longrope"]),
}


@pytest.fixture
def family(tmp_path, monkeypatch):
    """Opens the view for a family's model."""

    def page(family, changes=None, **link):
        path = build_gguf(tmp_path / "own.gguf", family, **changes or {})
        monkeypatch.setenv("TOKENWALK_MODELS", os.pathsep.join([path]))
        return opened(model="own", prompt="the cat", **link)

    return page


@pytest.mark.parametrize("kind", OWN)
def test_a_scaling_of_the_model_has_a_line_and_a_sentence(kind, family):
    app = family(*OWN[kind])
    (notice,) = reader.notices(app)
    assert kind in notice and len(tables(app)[0]) == 5
    assert tables(app)[0][4][0] == lessons.text("en", "positions.longer.own")


def test_a_linear_scaling_of_its_own_is_the_one_drawn(family):
    app = family(*OWN["linear"], factor=2)
    linear, *_, own = tables(app)[0]
    assert own[1:] == linear[1:]


@pytest.mark.parametrize("name, layer, key", [("gpt2", 0, "learned"), ("smollm3", 3, "unturned")])
@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_where_nothing_turns_there_is_nothing_to_stretch(name, layer, key, language, family):
    app = family(name, layer=layer, lang=language)
    assert reader.notices(app) == [lessons.text(language, f"positions.longer.{key}")]
    assert not app.get("plotly_chart")
    app.session_state["reveal"] = True
    assert not app.run().exception and "[[" not in reader.text(app)


@pytest.mark.parametrize("name", ["gpt_neox", "phi3", "gemma3"])
def test_a_model_without_a_scaling_of_its_own_has_four_rows(name, family):
    for layer in (0, 3):
        app = family(name, layer=layer)
        assert len(tables(app)[0]) == 4 and not reader.notices(app)
