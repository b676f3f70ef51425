"""The MLP on its page: the neurons that fire, with the factors that make them, and what they write.
The numbers once more with plain NumPy and Python's math.
"""

import math
import re

import numpy as np
import pytest

import lessons
from core import RunSpec, open_model, run
from tests.families import build_gguf
from tests.pages import reader
from tests.pages.test_heads_view import cells, number

LINE = re.compile(r'<tr data-(\w+)="(\d+)"([^>]*)>(.*?)</tr>')
PROMPT = "The capital of France is"
SMOLLM = "smollm2-135m-instruct"
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)


def open_step(op, **link):
    return reader.open_page("block", op=op, **{"prompt": PROMPT} | link)


def lines(app, name):
    """The list of neurons or of positions: number -> (whether it is chosen, cells), in order."""
    (shown,) = [part for part in reader.html(app) if f"data-{name}=" in part]
    found = [line for line in LINE.findall(shown) if line[0] == name]
    return {int(n): ("tw-here" in mark, cells(row)) for _, n, mark, row in found}


@EACH_LANGUAGE
def test_the_neurons_that_fire_with_their_factors(language, smollm):
    app = open_step("mlp.hidden", layer=23, cell=7, lang=language)
    trace = run(RunSpec(SMOLLM, prompt=PROMPT))
    gate, act, up, hidden = (trace.read(f"mlp.{op}", 23)[-1] for op in "gate act up hidden".split())
    shown, order = lines(app, "neuron"), np.argsort(-np.abs(hidden)).tolist()
    assert list(shown) == [7, *order[:12]] and [n for n, line in shown.items() if line[0]] == [7]
    for n, (_, row) in shown.items():
        made = (gate[n], 1 / (1 + math.exp(-gate[n])), act[n], up[n], hidden[n])
        assert [number(cell) for cell in row[1:6]] == pytest.approx(made, abs=0.0051)
    squares = np.sort(hidden.astype(float) ** 2)[::-1].cumsum()
    n_half, n_most = (1 + int((squares < share * squares[-1]).sum()) for share in (0.5, 0.9))
    said = lessons.text(language, "block.neurons.holding", n="1,536", n_half=n_half, n_most=n_most)
    assert said in reader.text(app)
    (sizes,) = [part for part in reader.html(app) if "tw-decades" in part]
    rows = [cells(row) for row in re.findall("<tr>(.*?)</tr>", sizes)[1:]]
    counted = [int(row[1].replace(",", "")) for row in rows]
    edges = [0, 0.001, 0.01, 0.1, 1, 10, 100]
    assert counted == np.histogram(np.abs(hidden), edges)[0].tolist()
    assert sum(number(row[3]) for row in rows) == pytest.approx(100, abs=0.3)
    assert len(re.findall('data-verdict="equal"', "".join(reader.html(app)))) == 2


@pytest.mark.parametrize("family, factor", [("gpt2", "½(1 + tanh)"), ("gpt_neox", "Φ(u)"),
    ("gemma2", "½(1 + tanh)"), ("olmo2", "σ(g)")])  # fmt: skip
def test_every_activation_shows_its_own_factor_and_curve(family, factor, tmp_path, monkeypatch):
    path = build_gguf(tmp_path / f"{family}.gguf", family)
    monkeypatch.setenv("TOKENWALK_MODELS", path)
    app = open_step("mlp.act", model=family, prompt="the cat", layer=1, cell=5)
    trace = run(RunSpec(path, prompt="the cat"))
    gated, act = open_model(path).config.gated, trace.read("mlp.act", 1)[-1]
    z = trace.read("mlp.gate" if gated else "mlp.up", 1)[-1]
    name = "gate g" if gated else "up u"
    assert f"{name} × {factor}, computed again for all {len(z)} neurons" in reader.text(app)
    shown = lines(app, "neuron")
    assert list(shown) == np.argsort(-np.abs(act), kind="stable").tolist() and shown[5][0]
    for n, (_, row) in shown.items():
        assert number(row[1]) == pytest.approx(z[n], abs=0.006)
        assert number(row[2]) == pytest.approx(act[n] / z[n], abs=0.01)
        assert number(row[3]) == pytest.approx(act[n], abs=0.006)
    (curve,) = [part for part in reader.html(app) if 'class="tw-bend"' in part]
    assert f"{name} = {z[5]:.3f}".replace("-", "−") in reader.plain(curve)
    key = "block.neurons.open" if gated else "block.neurons.above"
    assert lessons.text("en", key, n_open=(z > 0).sum(), n=len(z)) in reader.text(app)


