"""The offer to download a model that is not on disk, with progress and a way to stop; meanwhile
there is Nano.

Knows core's fetches: they run beside the pages, so that no click ends them and all visitors see the
same one.
"""

import streamlit as st

from core.errors import PYTHON
from core.files import background, registry
from pages.parts import html, models, presets, words
from pages.parts.words import text

LOOK_SECONDS = 0.5  # between two looks at how it stands


def offer(name: str) -> None:
    """What is missing, how large it is, and a button; while a download runs, a bar and a button
    that stops it; after one that failed or was stopped, why.
    """
    _explain(registry.MODELS[name])
    if models.downloads_allowed():
        _state(name)
    else:
        html.show(words.html("download.by_hand", name=name, python=PYTHON))
    html.show(words.html("download.meanwhile"))
    st.button(text("download.nano"), key="nano", on_click=presets.to_model, args=(models.NANO,))


def aside(name: str) -> None:
    """The same offer in a corner, while the pages show another model: one line and a button, or the
    bar. Nothing is drawn again by itself until a download runs.
    """
    if registry.on_disk(name):
        if _watched(name):
            html.show(f'<p class="tw-hint">{words.html("download.arrived")}</p>')
    elif background.under_way(name):
        _watch(name)
    elif models.downloads_allowed():
        _say_why_it_ended(name)
        megabytes = round(registry.MODELS[name].package_bytes / 1e6)
        label = text("download.aside", megabytes=megabytes)
        st.button(label, key="download", on_click=_start, args=(name,))


def _explain(entry):
    values = {"megabytes": round(entry.package_bytes / 1e6), "licence": entry.licence}
    _notice("note", words.html("download.missing", name=entry.title, **values))


@st.fragment(run_every=LOOK_SECONDS)
def _watch(name):
    """The bar until the download has ended."""
    if download := background.under_way(name):
        _bar(download)
    else:
        st.rerun()  # all of the page: somebody says how it ended


@st.fragment(run_every=LOOK_SECONDS)
def _state(name):
    """Drawn again by itself, for another visitor may begin or stop the download."""
    if download := background.under_way(name):
        _bar(download)
    elif registry.on_disk(name):
        st.rerun()  # all of the page: it has its model now
    else:
        _say_why_it_ended(name)
        options = {"on_click": _start, "args": (name,)}
        st.button(text("download.start"), type="primary", key="download", **options)


def _start(name):
    st.session_state["watched_download"] = background.start(name)


def _bar(download):
    st.session_state["watched_download"] = download
    if download.progress is None:
        st.progress(0.0, text("download.connecting"))
    else:
        done, total = download.progress
        values = {"done": f"{done / 1e6:.0f}", "total": f"{total / 1e6:.0f}"}
        st.progress(min(done / total, 1.0), text("download.progress", **values))
    st.button(text("download.stop"), key="stop_download", on_click=download.stop)


def _say_why_it_ended(name):
    """The end of the download that this visitor saw last, unless it was a good one."""
    download = _watched(name)
    if download and download.error:
        kind = "note" if download.error.code == "fetch_stopped" else "error"
        _notice(kind, words.error(download.error))


def _watched(name):
    """The download of this model that the visitor saw last, or None."""
    download = st.session_state.get("watched_download")
    return download if download and download.name == name else None


def _notice(kind, sentence):
    role = "alert" if kind == "error" else "note"
    html.show(f'<div class="tw-notice {kind}" role="{role}">{sentence}</div>')
