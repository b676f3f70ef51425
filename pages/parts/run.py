"""From the controls to a trace: one call, behind a small semaphore, and a sentence where it cannot
be made.

Knows the session, the models on offer and core; shows errors, no figures.
"""

import threading

import streamlit as st

from core import ModelFileError, RunSpec, open_model, run
from core.analyse.finite import check_stream
from core.errors import PromptError, TokenwalkError
from core.files import registry
from pages.parts import download, html, models, session, words
from pages.parts.words import text

LONGEST = 1_024  # tokens of a prompt in the web app; core's own limit is the model's context
COMPUTE = threading.BoundedSemaphore(2)  # passes at a time, each on one thread (see app.py)


def model_name() -> str:
    """The chosen model, as `open_model` takes it."""
    return models.opened_as(st.session_state.get("model"))


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
        return _open(name)
    except ModelFileError as error:
        _refuse(error, heading)


def model_if_there():
    """The chosen model for what stands around a page; None where the page will say why it cannot be
    opened.
    """
    name = model_name()
    if name in registry.MODELS and not registry.on_disk(name):
        return None
    try:
        return _open(name)
    except ModelFileError:
        return None


def _open(name):
    with st.spinner(text("run.opening")), COMPUTE:
        return open_model(name)


def spec(prompt: str | None = None) -> RunSpec:
    """What the controls say; of another text than the reader's, if one is given."""
    prompt = session.prompt() if prompt is None else prompt
    control = bool(session.get("control"))
    if st.session_state.get("mode") == "chat":
        return RunSpec(model_name(), messages=[("user", prompt)], control=control)
    return RunSpec(model_name(), prompt=prompt, control=control)


def trace(heading=None, numbers: bool = True, how=run):
    """The run of what the controls say; or a sentence that says why there is none, and the page
    ends there. numbers: whether the page shows computed ones, which must be finite then. how: what
    makes the trace of a spec, where the page needs more of the same pass.
    """
    opened = model(heading)
    try:
        wanted = spec()
        _check_length(opened, wanted)
        with st.spinner(text("run.running")), COMPUTE:
            done = how(wanted)
            if numbers:
                check_stream(done)
            return done
    except TokenwalkError as error:
        _refuse(error, heading)


def another(prompt: str):
    """The run of another text under the same controls. TokenwalkError where there is none: for the
    caller to say, since the page has its own run to show.
    """
    opened, wanted = model(), spec(prompt)
    _check_length(opened, wanted)
    with st.spinner(text("run.running")), COMPUTE:
        done = run(wanted)
        check_stream(done)
        return done


def compute(function, *args, heading=None):
    """Another computation on a trace, behind the same semaphore; a sentence where it has none to
    give, and the page ends there. heading() makes room for the sentence.
    """
    try:
        with COMPUTE:
            return function(*args)
    except TokenwalkError as error:
        _refuse(error, heading)


def _check_length(opened, wanted):
    """The web app's own limit: a page of thousands of tokens would be slow for everybody."""
    prompt = wanted.prompt if wanted.prompt is not None else wanted.messages[0][1]
    n = len(opened.tokenizer.encode(prompt, wanted.control))
    if n == 0:
        raise PromptError("nothing_to_run")
    if n > LONGEST:
        raise PromptError("prompt_too_long", n_tokens=n, limit=LONGEST)


def _refuse(error, heading=None):
    (heading or (lambda: None))()
    notice(words.error(error), "error")
    st.stop()


def notice(sentence: str, kind: str = "note") -> None:
    """A sentence (HTML made by us) in a box: "note" or "error"."""
    role = "alert" if kind == "error" else "note"
    html.show(f'<div class="tw-notice {kind}" role="{role}">{sentence}</div>')
