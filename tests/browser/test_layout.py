"""Every page in every language, light and dark, wide and narrow: nothing sticks out, nothing has failed.

Knows boxes and widths; knows no sentence.
"""

import pytest

import lessons
from tests.browser.conftest import SIZE

PATHS = {"start": "/", "tokens": "/tokens", "block": "/block", "output": "/output"}
LONG = "Supercalifragilistic " * 3 + "今天天气很好 <b>x</b> 🍕 https://example.org/" + "a" * 60

# What sticks out of the page or of its column; what scrolls inside may be wider.
TOO_WIDE = """() => {
  const found = [], root = document.documentElement;
  if (root.scrollWidth > innerWidth + 1) found.push(`page ${root.scrollWidth}`);
  const scrolls = (node) => node && (/auto|scroll/.test(getComputedStyle(node).overflowX)
    || scrolls(node.parentElement?.closest(".tw-scroll, [class*=st-key]")));
  for (const node of document.querySelectorAll("[class^=tw-], [class*=' tw-']")) {
    const column = node.closest("[data-testid=stColumn], [data-testid=stSidebar], [data-testid=stMain]");
    const inside = node.parentElement.closest(".tw-scroll");
    const over = node.getBoundingClientRect().right - (column?.getBoundingClientRect().right ?? innerWidth);
    if (over > 1 && !inside) found.push(`${node.className} +${Math.round(over)}`);
  }
  for (const host of document.querySelectorAll("[data-testid=stBidiComponentIsolated], [data-testid^=stBidi] *")) {
    for (const node of host.shadowRoot?.querySelectorAll("canvas, svg, button, .chip") ?? []) {
      const over = node.getBoundingClientRect().right - host.getBoundingClientRect().right;
      if (over > 1) found.push(`${node.tagName} ${node.getAttribute("class")} +${Math.round(over)}`);
    }
  }
  return found;
}"""
BACKGROUND = "getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"


def assert_fits(reader):
    assert reader.page.evaluate(TOO_WIDE) == []
    failed = "[data-testid=stException], [data-testid=stAlertContentError]"
    assert reader.page.locator(failed).count() == 0


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("name", PATHS)
def test_a_page_fits_light_and_dark_wide_and_narrow(reader, name, language):
    reader.open(PATHS[name], lang=language)
    seen = []
    for scheme in ("light", "dark"):
        reader.page.emulate_media(color_scheme=scheme)
        for width in (1440, 820):
            reader.page.set_viewport_size({"width": width, "height": SIZE["height"]})
            reader.calm()
            assert_fits(reader)
        seen.append(reader.page.evaluate(BACKGROUND))
    assert seen[0] != seen[1]  # dark is really dark


@pytest.mark.parametrize("name", PATHS)
def test_long_words_fit_too(reader, name):
    reader.page.set_viewport_size({"width": 820, "height": SIZE["height"]})
    reader.open(PATHS[name], prompt=LONG)
    assert_fits(reader)


def test_every_op_fits_on_a_narrow_screen(reader):
    reader.page.set_viewport_size({"width": 820, "height": SIZE["height"]})
    reader.open("/block", lang="zh", prompt=LONG)
    for _ in range(19):
        with reader.rerun():
            reader.press("ArrowRight")
        assert_fits(reader)
    assert "op=resid_post" in reader.page.url
