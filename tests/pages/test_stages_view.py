"""Stage by stage: what the cards show is what NumPy finds alone; the controls; what a link asks."""

import base64
import json

import numpy as np
import pytest

import lessons
from core import RunSpec, run
from tests.conftest import SMOLLM
from tests.pages import reader

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
EACH_VIEW = pytest.mark.parametrize("op", ["stages", "draw", "orders"])
PROMPT = "The capital of France is"


def open_view(**link):
    app = reader.open_page("sampling", **link)
    assert not app.exception and not reader.notices(app, "error")
    return app


def cards(app):
    """The titles of the cards."""
    parts = [part for part in reader.html(app) if 'class="tw-card"' in part]
    return [reader.plain(part) for part in parts]


def charts(app):
    """The traces of each chart on the page."""
    return [json.loads(each.proto.spec)["data"] for each in app.get("plotly_chart")]


def softmax(x):
    e = np.exp(np.asarray(x, np.float64) - np.max(x))
    return e / e.sum()


@pytest.fixture(scope="module")
def logits(smollm):
    return run(RunSpec(SMOLLM, prompt=PROMPT)).logits().astype(np.float64)


@EACH_LANGUAGE
def test_a_page_begins_with_one_card(logits, lang):
    app = open_view(lang=lang)
    assert cards(app) == ["1" + lessons.text(lang, "sampling.stages.last_title")]
    ((bars, texts),) = charts(app)
    probs = np.sort(softmax(logits))[::-1]
    np.testing.assert_allclose(number_list(bars["x"]), probs[:12], atol=1e-9)
    assert texts["text"][0] == " 77.3%" and bars["customdata"][0] == "␣Paris"
    assert lessons.text(lang, "sampling.stages.all_are_off") in reader.text(app)
    assert reader.verdict(app) == "equal"
    assert lessons.text(lang, "sampling.stages.all_off") not in [b.label for b in app.button]


