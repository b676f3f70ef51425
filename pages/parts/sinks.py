"""The block page asks: how many heads park on the first token? Answered from the current run."""

from core.analyse.heads import attention, n_sinks, sink_share
from pages.parts import html, lesson, run


def predict(trace, page, values: dict) -> None:
    """The question, and the count of this run behind a click."""

    def answer():
        last = run.compute(attention, trace).last
        return {"n_sink_heads": n_sinks(last), "sink_share": html.percent(sink_share(last))}

    lesson.predict(page, values, answer)
