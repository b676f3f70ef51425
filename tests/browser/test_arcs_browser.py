"""Pointing at a token of the text shows its attention at once, a click or a key chooses it, and
Shift or a row of the table opens another pair.
"""

import re
import xml.etree.ElementTree as ET

PROMPT = "When Mary and John went to the store, John gave a drink to"


def weights(reader):
    """The small numbers below the tokens."""
    texts = reader.chips("reading_tokens").locator(".text")
    return texts.evaluate_all("nodes => nodes.map((node) => node.dataset.weight)")


def saved(reader, marks="text"):
    """The texts (or other marks) of the picture that is saved."""
    with reader.page.expect_download() as download:
        reader.key("reading_tokens").locator(".save").click()
    assert download.value.suggested_filename.endswith(".svg")
    whole = ET.parse(download.value.path()).getroot()
    return [each.text for each in whole.iter(f"{{http://www.w3.org/2000/svg}}{marks}")]


def test_a_token_shows_its_attention_where_it_is_pointed_at(reader):
    reader.open("/atlas", op="reading", prompt=PROMPT, layer=24, head=4)
    chips, own = reader.chips("reading_tokens"), weights(reader)
    said = reader.key("reading_tokens").locator(".now")
    assert own[1] == "0.81" and said.inner_text().endswith("0.8102")
    pair = reader.key("reading_tokens").locator(".pair")
    assert not pair.inner_text()  # it is the same one, and is not said twice
    drawn = saved(reader)
    assert [text for text in drawn if text in own and text] == [text for text in own if text]
    assert "attention weight" in drawn[-1] and drawn[0] == said.inner_text()
    ended = reader.page.evaluate("walk.ended")
    chips.nth(9).hover()
    assert weights(reader) != own and weights(reader)[10:] == [""] * 4 and pair.inner_text()
    assert "(9)" in said.inner_text()
    assert chips.nth(10).evaluate("chip => chip.classList.contains('unseen')")
    reader.page.mouse.move(5, 5)
    assert weights(reader) == own and reader.page.evaluate("walk.ended") == ended
    with reader.rerun():
        chips.nth(9).click()
    assert "pos=9" in reader.page.url and weights(reader) != own
    with reader.rerun():
        chips.nth(9).press("ArrowLeft")
    assert "pos=8" in reader.page.url
    with reader.rerun():
        chips.nth(2).click(modifiers=["Shift"])
    assert "pos=8" in reader.page.url and "key_at=2" in reader.page.url
    with reader.rerun():
        reader.page.locator('tr[data-other="1"]').press("Enter")
    assert "key_at=1" in reader.page.url and "␣Mary (1)" in reader.explanation()


def test_arcs_end_at_their_tokens_also_when_scrolled(reader):
    reader.open("/atlas", op="reading", prompt=PROMPT * 3, layer=24, head=4, kind="arcs")
    figure = reader.key("reading_tokens")
    chips, arcs = reader.chips("reading_tokens"), figure.locator("path.front")
    assert figure.locator("path.behind").count() >= 1
    places = """paths => paths.map((path) => {
      const at = (share) => path.getPointAtLength(share * path.getTotalLength());
      const y = (point) => point.matrixTransform(path.getScreenCTM()).y;
      return [y(at(0)), y(at(1))];
    })"""
    middles = """chips => chips.map((chip) => {
      const {y, height} = chip.getBoundingClientRect();
      return y + height / 2;
    })"""
    for top in (0, 300):
        figure.locator(".chips").evaluate("(list, top) => { list.scrollTop = top; }", top)
        reader.page.wait_for_timeout(100)
        rows = chips.evaluate_all(middles)
        last = rows[-1]
        ends = arcs.evaluate_all(places)
        assert ends
        for start, end in ends:
            assert abs(start - last) < 1 and min(abs(end - row) for row in rows) < 1
    numbers = figure.locator(".number").all_inner_texts()
    named = [n for n in numbers if n]
    assert named and all(re.fullmatch(r"[01]\.\d\d", n) for n in named)
    texts, shown = saved(reader), chips.locator(".text").all_inner_texts()
    assert [text for text in texts if text in shown] == shown  # also what is scrolled out of sight
    assert len(saved(reader, "path")) == figure.locator("path").count()
