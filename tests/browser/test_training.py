"""The page of the training in a browser: it fits, arrow keys and points choose a moment.

Knows boxes, keys and the address; what is measured is tested elsewhere.
"""

import re

import pytest
from playwright.sync_api import expect

from core import open_model
from core.analyse import learning
from tests.browser.conftest import SIZE
from tests.browser.test_layout import look


@pytest.fixture(scope="module")
def steps():
    """How many steps of training came before each moment."""
    return [c.step for c in learning.training(open_model("nano")).checkpoints]


def test_it_fits_light_and_dark_wide_and_narrow_and_arrow_keys_walk_through_it(reader, steps):
    """With a long text, in Chinese. Back finds each moment, a click as well; the door opens the
    same head of the whole model.
    """
    long, cell = "The hat of Ben is red. " * 8, 6  # layer 1, head 2
    reader.open("/learning", model="nano", prompt=long, lang="zh", cell=cell)
    for scheme, width in (("dark", 820), ("light", SIZE["width"])):
        look(reader, scheme, width)
    walk_through(reader, steps)
    with reader.rerun():
        reader.key("open_block").locator("button").click()
    expect(reader.page).to_have_url(re.compile("/block"))
    assert "op=attn.weights" in reader.page.url and "model=nano" in reader.page.url
    assert reader.key("layer").locator("input").input_value() == "1"
    assert reader.key("head").locator("input").input_value() == "2"


def walk_through(reader, steps):
    """By keys to the last moment, one back, and by a click on a point to another."""
    count = reader.key("walk_training").locator(".count")
    for n in range(1, len(steps)):
        reader.press("ArrowRight")
        expect(reader.page.locator(".tw-moments .here h4")).to_contain_text(f"{steps[n]:,}")
        reader.calm()
        assert count.inner_text() == f"{n + 1} / {len(steps)}"
        assert f"op=step-{steps[n]}" in reader.page.url
    reader.page.go_back()
    expect(reader.page.locator(".tw-moments .here h4")).to_contain_text(f"{steps[-2]:,}")
    reader.calm()
    points = reader.key("training_loss").locator(".points path")
    expect(points).to_have_count(len(steps))
    with reader.rerun():
        points.nth(3).click(force=True)
    expect(reader.page.locator(".tw-moments .here h4")).to_contain_text(f"{steps[3]:,}")
    reader.expect_link(f"op=step-{steps[3]}")