def number_list(values):
    """Numbers of a Plotly figure, which may be packed."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()
    return values


@EACH_LANGUAGE
def test_every_stage_that_does_something_has_a_card_in_the_order(logits, lang):
    app = open_view(lang=lang, temperature=2, top_p=0.9)
    names = [
        lessons.text(lang, f"sampling.stages.name_{name}") for name in ("temperature", "top_p")
    ]
    assert [title[1:].split(" · ")[0] for title in cards(app)[:2]] == names
    (before, after, _), (_, left, _), _ = charts(app)
    hot = softmax(logits / 2)
    first = np.argsort(-logits)[:12]
    np.testing.assert_allclose(number_list(before["x"]), softmax(logits)[first], atol=1e-9)
    np.testing.assert_allclose(number_list(after["x"]), hot[first], atol=1e-9)
    sums = np.cumsum(np.sort(hot)[::-1])
    n_kept = 1 + int((sums < 0.9).sum())
    np.testing.assert_allclose(number_list(left["x"]), hot[first] / sums[n_kept - 1], atol=1e-9)
    shown = reader.text(app)
    assert n_kept == 13_307 and shown.count("13,307") == 3  # temperature, top-p, last
    assert f"{49_152 - 13_307 - 5:,}" in shown  # those that fell but for the five that are named
    assert "77.3%" in shown and "5.2%" in shown
    app.session_state["order"], app.session_state["moved"] = "llama.cpp", True
    app.run()
    assert [title[1:].split(" · ")[0] for title in cards(app)[:2]] == names[::-1]
    assert "13,307" not in reader.text(app) and app.query_params["order"] == "llama.cpp"


def test_cut_tokens_are_hatched_and_their_reason_is_said(logits):
    app = open_view(top_k=2, cell=2240)
    (before, _, texts), _ = charts(app)
    shapes = before["marker"]["pattern"]["shape"]
    assert shapes[:3] == ["", "", "/"] and set(shapes[2:]) == {"/"} and len(shapes) == 13
    assert texts["text"][2].endswith("cut") and not texts["text"][1].endswith("cut")
    second = np.sort(logits)[-2]
    line = f"{logits[2240]:.4f} < {second:.4f}".replace("-", "−")
    assert line in reader.text(app)
    assert lessons.text("en", "sampling.stages.fate_gone") in reader.text(app)  # in the last card


def test_typical_can_cut_the_first_and_penalties_name_whom_they_met(smollm):
    app = open_view(prompt="the cat and the cat sat on the", typical_p=0.4, frequency_penalty=-0.5)
    (_, _, texts), *_ = charts(app)[1:]
    assert texts["text"][0].endswith("cut")
    shown = reader.text(app)
    assert "frequency" in shown.lower() and "f = −0.5" in shown
    table = next(part for part in reader.html(app) if "<td>2</td>" in part)
    assert "␣cat" in reader.plain(table) and "␣the" in reader.plain(table)


@pytest.mark.parametrize("order", ["transformers", "llama.cpp"])
def test_temperature_zero_is_greedy_and_said(smollm, order):
    app = open_view(temperature=0, order=order, min_p=0.1)
    said = lessons.text("en", "sampling.stages.greedy", token="␣Paris")
    assert said in reader.text(app) and "100.0%" in reader.text(app) + str(charts(app))


def test_a_k_over_the_vocabulary_counts_as_off(smollm):
    app = open_view(top_k=60_000)
    said = lessons.text("en", "sampling.stages.no_k", k="60,000", vocab="49,152")
    assert said in reader.text(app) and len(cards(app)) == 1


def test_the_button_switches_all_off_and_the_rest_opens_where_it_is_changed(smollm):
    app = open_view(min_p=0.05, seed=3)
    more = next(each for each in app.expander if each.label.startswith("More"))
    assert more.proto.expanded and len(cards(app)) == 2
    app.button(key="sampling_off").click().run()
    assert len(cards(app)) == 1 and str(app.session_state["seed"]) == "3"
    app.slider(key="set_temperature").set_value(0.5).run()
    assert len(cards(app)) == 2 and "99.2%" in reader.text(app)


@EACH_LANGUAGE
def test_the_answer_is_of_this_run(logits, lang):
    app = open_view(lang=lang, top_k=5)  # the question is about other settings than the reader's
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    warm = softmax(logits / 1.5)
    n = 1 + int((np.cumsum(np.sort(warm)[::-1]) < 0.9).sum())
    assert n == 3_285 and "3,285" in shown and f"{warm.max():.1%}" == "24.4%" and "24.4%" in shown


def test_seeds_draw_different_tokens_and_the_followed_one_has_its_arithmetic(logits):
    app = open_view(seed=7)
    line = next(part for part in reader.html(app) if "The seeds 7 to 16" in part)
    tokens = [part for part in line.split("The seeds")[1].split("tw-token")[1:]]
    assert len(tokens) == 10 and sum("Paris" in token for token in tokens) in range(4, 10)
    total = np.exp(logits - logits.max()).sum()
    assert f"/ {total:.4f} = 0.7725" in reader.text(app)


def test_files_hold_what_the_cards_show(logits, monkeypatch):
    saved = {}
    monkeypatch.setattr("pages.parts.charts.save", lambda *args: saved.update({args[0]: args[1:]}))
    open_view(top_p=0.9)
    head, rows = saved["sampling_stages"]
    assert head[0] == "stage" and {row[0] for row in rows} == {"logits", "top_p"}
    paris = next(row for row in rows if row[0] == "top_p")
    assert paris[1] == 10 and paris[4] == "␣Paris" and paris[6] == pytest.approx(logits.max())


@pytest.mark.parametrize("link", [{"cell": 999_999_999}, {"cell": "x"}, {"top_p": 5, "pos": 99}])
@pytest.mark.parametrize("prompt", ["the", "🙂\n\u202e<b>x</b>", "a a a a"])
def test_any_link_and_any_text_is_shown(prompt, link):
    app = open_view(model="nano", prompt=prompt, temperature=0.7, typical_p=0.5, **link)
    assert reader.verdict(app) == "equal" and app.session_state["cell"] is None
    assert not any("<b>x" in part for part in reader.html(app))


def test_chat_mode_shows_the_answer_to_come(smollm):
    app = open_view(mode="chat", prompt="What is the capital of France?", temperature=0.7)
    assert "␣Paris" not in str(charts(app)[0][0]["customdata"][0])
    assert len(cards(app)) == 2


@EACH_LANGUAGE
def test_a_temperature_too_small_for_the_scores_is_said(logits, lang):
    app = open_view(lang=lang, temperature=1e-308, cell=int(logits.argmax()))
    shown = reader.text(app)
    assert len(cards(app)) == 2
    said = lessons.text(lang, "sampling.stages.overflows")
    assert said in shown and "(z − max(z)) / T" in shown
    top = f"{logits.max():.4f}"
    assert f"({top} − {top}) / 1e-308 = 0.0000" in shown
    assert "49,152" in shown


@EACH_VIEW
def test_a_number_beyond_what_the_widgets_take_leaves_the_link(smollm, op):
    app = open_view(op=op, seed=2**53, max_new_tokens=401, top_k=1_000_001)
    for name in ("seed", "max_new_tokens", "top_k"):
        assert app.session_state[name] is None and name not in app.query_params
    app = open_view(op=op, seed=2**31, top_k=1_000_000)
    assert app.query_params["seed"] in ("2147483648", ["2147483648"])


@EACH_LANGUAGE
def test_settings_are_listed_as_the_language_does(smollm, lang):
    app = open_view(op="draw", lang=lang, min_p=0.1, top_k=5)
    names = [lessons.text(lang, f"settings.{name}") for name in ("top_k", "min_p")]
    assert lessons.text(lang, "settings.between").join(names) in reader.text(app)
