"""Every page in every language, light and dark, wide and narrow: nothing sticks out.

Knows boxes and widths; knows no sentence.
"""

import time

import pytest

from tests.browser import harness
from tests.browser.conftest import SIZE
from tests.families import build_gguf
from tests.lessons.models import VIEWS
from tests.pages.reader import PAGES

PATHS = {"start": "/"} | {name: f"/{name}" for name in PAGES[1:]}
VIEWED = [view.split(".") for view in VIEWS]
LONG = "Supercalifragilistic " * 3 + "今天天气很好 <b>x</b> 🍕 https://example.org/" + "a" * 60

# What sticks out of the page, of its column or of its component; what scrolls inside may be wider.
TOO_WIDE = """() => {
  const right = (node) => node.getBoundingClientRect().right;
  const columns = "[data-testid=stColumn], [data-testid=stSidebar], [data-testid=stMain]";
  const ours = [...document.querySelectorAll("[class^=tw-], [class*=' tw-']")];
  const pairs = ours.filter((node) => !node.parentElement.closest(".tw-scroll"))
    .map((node) => [node, node.closest(columns) ?? document.documentElement]);
  // a figure inside a box that is shut takes its size when the box is opened
  const hosts = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")]
    .filter((host) => !host.closest("details:not([open])"));
  for (const host of hosts) {
    const drawn = host.shadowRoot.querySelectorAll("canvas, svg, button, .chip, .scrolls");
    const bound = [...drawn].filter((node) => !node.parentElement?.closest(".scrolls"));
    pairs.push(...bound.map((node) => [node, host]));
  }
  const out = pairs.map(([node, box]) => [node, Math.round(right(node) - right(box))])
    .filter(([, over]) => over > 1)
    .map(([node, over]) => `${node.tagName} ${node.getAttribute("class")} +${over}`);
  const wide = document.documentElement.scrollWidth - innerWidth;
  return {looked: [ours.length, hosts.length], out: wide > 1 ? [`page +${wide}`, ...out] : out};
}"""
BACKGROUND = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"


def assert_fits(reader):
    """Nothing sticks out once the figures have followed the size, and there was something."""
    deadline = time.monotonic() + 5
    while (found := reader.page.evaluate(TOO_WIDE))["out"] and time.monotonic() < deadline:
        reader.page.wait_for_timeout(100)
    assert found["out"] == []
    assert found["looked"][0] > 10 and found["looked"][1] > 1


@pytest.mark.parametrize("language, link", [("en", {}), ("zh", {"prompt": LONG})], ids=["en", "zh"])
@pytest.mark.parametrize("name", PATHS)
def test_a_page_fits_light_and_dark_wide_and_narrow(reader, name, language, link):
    """English with the usual text, Chinese with long words."""
    reader.open(PATHS[name], lang=language, **link)
    for width in (1440, 820):
        reader.page.set_viewport_size({"width": width, "height": SIZE["height"]})
        reader.calm()
        assert_fits(reader)
    light = reader.page.evaluate(BACKGROUND)
    reader.page.emulate_media(color_scheme="dark")
    reader.page.wait_for_function(f"light => {BACKGROUND} !== light", arg=light)  # really dark
    reader.calm()
    assert_fits(reader)


@pytest.mark.parametrize("page, view", VIEWED)
def test_a_view_fits_wide_and_narrow_also_with_long_words(reader, page, view):
    reader.open(PATHS[page], op=view, prompt=LONG)
    for width in (1440, 820):
        reader.page.set_viewport_size({"width": width, "height": SIZE["height"]})
        reader.calm()
        assert_fits(reader)


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    """A server that offers tiny models: one with more ops than the default, one with fewer."""
    folder = tmp_path_factory.mktemp("families")
    models = [build_gguf(folder / f"{name}.gguf", name) for name in ("gemma2", "gpt2")]
    with harness.server(folder / "log", models) as address:
        yield address


OTHERS = [("gemma2", "zh", 23, ("/", "/block", "/positions")), ("gpt2", "en", 16, ("/block",))]


@pytest.mark.parametrize("model, language, n_steps, paths", OTHERS)
def test_other_models_fit(visit, families, model, language, n_steps, paths):
    reader = visit(address=families)
    for path in paths:
        reader.open(path, model=model, lang=language, prompt="the cat and the other cat")
        assert reader.page.locator(".tw-notice.error").count() == 0
        for width in (1440, 820):
            reader.page.set_viewport_size({"width": width, "height": SIZE["height"]})
            reader.calm()
            assert_fits(reader)
        if path == "/block":
            assert reader.key("stepper").locator(".count").inner_text() == f"1 / {n_steps}"


def test_every_op_of_the_largest_block_fits_on_a_narrow_screen(visit, families):
    reader = visit(address=families)
    reader.page.set_viewport_size({"width": 820, "height": SIZE["height"]})
    reader.open("/block", model="gemma2", prompt="the cat and the other cat")
    for _ in range(22):
        with reader.rerun():
            reader.press("ArrowRight")
        assert_fits(reader)
    assert "op=resid_post" in reader.page.url


def test_every_op_fits_on_a_narrow_screen(reader):
    reader.page.set_viewport_size({"width": 820, "height": SIZE["height"]})
    reader.open("/block", lang="zh", prompt=LONG)
    for _ in range(19):
        with reader.rerun():
            reader.press("ArrowRight")
        assert_fits(reader)
    assert "op=resid_post" in reader.page.url


def test_every_op_fits_with_all_of_its_weights(reader):
    reader.page.set_viewport_size({"width": 820, "height": SIZE["height"]})
    reader.open("/block", lang="zh", model="nano")
    whole = 0
    for _ in range(19):
        with reader.rerun():
            reader.press("ArrowRight")
        assert_fits(reader)
        whole += reader.page.locator('[class*="st-key-part_"][class*="_2"] canvas.base').count()
    assert whole >= 7  # q, k, v, the projection, gate, up and down
