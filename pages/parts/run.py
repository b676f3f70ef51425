"""From the controls to a trace: one call, behind a small semaphore, and a sentence where it cannot
be made.

Knows the session, the models on offer and core; shows errors, no figures.
"""

import threading

import streamlit as st

from core import ModelFileError, PromptError, RunSpec, open_model, run
from core.files import registry
from pages.parts import download, html, models, session, words
from pages.parts.words import text

LONGEST = 1_024  # tokens of a prompt in the web app; core's own limit is the model's context
COMPUTE = threading.BoundedSemaphore(2)  # passes at a time, each on one thread (see app.py)


def model_name() -> str:
    """The chosen model, as `open_model` takes it."""
    offered = models.available()
    return offered.get(st.session_state.get("model"), models.DEFAULT)


def title() -> str:
    """What the chosen model is called."""
    return models.title(st.session_state.get("model") or models.DEFAULT)


def model(heading=None):
    """The chosen model, opened. Where it is not on disk, the offer to download it; nothing below is
    run then. heading() shows the title that the page would otherwise not come to.
    """
    name = model_name()
    if models.can_be_fetched(name) and not registry.on_disk(name):
        (heading or (lambda: None))()
        download.offer(name)
        st.stop()
    try:
        with st.spinner(text("run.opening")), COMPUTE:
            return open_model(name)
    except ModelFileError as error:
        _refuse(error, heading)


def spec() -> RunSpec:
    """What the controls say."""
    prompt = session.prompt()
    if st.session_state.get("mode") == "chat":
        return RunSpec(model_name(), messages=[("user", prompt)])
    return RunSpec(model_name(), prompt=prompt)


def trace(heading=None):
    """The run of what the controls say; or a sentence that says why there is none, and the page
    ends there.
    """
    opened = model(heading)
    try:
        wanted = spec()
        _check_length(opened, wanted)
        with st.spinner(text("run.running")), COMPUTE:
            return run(wanted)
    except (ModelFileError, PromptError) as error:
        _refuse(error, heading)


def compute(function, *args):
    """Another computation on a trace, behind the same semaphore."""
    with COMPUTE:
        return function(*args)


def _check_length(opened, wanted):
    """The web app's own limit: a page of thousands of tokens would be slow for everybody."""
    prompt = wanted.prompt if wanted.prompt is not None else wanted.messages[0][1]
    n = len(opened.tokenizer.encode(prompt))
    if n == 0:
        raise PromptError("nothing_to_run")
    if n > LONGEST:
        raise PromptError("prompt_too_long", n_tokens=n, limit=LONGEST)


def _refuse(error, heading):
    (heading or (lambda: None))()
    notice(words.error(error), "error")
    st.stop()


def notice(sentence: str, kind: str = "note") -> None:
    """A sentence (HTML made by us) in a box: "note" or "error"."""
    role = "alert" if kind == "error" else "note"
    html.show(f'<div class="tw-notice {kind}" role="{role}">{sentence}</div>')
