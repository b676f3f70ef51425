"""The two jobs on the page: sums by formula at once, the roofline after the button, and what a
reader was asked answered by a measurement.
"""

import json

import pytest

import lessons
from core import RunSpec, run
from core.analyse import roofline, twojobs
from core.analyse.passcost import cost
from core.analyse.roofline import Limits
from core.analyse.twojobs import Jobs
from core.analyse.withcache import Pass
from pages.views.cache import units
from tests.pages import reader
from tests.pages.cachetables import number_list, rows

EACH_LANGUAGE = pytest.mark.parametrize("lang", lessons.LANGUAGES)
LIMITS = Limits((4e9,) * 3, (2e9,) * 3, 1.0)


def open_view(**link):
    app = reader.open_page("cache", **{"op": "jobs", "model": "nano"} | link)
    assert not app.exception and not reader.notices(app, "error")
    return app


@pytest.fixture
def measured(monkeypatch):
    """Limits and times that are known: a step takes 2 s, the long prefill 8."""
    monkeypatch.setattr(roofline, "measure", lambda: LIMITS)

    def jobs(trace):
        ids, longer = twojobs.texts(trace)
        each = [cost(trace.model, len(ids)), cost(trace.model, len(longer))]
        passes = [Pass(4.0, each[0]), Pass(8.0, each[1])]
        return Jobs(len(ids), len(longer), *passes, Pass(2.0, cost(trace.model, 1, len(ids))))

    monkeypatch.setattr(twojobs, "measure", jobs)


@EACH_LANGUAGE
def test_first_what_can_be_calculated_then_what_was_measured(lang, measured):
    app = open_view(lang=lang, prompt="the cat")
    assert reader.notices(app) == [lessons.text(lang, "cache.jobs.press")]
    assert not app.get("plotly_chart") and len(rows(app)) == 8
    ran = lessons.text(lang, "cache.jobs.not_run")
    assert [row[5] for row in rows(app)] == ["–"] * 8
    app.button(key="measure_jobs").click().run()
    assert not app.exception and not reader.notices(app)
    assert [row[5] for row in rows(app)] == ["2,000 ms", "4,000 ms", "8,000 ms"] + [ran] * 5
    data = json.loads(app.get("plotly_chart")[0].proto.spec)["data"]
    trace = run(RunSpec("nano", prompt="the cat"))
    step = cost(trace.model, 1, len(trace.ids))
    x, y = (number_list(data[2][axis])[0] for axis in "xy")
    assert (x, y) == (step.intensity, step.flops / 2.0)
    hollow = [each["marker"]["symbol"].endswith("open") for each in data[2:]]
    assert hollow == [False] * 3 + [True] * 5
    for each in data[5:]:
        x, y = (number_list(each[axis])[0] for axis in "xy")
        assert y == pytest.approx(min(4e9, 2e9 * x))
    assert all(part in reader.text(app) for part in ("4 GFLOP/s", "2 GB/s"))


def test_the_answer_measures_what_was_not_measured(measured):
    app = open_view(prompt="the cat")
    app.session_state["reveal"] = True
    shown = reader.text(app.run())
    assert "4 times as long: 8,000 ms against 2,000 ms" in shown
    app.session_state["reveal"] = False
    assert "8,000 ms" in [row[5] for row in rows(app.run())]


def test_a_single_token_and_real_measurements(smollm):
    app = open_view(model="smollm2-135m-instruct", prompt="a", lang="zh")
    app.button(key="measure_jobs").click().run()
    assert not app.exception
    speeds = [float(row[7].replace(",", "")) for row in rows(app)]
    assert min(speeds) > 0


def test_a_long_text_is_cut_and_that_is_said(smollm):
    app = open_view(model="smollm2-135m-instruct", prompt="word " * 520)
    n = len(smollm.tokenizer.encode("word " * 520))
    assert lessons.text("en", "cache.jobs.bounded", n=512, n_all=n) in reader.text(app)


@pytest.mark.parametrize(
    "shown, wanted",
    [
        (units.amount(999.4e6, "FLOP"), "999 MFLOP"),
        (units.amount(999.7e6, "FLOP"), "1 GFLOP"),
        (units.amount(999.7, "B/s"), "1 kB/s"),
        (units.amount(999.9e12, "FLOP"), "1 PFLOP"),
        (units.amount(12.34, "FLOP"), "12.3 FLOP"),
        (units.ms(0.9994), "999 ms"),
        (units.ms(0.9998), "1,000 ms"),
        (units.size(1023), "1,023 B"),
        (units.size(1024 * 1024 - 1), "1.0 MiB"),
        (units.size(46_080), "45.0 KiB"),
    ],
)
def test_what_rounds_to_the_next_unit_is_written_in_it(shown, wanted):
    assert shown == wanted
