"""Pointing at a term of a sum: in its list, and in the pictures of what it is made of."""

import pytest

from tests import nano_shape
from tests.browser import harness


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A server that offers a model whose matrices are shown whole."""
    folder = tmp_path_factory.mktemp("small")
    with harness.server(folder / "log", [nano_shape.build(folder / "small")]) as address:
        yield address


@pytest.fixture
def block(visit, small):
    """The block page of that model, at the queries of head 3."""
    reader = visit(address=small)
    link = dict(model="small", prompt=nano_shape.PROMPT, layer=1, head=3, cell=0)
    return reader.open("/block", op="attn.q", **link)


def here(reader):
    """The number of the term that stands out in the list."""
    return int(reader.key("terms").locator(".tw-here").get_attribute("data-row"))


def picture(reader, op):
    """The whole matrix of an op, and where its cells lie on it."""
    canvas = reader.key(f"part_{op}_2").locator("canvas.over")
    width = canvas.bounding_box()["width"]
    left = 92  # the row names; 3 pixels of margin
    return canvas, lambda row, column, height=320 / 48: {
        "x": left + (width - left - 3) / 48 * (column + 0.5),
        "y": 21 + height * (row + 0.5),
    }


def test_a_click_on_a_term_or_a_cell_points_at_it_and_the_list_stays_where_it_is(block):
    terms = block.key("terms")
    row = terms.locator("tr[data-row]").nth(40)
    row.scroll_into_view_if_needed()
    scrolled, number = terms.evaluate("e => e.scrollTop"), int(row.get_attribute("data-row"))
    assert scrolled > 0 and here(block) != number
    with block.rerun():
        row.click()
    assert here(block) == number and terms.evaluate("e => e.scrollTop") == scrolled
    # a cell of a matrix is a number of the output and its term
    canvas, at = picture(block, "attn.q")
    with block.rerun():
        canvas.click(position=at(17, 30))  # row 17 makes dimension 5 of head 1
    assert here(block) == 30
    assert "head=1" in block.page.url and "cell=5" in block.page.url
    canvas.hover(position=at(17, 30))
    value = canvas.locator("xpath=..").locator(".tip div").last.inner_text()
    used = block.key("terms").locator(".tw-here span[title]").get_attribute("title").split(" × ")[1]
    assert float(value.replace("−", "-")) == pytest.approx(float(used), rel=1e-7)
    for op in ("attn.out", "attn.weights", "mlp.out"):  # no list need be scrolled sideways
        block.step(op)
        beyond = block.key("terms").evaluate("e => e.scrollWidth - e.clientWidth")
        assert beyond <= 0, op
    # in a matrix on its side rows and columns change places
    canvas, at = picture(block, "mlp.out")
    with block.rerun():
        canvas.click(position=at(100, 31, height=5))
    assert here(block) == 100 and "cell=31" in block.page.url
