"""A server of our own and a reader in Chromium who notes everything that goes wrong.

Knows ports, processes, Streamlit's marks on a page and our own; knows no page by its content.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlencode, urlparse
from urllib.request import urlopen

from playwright.sync_api import TimeoutError as NotYet
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
LOCAL = ("127.0.0.1", "localhost")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
LOOK = 50  # milliseconds between two looks at a page: at every frame, they take a part of its time
# A deep page looks for its base path with two requests that fail.
HARMLESS = re.compile(
    r"/(tokens|embedding|block|positions|output|sampling|loop|cache|atlas|lens|learning)/_stcore/(health|host-config)$"
)

# Counts the script runs that ended, by their last message (`session_status_changed`, two bytes):
# the mark on the page can change and change back between two looks. Notes when the page changed.
WATCH = """
window.walk = {ended: 0, bytes: 0, changed: performance.now()};
window.WebSocket = new Proxy(WebSocket, {construct(target, args) {
  const socket = new target(...args);
  socket.addEventListener("message", ({data}) => {
    const start = new Uint8Array(data, 0, 2);
    walk.bytes += data.byteLength;
    walk.ended += data.byteLength === 2 && start[0] === 0x4a && start[1] === 0;
  });
  return socket;
}});
// What shimmers while a page loads is drawn by the processor here: up to a third of an opening.
const still = new CSSStyleSheet();
still.replaceSync("[data-testid=stSkeleton] { animation: none !important; }");
document.adoptedStyleSheets = [still];
const watch = (root) => new MutationObserver(() => { walk.changed = performance.now(); }).observe(
  root, {subtree: true, childList: true, attributes: true, characterData: true});
