"""The offer to download a model that is not on disk, with progress and a way to stop. Knows core's
fetch.
"""

import streamlit as st

from core import ModelFileError
from core.files import registry
from core.files.fetch import fetch
from pages.parts import html, models, words
from pages.parts.words import text


def offer(name: str) -> None:
    """What is missing, how large it is, and a button; while it runs, a bar and a button that stops
    it.
    """
    entry = registry.MODELS[name]
    megabytes = round(entry.package_bytes / 1e6)
    sentence = words.html(
        "download.missing", name=entry.title, megabytes=megabytes, licence=entry.licence
    )
    html.show(f'<div class="tw-notice" role="note">{sentence}</div>')
    if not models.downloads_allowed():
        html.show(words.html("download.by_hand", name=name))
        return
    if st.button(text("download.start"), type="primary", key="download"):
        _run(name)


def _run(name):
    """Fetch in this script run: any click ends the run, and with it the download."""
    bar = st.progress(0.0, text("download.connecting"))
    st.button(text("download.stop"), key="stop_download")

    def progress(done, total):
        share = min(done / total, 1.0)
        bar.progress(
            share, text("download.progress", done=f"{done / 1e6:.0f}", total=f"{total / 1e6:.0f}")
        )

    try:
        fetch(name, progress)
    except ModelFileError as error:
        bar.empty()
        html.show(f'<div class="tw-notice error" role="alert">{words.error(error)}</div>')
        return
    st.rerun()
