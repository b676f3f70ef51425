"""The web app: `streamlit run app.py`. Routes, security headers and the warm-up; no maths, no
prose.

The main script is pages/frame.py, so that a folder called `pages` beside this file is not taken for
Streamlit's legacy multipage mode by the first visitor who opens a deep link.
"""

import contextlib
import gc
import os
import threading

# One thread per matrix product, set before NumPy is imported: two products side by side beat two
# threads in one that wait for each other (and for the browser, on a laptop of two cores). The heavy
# ones of a long text are cut into a product for each core (core/model/parts.py).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("TOKENWALK_CORES", str(os.cpu_count() or 1))

import streamlit as st
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' blob:; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self'; worker-src 'self' blob:; object-src 'none'; base-uri 'self'; "
    "frame-ancestors 'self'"
)
HEADERS = {
    b"content-security-policy": CONTENT_SECURITY_POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
}


class SecurityHeaders:
    """Adds HEADERS to every answer over HTTP."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        """Pass the request on; put the headers into the first part of the answer."""

        async def send_with_headers(message):
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                extra = [(name, value) for name, value in HEADERS.items() if name not in present]
                message = {**message, "headers": [*message["headers"], *extra]}
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


async def health(request):
    """Whether the server answers, and which models are on disk."""
    from core.files import registry

    return JSONResponse({"ok": True, "models": [n for n in registry.MODELS if registry.on_disk(n)]})


async def script(request):
    """The script of a browser component. Its name changes with its text, so it is kept for good."""
    from pages.canvas.scripts import SCRIPTS

    text = SCRIPTS.get(request.path_params["file"])
    if text is None:
        return Response(status_code=404)
    kept = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(text, media_type="text/javascript", headers=kept)


async def written(request):
    """What comes of a text that a figure follows. 204 tells the browser to ask no more."""
    from pages.parts import following

    name, said = request.path_params["ticket"], request.headers.get("last-event-id")
    first = said or request.query_params.get("first", "")
    if not first.isdecimal() or following.ticket(name) is None:
        return Response(status_code=204)
    live = {"cache-control": "no-store", "x-accel-buffering": "no"}
    stream = following.stream(name, int(first))
    return StreamingResponse(stream, media_type="text/event-stream", headers=live)


def warm_up():
    """Import what is heavy, open the model that a visitor sees first, and take all that out of
    garbage collection.

    Streamlit collects garbage after every run; with everything loaded that takes over 50 ms, unless
    it is frozen.
    """
    import pandas  # noqa: F401
    import plotly.graph_objects as go
    import pyarrow  # noqa: F401

    from core import ModelFileError, open_model
    from pages.parts import models

    go.Figure(go.Bar(x=[1], y=[1])).to_json()
    first, *_ = models.available().values()
    with contextlib.suppress(ModelFileError):  # damaged, or taken away: the pages say so
        open_model(first)
    gc.collect()
    gc.freeze()


@contextlib.asynccontextmanager
async def lifespan(app):
    """Warm up in a thread while the server already answers."""
    from core.files import background

    threading.Thread(target=warm_up, daemon=True).start()
    yield {}
    background.stop_all()  # a download under way leaves nothing behind


app = st.App(
    "pages/frame.py",
    routes=[
        Route("/api/health", health),
        Route("/canvas/{file}", script),
        Route("/written/{ticket}", written),
    ],
    middleware=[Middleware(SecurityHeaders)],
    lifespan=lifespan,
)
