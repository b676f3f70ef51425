"""With and without the cache on the page: nothing before the button, then curves, sums and a
verdict; what was measured stays; the answer measures for itself.
"""

import json

import pytest

import lessons
from core.analyse import withcache
from tests.pages import reader
from tests.pages.cachetables import number_list, rows

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
N_STEPS = 16


def open_view(**link):
    app = reader.open_page("cache", **{"op": "saved", "model": "nano"} | link)
    assert not app.exception and not reader.notices(app, "error")
    return app


def curves(app):
    """The y values of the curves."""
    drawn = json.loads(app.get("plotly_chart")[0].proto.spec)
    return [number_list(each["y"]) for each in drawn["data"]]


@EACH_LANGUAGE
def test_nothing_is_measured_before_the_button_and_all_of_it_after(lang):
    app = open_view(lang=lang, prompt="the cat and the other cat")
    assert reader.notices(app) == [lessons.text(lang, "cache.saved.press")]
    assert not app.get("plotly_chart") and reader.verdict(app) is None
    app.button(key="measure_saved").click().run()
    assert not app.exception and not reader.notices(app)
    cached, whole = curves(app)
    assert len(cached) == len(whole) == len(rows(app)) and min(*cached, *whole) > 0
    assert reader.verdict(app) == "equal"
    app.session_state["kind"], app.session_state["moved"] = "flops", True
    cached, whole = curves(app.run())
    assert cached[0] == whole[0] and all(a < b for a, b in zip(cached[1:], whole[1:], strict=True))
    assert whole[1:] == sorted(whole[1:]) and max(cached[1:]) < 1.5 * cached[1]
    app.button_group(key="view_cache").set_value("jobs").run()
    app.button_group(key="view_cache").set_value("saved").run()
    assert len(rows(app)) == len(cached), "what was measured is kept"


def test_what_was_done_by_a_stop_is_shown(monkeypatch):
    every = withcache.steps

    def three(*given):
        return (step for step in every(*given) if step.index < 3)

    monkeypatch.setattr(withcache, "steps", three)
    app = open_view(prompt="the cat and the other cat " * 4)
    app.button(key="measure_saved").click().run()
    (notice,) = reader.notices(app)
    assert notice.startswith("Stopped: 2 of") and len(rows(app)) == 3


@EACH_LANGUAGE
def test_where_both_ways_may_truly_differ_the_page_says_so(lang, monkeypatch):
    monkeypatch.setattr(withcache, "may_differ", lambda config: True)
    app = open_view(prompt="the cat", lang=lang)
    app.button(key="measure_saved").click().run()
    assert reader.notices(app)[-1] == lessons.text(lang, "cache.saved.may_differ")


def test_a_long_text_is_cut_and_its_own_tokens_are_the_steps(smollm, monkeypatch):
    given = []
    monkeypatch.setattr(withcache, "steps", lambda *asked: given.append(asked) or iter(()))
    app = open_view(model="smollm2-135m-instruct", prompt="word " * 150)
    app.button(key="measure_saved").click().run()
    (_, ids, n_steps, _), *_ = given
    assert (len(ids), n_steps) == (144, N_STEPS)
    said = lessons.text("en", "cache.saved.bounds", n_steps=16, n_prefill=128, longest=128)
    assert said in reader.text(app)


@EACH_LANGUAGE
@pytest.mark.parametrize("prompt", ["a", "\n", "🙂"])
def test_the_answer_measures_for_itself(prompt, lang):
    app = open_view(prompt=prompt, lang=lang)
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    assert not app.exception and " ms" in shown
    assert not reader.missing(app, lessons.view(lang, "cache.saved").reveal)
