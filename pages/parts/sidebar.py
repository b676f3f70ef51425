"""The sidebar: model, prompt, plain or chat, layer and head, language, the link. Knows widgets and
the session.
"""

import streamlit as st

import lessons
from core.analyse.pieces import holds_marker
from pages import canvas
from pages.parts import download, html, keep, models, presets, run, session, unknown, words
from pages.parts.words import text


def show(page: str, opened) -> None:
    """All controls. The start page has the prompt itself; only pages about one head have
    layer and head.

    opened: the chosen model, or None where it cannot be opened.
    """
    with st.sidebar:
        html.show(f'<div class="tw-name">{words.html("app.name")}</div>')
        html.show(f'<div class="tw-tagline">{words.html("app.tagline")}</div>')
        _model(opened)
        if page != "start":
            prompt_box(height=110)
            presets.chips("side")
        if opened and page not in ("start", "tokens"):  # which say it beside the text
            _unknown(opened.tokenizer)
        mode(opened)
        if opened:
            _control(opened.tokenizer)
        if opened and page in ("block", "positions", "cache", "atlas"):
            _layer_and_head(opened.config)
        _language()
        labels = words.table("link", "copy", "copied") | {"lang": text("lang_code")}
        canvas.copy_link(labels, key="copy_link")
        if opened:
            keep.page(page, opened)
        if not session.linkable():
            n = f"{session.LONGEST_LINKED:,}"
            html.show(f'<p class="tw-hint">{words.html("link.too_long", n=n)}</p>')
        html.show(f'<p class="tw-promise">✓ {words.html("app.promise")}</p>')


def _model(opened):
    """The switch between SmolLM2 and Nano, one click each way, and a list where there are more."""
    names, chosen = list(models.available()), st.session_state["model"]
    pair = [models.DEFAULT, models.NANO]
    _choice("switch", st.segmented_control, text("sidebar.model"), pair, models.short)
    if len(names) > len(pair):
        _choice("list", st.selectbox, text("sidebar.models"), names, models.title)
    if opened:
        n_weights = f"{opened.weights.nbytes // 4:,}"
        html.show(f'<p class="tw-hint">{words.html("sidebar.weights", n=n_weights)}</p>')
    asked = session.get("asked_model")
    if asked and asked not in names:
        shown = models.title(chosen)
        run.notice(words.html("sidebar.bad_model", asked=asked[:60], shown=shown), "error")
    if chosen != models.DEFAULT:
        download.aside(models.DEFAULT)


def _choice(key, widget, label, names, called):
    """A widget that shows the chosen model, if it is among these names, and chooses another."""

    def changed():
        if name := st.session_state[key]:  # None: the chosen one was clicked again
            presets.to_model(name)

    chosen = st.session_state["model"]
    st.session_state[key] = chosen if chosen in names else None
    widget(label, names, key=key, format_func=called, on_change=changed)


def prompt_box(height: int) -> None:
    """The one prompt of the app: here in the sidebar, on the first page in the middle."""

    def typed():
        session.set_prompt(st.session_state["prompt"])

    st.session_state["prompt"] = session.prompt()
    st.text_area(text("sidebar.prompt"), key="prompt", height=height, on_change=typed)


def mode(opened) -> None:
    """Whether the prompt is run as it is or inside the chat template, where the model has one."""
    if opened and opened.tokenizer.template is None:
        session.settle(mode="plain")
        html.show(f'<p class="tw-hint">{words.html("sidebar.no_chat")}</p>')
        return
    st.segmented_control(
        text("sidebar.mode"),
        ["plain", "chat"],
        required=True,
        format_func=lambda name: text(f"sidebar.{name}"),
        key="mode",
        on_change=session.forget_place,
    )


def _unknown(tokenizer):
    """What of the text the model has no token for."""
    for sentence in unknown.sentences(tokenizer):
        html.show(f'<p class="tw-hint">{sentence}</p>')


def _control(tokenizer):
    """Where the text names control tokens: whether these names become the tokens."""
    if not holds_marker(tokenizer, session.prompt()):
        return session.settle(control=False)

    def switched():
        session.put(control=st.session_state["markers"])
        session.forget_place()

    st.session_state["markers"] = session.get("control")
    label, why = text("sidebar.control"), text("sidebar.control_help")
    st.toggle(label, key="markers", on_change=switched, help=why)


def _layer_and_head(config):
    layer, head = session.layer_and_head(config)
    left, right = st.columns(2)
    with left:
        _number("layer", layer, config.n_layers - 1, text("sidebar.layer_keys"))
    with right:
        _number("head", head, config.n_heads - 1)
    if config.group > 1:
        kv_head = head // config.group
        html.show(f'<p class="tw-hint">{words.html("sidebar.reads", kv_head=kv_head)}</p>')


def _number(name, value, last, keys=None):
    """A box for a number from 0 to `last`."""

    def changed():
        session.put(**{f"at_{name}": st.session_state[name]})

    st.session_state[name] = value
    label = text(f"sidebar.{name}", last=last)
    st.number_input(label, 0, last, key=name, on_change=changed, help=keys)


def _language():
    st.segmented_control(
        text("sidebar.language"),
        lessons.LANGUAGES,
        required=True,
        format_func=lambda name: lessons.text(name, "language"),
        key="lang",
    )
