"""An app whose computer has no model but Nano and no network: every page, in a real browser.

Knows that a page without its model would be an offer to download; numbers are tested elsewhere.
"""

import json
from urllib.request import urlopen

import pytest
from playwright.sync_api import expect

import lessons
from pages.parts import journey
from tests.browser import harness
from tests.browser.test_main_path import place

NOWHERE = "http://127.0.0.1:9"  # a proxy that is not there
OFFLINE = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), NOWHERE)
OWN = "When Sam and Pat were in the park, Pat gave the red hat to"
DEEP = dict(prompt=OWN, op="attn.weights", layer=1, head=2, pos=3, cell=1, lang="zh", model="nano")


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The address of an app with an empty cache."""
    folder = tmp_path_factory.mktemp("alone")
    settings = OFFLINE | {"TOKENWALK_HOME": str(folder / "home"), "TOKENWALK_MODELS": ""}
    settings |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "NO_PROXY": "", "no_proxy": ""}
    with harness.server(folder / "log", **settings) as address:
        yield address


@pytest.fixture
def reader(visit, alone):
    """A tab of that app."""
    return visit(address=alone)


def test_a_link_is_the_very_first_request_of_a_server_and_leads_on_to_every_page(reader):
    """The first test of this server: nothing has been asked of it before."""
    reader.open("/block", **DEEP)
    assert reader.key("stepper").is_visible()
    assert reader.page.get_by_test_id("stSidebar").is_visible()
    assert "stop_tokens" in reader.page.locator(".st-key-journey").inner_html()
    first = place(reader)
    assert "attn.weights" in first[-1] and "(3)" in first[-1] and OWN in first
    assert place(reader.anew()) == first
    for name in journey.PLACES:
        reader.visit_stop(name)
        assert "model=nano" in reader.page.url
        assert reader.page.locator(".tw-notice.error").count() == 0
        assert reader.heading()
        if name in ("block", "output"):
            assert "✓ " + lessons.text("zh", "explain.equal") in reader.explanation()


def test_it_says_which_model_it_has(alone):
    with urlopen(f"{alone}/api/health", timeout=30) as answer:
        assert json.load(answer) == {"ok": True, "models": ["nano"]}


def test_a_page_without_views_as_the_first_one(reader):
    reader.open("/learning")
    assert reader.heading() and "model=nano" in reader.page.url
    assert reader.page.locator(".tw-notice.error").count() == 0


def test_one_click_to_smollm2_and_one_back(reader):
    reader.open("/tokens", prompt=OWN)  # a page as the first one, too
    assert reader.heading() and "model=nano" in reader.page.url
    assert reader.page.locator(".tw-notice.error").count() == 0
    with reader.rerun():
        reader.key("switch").get_by_text("SmolLM2").click()
    expect(reader.key("download")).to_be_visible()
    reader.expect_link("/tokens", without=("model=",))
    with reader.rerun():
        reader.key("nano").locator("button").click()
    expect(reader.chips("reading").first).to_be_visible()
    assert reader.key("prompt").locator("textarea").input_value() == OWN
    reader.expect_link("model=nano")


def test_a_download_that_finds_no_network_says_so_and_nano_stays(reader):
    reader.open("/block")
    assert reader.page.locator(".tw-notice.error").count() == 0
    with reader.rerun():
        reader.key("download").locator("button").click()
    said = reader.page.get_by_test_id("stSidebar").locator(".tw-notice.error")
    expect(said).to_have_count(1, timeout=60_000)
    reader.calm()
    assert "✓ " in reader.explanation() and "model=nano" in reader.page.url
    expect(reader.key("download")).to_be_visible()