@EACH_LANGUAGE
def test_what_neurons_write(language, smollm):
    """The first token of layer 11, whose output two neurons write."""
    app = open_step("mlp.out", layer=11, pos=0, cell=507, lang=language)
    trace = run(RunSpec(SMOLLM, prompt=PROMPT))
    y, weight = trace.read("mlp.hidden", 11)[0], smollm.weights.get("mlp_out", 11).astype(float)
    row = trace.read("mlp.out", 11)[0].astype(float)
    vectors, length = y * weight, np.linalg.norm(row)
    norms, shown = np.linalg.norm(vectors, axis=0), lines(app, "neuron")
    assert list(shown) == np.argsort(-norms)[:10].tolist() and list(shown)[:2] == [1229, 1487]
    assert [n for n, line in shown.items() if line[0]] == [1229]  # its product is the largest
    for n, (_, cell) in shown.items():
        cosine = vectors[:, n] @ row / norms[n] / length
        made = (y[n], norms[n], cosine, vectors[507, n])
        assert [number(cell[i]) for i in (1, 2, 4, 5)] == pytest.approx(made, abs=0.0051)
    few = vectors[:, list(shown)].sum(axis=1)
    values = {"few": 10, "n": "1,536", "few_length": f"{np.linalg.norm(few):.2f}"}
    values |= {"length": f"{length:.2f}", "share": f"{few @ row / length**2:.1%}"}
    values |= {"cosine": f"{few @ row / length / np.linalg.norm(few):.2f}"}
    assert lessons.text(language, "block.down.writers_caption", **values) in reader.text(app)
    assert f"{row[507]:.4f}" in reader.text(app) and reader.verdict(app) == "equal"


def test_a_neuron_that_is_pointed_at_is_listed(smollm):
    app = open_step("mlp.out", layer=11, pos=0, cell=507)
    app.session_state["term"] = ("mlp.out", 3)
    shown = lines(app.run(), "neuron")
    assert list(shown)[:2] == [3, 1229] and [n for n, line in shown.items() if line[0]] == [3]


@pytest.mark.parametrize("op, column", [("mlp.hidden", 1), ("mlp.act", 1), ("mlp.out", 3)])
def test_all_positions_name_the_strongest_neuron_of_each_token(op, column):
    prompt = "a cat\nand a cat"
    app = open_step(op, model="nano", prompt=prompt, together=1, pos=2, layer=1)
    trace = run(RunSpec("nano", prompt=prompt))
    sizes = np.abs(trace.read("mlp.hidden" if op == "mlp.out" else op, 1))
    if op == "mlp.out":
        sizes = sizes * np.linalg.norm(trace.model.weights.get("mlp_out", 1), axis=0)
    shown = lines(app, "position")
    assert list(shown) == list(range(len(trace.ids)))
    assert [t for t, line in shown.items() if line[0]] == [2]
    for t, (_, row) in shown.items():
        assert row[0] == f"{trace.tokens[t]} ({t})" and row[column] == str(sizes[t].argmax())


@pytest.mark.parametrize("op", ["mlp.act", "mlp.hidden", "mlp.out", "attn.out"])
@pytest.mark.parametrize("together", [0, 1])
def test_one_token_is_enough(op, together, smollm):
    app = open_step(op, prompt="<b>", model="nano", together=together)
    assert not app.exception and reader.verdict(app) == "equal"
    assert "nan" not in reader.text(app) and "<b></b>" not in "".join(reader.html(app))