watch(document);
// The inside of a component is a tree of its own.
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (...args) {
  const root = attach.apply(this, args);
  watch(root);
  return root;
};
"""
# Whether the page is dark, as its background says.
DARK = """dark => {
  const app = getComputedStyle(document.querySelector("[data-testid=stApp]"));
  const [r, g, b] = app.backgroundColor.match(/\\d+/g).map(Number);
  return (r + g + b < 384) === dark;
}"""
CALM = """quiet => {
  const app = document.querySelector("[data-testid=stApp]");
  return app?.dataset.testScriptState === "notRunning"
    && app.dataset.testConnectionState === "CONNECTED" && walk.ended > 0
    && !document.querySelector("[data-testid=stSkeleton], [data-testid=stAppSkeleton]")
    && !document.querySelector("[data-stale=true]")
    && [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")].every(
      (host) => host.shadowRoot?.querySelector("canvas, svg, button, [role=option]"))
    && [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")].every(
      (host) => !host.shadowRoot.querySelector(".box.running"))
    && performance.now() - walk.changed > quiet;
}"""


def chromium() -> str | None:
    """Where the browser is, or None."""
    names = "chromium-headless-shell", "chromium", "chromium-browser"
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def server(log: Path, models=(), **settings):
    """The address of an app of our own, started as a reader would, ended when the block is left.

    models: paths that it offers beside the default model. settings: of its environment.
    """
    port = _free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    options = ["--server.port", str(port), "--server.address", "127.0.0.1"]
    offered = {"TOKENWALK_MODELS": os.pathsep.join(map(str, models))} if models else {}
    with log.open("wb") as out:
        process = subprocess.Popen(
            command + options,
            cwd=ROOT,
            env=os.environ | offered | settings,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_healthy(address, process, log)
        yield address
    finally:
        _end(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_healthy(address, process, log):
    for _ in range(600):
        assert process.poll() is None, log.read_text(errors="replace")
        try:
            with urlopen(f"{address}/api/health", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise AssertionError(f"{address} does not answer: {log.read_text(errors='replace')}")


def _end(process):
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Reader:
    """One browser tab, with what went wrong in it."""

    def __init__(self, context, address: str):
        self.address, self.page = address, context.new_page()
        self.errors: list[str] = []
        self.n_tests = 0
        self.hosts: set[str] = set()
        self.page.set_default_timeout(30_000)
        self.page.add_init_script(WATCH)
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.errors.append(f"page error: {error}"))
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.on("websocket", lambda socket: self._asked(socket.url))
        self.page.on("response", self._answered)

    def _heard(self, message):
        if message.type == "error" and not HARMLESS.search(message.location.get("url", "")):
            self.errors.append(f"console: {message.text} ({message.location.get('url')})")

    def _asked(self, url):
        if host := urlparse(url).hostname:  # data: and blob: have none
            self.hosts.add(host)

    def _answered(self, response):
        if response.status >= 400 and not HARMLESS.search(response.url):
            self.errors.append(f"{response.status}: {response.url}")

    def assert_clean(self):
        """No error so far, no box that speaks of one, and nothing was asked of another computer."""
        assert self.page.locator("[data-testid=stException]").count() == 0
        assert self.errors == []
        assert self.hosts <= set(LOCAL)

    def close(self):
        """Close the tab, once, if it is clean."""
        if not self.page.is_closed():
            self.assert_clean()
            self.page.close()

    def rest(self):
        """Leave the app, if the tab is clean, and forget all that was set: for another test. A tab
        that has shown the app shows it again in half the time.
        """
        self.assert_clean()
        self.page.evaluate("sessionStorage.clear()")
        self.page.goto("about:blank")
        self.page.emulate_media(color_scheme="null", reduced_motion="null")
        self.hosts.clear()

    # ---- going and waiting -----------------------------------------------------------------------

    def open(self, path: str = "/", /, **link):
        """Go to a page of the app with these values in its link, and wait until it is there."""
        self.page.goto(self.address + path + ("?" + urlencode(link) if link else ""))
        return self.calm()

    def anew(self):
        """This address as somebody else sees it: nothing that this tab remembers goes along."""
        link = self.page.url
        self.rest()
        self.page.goto(link)
        return self.calm()

    def calm(self, quiet: float = 250, timeout: float = 60_000):
        """Wait until the script has ended and nothing on the page has changed for `quiet` ms."""
        self.page.wait_for_function(CALM, arg=quiet, timeout=timeout, polling=LOOK)
        return self

    @contextmanager
    def rerun(self):
        """What is done in this block makes the page run: leave it when that run has been shown.

        A component reports a choice some 100 ms after it shows it. So what was done before comes to
        rest first, or its run would pass for this one; a page that never rests is not waited for.
        """
        with suppress(NotYet):
            self.calm(150, timeout=3_000)
        before = self.page.evaluate("walk.ended")
        yield
        self.page.wait_for_function("before => walk.ended > before", arg=before, polling=LOOK)
        self.calm()

    def expect_link(self, *parts: str, without: tuple[str, ...] = ()):
        """Wait until the address has these parts and none of those."""
        wanted = [f"(?=.*{re.escape(part)})" for part in parts]
        wanted += [f"(?!.*{re.escape(part)})" for part in without]
        expect(self.page).to_have_url(re.compile("^" + "".join(wanted)))

    def scheme(self, name: str):
        """Light or dark, once the page has become so. A figure follows half a second later."""
        self.page.emulate_media(color_scheme=name)
        self.page.wait_for_function(DARK, arg=name == "dark")
        return self.calm()

    def width(self, pixels: int):
        """Another width of the window, once the page has followed."""
        self.page.set_viewport_size({"width": pixels, "height": self.page.viewport_size["height"]})
        return self.calm()

    def visit_stop(self, name: str):
        """Go to another page by the journey in the sidebar: nothing is loaded anew."""
        with self.rerun():
            self.key(f"stop_{name}").locator("a").click()

    def step(self, op: str):
        """Go to another step of the block, by its box in the diagram: no page is loaded anew."""
        with self.rerun():
            self.key("diagram").locator(f'[data-id="{op}"]').click()

    # ---- what is on the page ---------------------------------------------------------------------

    def key(self, key: str):
        """The widget or container of this key."""
        return self.page.locator(f".st-key-{key.replace('.', '-')}").first

    def explanation(self) -> str:
        """The text of "explain this number"."""
        return self.key("explain").inner_text()

    def heading(self) -> str:
        """The page's question."""
        return self.page.locator("h1.tw-title").inner_text()

    def chips(self, key: str):
        """The tokens of the strip of this key."""
        return self.key(key).locator(".chip")

    def write(self, prompt: str):
        """Another prompt, committed as a reader does it."""
        box = self.key("prompt").locator("textarea")
        with self.rerun():
            box.fill(prompt)
            box.press("Control+Enter")

    def press(self, *keys: str):
        """Press keys where no figure or box has the focus."""
        self.page.evaluate("document.activeElement?.blur()")
        for key in keys:
            self.page.keyboard.press(key)
