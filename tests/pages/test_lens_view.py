"""The logit lens: what the page shows equals what NumPy finds alone; a window of a longer text."""

import numpy as np
import pytest

import lessons
from core import RunSpec, open_model, run
from tests.conftest import SMOLLM
from tests.pages import reader

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
EIFFEL = "The Eiffel Tower is located in the city of"


def open_view(**link):
    app = reader.open_page("lens", **link)
    assert not app.exception and not reader.notices(app, "error")
    return app


def grid(app):
    return next(meta for meta in reader.canvases(app) if "texts" in meta)


def colours(app):
    """The numbers behind the cells of the grid, by what they are."""
    return next(arrays for meta, arrays in reader.figures(app) if "texts" in meta)


def choose(app, **values):
    for name, value in values.items():
        app.session_state[name] = value
    app.session_state["moved"] = True
    assert not app.run().exception
    return app


def test_the_grid_names_the_first_token_after_each_layer(smollm):
    app = open_view(prompt=EIFFEL, lang="zh")
    meta, trace = grid(app), run(RunSpec(SMOLLM, prompt=EIFFEL))
    w, c, display = smollm.weights, smollm.config, smollm.tokenizer.display
    x = trace.stream[:, meta["first_column"] :].astype(np.float64)
    h = x / np.sqrt((x**2).mean(axis=2, keepdims=True) + c.norm_eps) * w.final_norm
    top = (h.astype(np.float32) @ w.head.T).argmax(axis=2)
    assert meta["texts"] == [[display(int(id)) for id in line] for line in top]
    assert meta["texts"][-1][-1] == display(int(trace.logits().argmax())) == "␣Paris"
    probs = trace.probs(len(trace.ids) - 1)
    assert meta["labels"]["scale"] == lessons.text("zh", "lens.layers.scale.answer")
    shown = colours(app)["answer"]
    assert shown[-1, -1] == probs.max() and shown[0, -1] < 1e-3 < shown[-2, -1]
    assert len(meta["rows"]) == 31 and meta["columns"] == list(trace.tokens[-len(top[0]) :])
    assert reader.verdict(app) == "equal"
    after_27 = lessons.text("zh", "lens.layers.since.block", layer=27)
    assert after_27 in reader.text(app)
    app.session_state["reveal"] = True
    answer = reader.text(app.run())
    assert not reader.missing(app, lessons.page("zh", "lens").reveal)
    assert answer.count(after_27) == 2


def test_clicks_and_switches_lead_on(smollm):
    app = open_view(prompt=EIFFEL)
    first = grid(app)["first_column"]
    choose(app, cell=2 * 26 + 2, pos=first)
    assert grid(app)["selected"] == [27, 0] and app.query_params["cell"] in ("54", ["54"])
    choose(app, kind="attention", by="rank", target=7042)
    meta = grid(app)
    assert meta["rows"][meta["selected"][0]].startswith("26")  # the same layer, half of it
    assert meta["labels"]["target"] == "␣Paris" and meta["high"] == "#1"
    choose(app, kind="both", by="entropy")
    assert app.selectbox(key="target_list").value == 7042  # whatever colours
    assert len(grid(app)["rows"]) == 61 and grid(app)["selected"][0] == 54
    choose(app, kind="nothing", by="divergence", cell=10**8)
    assert grid(app)["selected"][0] == 30 and app.session_state["kind"] is None


def test_a_longer_text_is_shown_a_window_at_a_time(smollm):
    app = open_view(prompt=EIFFEL, pos=0)
    n, before = 10, grid(app)
    assert before["first_column"] == 0 and len(before["columns"]) < n
    shown = lessons.text("en", "lens.layers.window", first=0, last=len(before["columns"]) - 1, n=n)
    assert shown in reader.text(app)
    app.button(key="lens_later").click().run()
    after = grid(app)
    assert after["first_column"] == len(before["columns"])
    assert app.session_state["pos"] == after["first_column"]
    app.button(key="lens_earlier").click().run()
    assert grid(app)["first_column"] == 0


@pytest.mark.parametrize(
    "prompt, kind",
    [("the", "both"), ("the\n🙂 the the", "block"), ("<b>x</b> [[n]] {row}", "both")],
)
def test_any_text_has_its_grid(prompt, kind):
    app, nano = open_view(model="nano", prompt=prompt, kind=kind), open_model("nano")
    rows = nano.config.n_layers * (2 if kind == "both" else 1) + 1
    assert len(grid(app)["rows"]) == rows and reader.verdict(app) == "equal"
    assert not any("<b>x" in part for part in reader.html(app))
