"""One server, one browser and one context for all browser tests.

Every tab is checked when its test ends. Skips where there is no Chromium; fails there under CI.
"""

import os

import pytest

from tests.browser import harness

MOST_TESTS = 12  # in one tab, whose memory grows with each
SIZE = {"width": 1440, "height": 900}


@pytest.fixture(scope="session")
def server(smollm, tmp_path_factory):
    """The address of a running app."""
    with harness.server(tmp_path_factory.mktemp("server") / "log") as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    """Chromium, headless, for which no name but this computer's exists."""
    found = harness.chromium()
    if found is None:
        say = pytest.fail if os.environ.get("CI") else pytest.skip
        say("there is no chromium on PATH; on Debian: apt install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=harness.FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def context(browser):
    """A profile that all tests share: scripts of the app are loaded once."""
    made = browser.new_context(viewport=SIZE)
    yield made
    made.close()


@pytest.fixture(scope="session")
def resting():
    """Tabs of the shared context that no test uses now."""
    return []


@pytest.fixture
def visit(context, server, resting):
    """Opens tabs; at the end none of them may have seen an error or asked another computer."""
    tabs = []

    def new(context=context, address=server):
        again = resting and context is shared
        tabs.append(resting.pop() if again else harness.Reader(context, address))
        tabs[-1].address = address
        tabs[-1].page.set_viewport_size(SIZE)
        return tabs[-1]

    shared = context
    yield new
    for tab in tabs:
        tab.n_tests += 1
        if tab.page.is_closed() or tab.page.context is not shared or tab.n_tests > MOST_TESTS:
            tab.close()
        else:
            tab.rest()
            resting.append(tab)


@pytest.fixture
def reader(visit):
    """A tab of the shared context."""
    return visit()
