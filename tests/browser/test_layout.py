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
WIDE, NARROW = SIZE["width"], 820
LONG = "Supercalifragilistic " * 3 + "今天天气很好 <b>x</b> 🍕 https://example.org/" + "a" * 60
MATRICES = ("attn.q", "attn.k", "attn.v", "attn.out", "mlp.gate", "mlp.up", "mlp.out")

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


def assert_fits(reader):
    """Nothing sticks out once the figures have followed the size, and there was something."""
    deadline = time.monotonic() + 5
    while (found := reader.page.evaluate(TOO_WIDE))["out"] and time.monotonic() < deadline:
        reader.page.wait_for_timeout(100)
    assert found["out"] == [], reader.page.url
    assert found["looked"][0] > 10 and found["looked"][1] > 1, reader.page.url


def views_of(page):
    """The views of a page but its first, in their order; walking over all layers is none."""
    return [view for name, view in (v.split(".") for v in VIEWS) if name == page != "block"]


def look(reader, scheme, width):
    """Light or dark and a width of the window, in one: nothing sticks out there."""
    reader.page.emulate_media(color_scheme=scheme)
    reader.page.wait_for_function(harness.DARK, arg=scheme == "dark")
    reader.width(width)
    assert_fits(reader)


@pytest.mark.parametrize(
    "link, looks",
    [
        ({"lang": "en"}, [("light", WIDE), ("dark", NARROW)]),
        ({"lang": "zh", "prompt": LONG}, [("light", NARROW), ("dark", WIDE)]),
    ],
    ids=["en", "zh"],
)
def test_every_page_fits_light_and_dark_wide_and_narrow(reader, link, looks):
    """English with the usual text, Chinese with long words. Each page as the one before was left,
    so the looks go there and back.
    """
    reader.open("/", **link)
    for name in PATHS:
        if name != "start":
            reader.visit_stop(name)
            reader.expect_link(PATHS[name])
        for scheme, width in looks:
            look(reader, scheme, width)
        looks = looks[::-1]


@pytest.mark.parametrize("page", [name for name in PATHS if views_of(name)])
def test_every_view_fits_wide_and_narrow_also_with_long_words(reader, page):
    views, widths = views_of(page), [WIDE, NARROW]
    reader.open(PATHS[page], op=views[0], prompt=LONG)
    for view in views:
        if view != views[0]:
            with reader.rerun():
                reader.press("ArrowRight")
        reader.expect_link(f"{PATHS[page]}?", f"op={view}")
        for width in widths:
            reader.width(width)
            assert_fits(reader)
        widths.reverse()


def test_the_walk_over_all_layers_fits_also_with_long_words(reader):
    reader.open("/block", walk="layers", prompt=LONG)
    for width in (WIDE, NARROW):
        reader.width(width)
        assert_fits(reader)
    assert reader.key("stream_norms").is_visible() and "walk=layers" in reader.page.url


@pytest.fixture(scope="module")
def families(tmp_path_factory):
    """A server that offers tiny models: one with more ops than the default, one with fewer."""
    folder = tmp_path_factory.mktemp("families")
    models = [build_gguf(folder / f"{name}.gguf", name) for name in ("gemma2", "gpt2")]
    with harness.server(folder / "log", models) as address:
        yield address


GEMMA2 = ("attn.softcap", "attn.post_norm", "mlp.post_norm")  # its own steps
OTHERS = [
    ("gemma2", "zh", 23, GEMMA2, ("positions", "start", "block")),
    ("gpt2", "en", 16, (), ("block",)),
]


@pytest.mark.parametrize("model, language, n_steps, more, names", OTHERS)
def test_other_models_fit(visit, families, model, language, n_steps, more, names):
    """On a narrow screen, and so do the steps of the block that only they have."""
    reader = visit(address=families)
    reader.page.set_viewport_size({"width": NARROW, "height": SIZE["height"]})
    prompt = "the cat and the other cat"
    reader.open(PATHS[names[0]], model=model, lang=language, prompt=prompt)
    for name in names:
        if name != names[0]:
            reader.visit_stop(name)
        assert reader.page.locator(".tw-notice.error").count() == 0
        assert_fits(reader)
    assert reader.key("stepper").locator(".count").inner_text() == f"1 / {n_steps}"
    for op in more:
        reader.step(op)
        assert_fits(reader)
        assert f"op={op}" in reader.page.url


def test_every_op_fits_on_a_narrow_screen(reader):
    reader.page.set_viewport_size({"width": NARROW, "height": SIZE["height"]})
    reader.open("/block", lang="zh", prompt=LONG)
    for _ in range(19):
        with reader.rerun():
            reader.press("ArrowRight")
        assert_fits(reader)
    assert "op=resid_post" in reader.page.url


def test_every_matrix_fits_with_all_of_its_weights(reader):
    reader.page.set_viewport_size({"width": NARROW, "height": SIZE["height"]})
    reader.open("/block", lang="zh", model="nano")
    for op in MATRICES:
        reader.step(op)
        assert f"op={op}" in reader.page.url
        assert_fits(reader)
        assert reader.key(f"part_{op}_2").locator("canvas.base").count() == 1
