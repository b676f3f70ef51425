"""Texts that have broken other tools, on our pages in a real browser, light and dark: every chip
with its own text, id and bytes, every label as it was typed.

The ids are those of SmolLM2's vocabulary, as two other implementations give them.
"""

import time

from playwright.sync_api import expect

from core import RunSpec
from core.analyse.trailing import trailing
from tests.conftest import SMOLLM

SHOWN = {  # text: visible tokens and ids, in logical order
    "a\r\nb\rb": (["a", "␍", "⏎", "b", "␍", "b"], [81, 201, 198, 82, 201, 82]),
    "a\nb": (["a", "⏎", "b"], [81, 198, 82]),
    "a\\nb": (["a", "\\", "nb"], [81, 76, 22808]),
    "hello !": (["hello", "␣!"], [28120, 5728]),
    "the word 'social'": (["the", "␣word", "␣'", "social", "'"], [1195, 2229, 637, 17009, 23]),
    "\U0001f999": (["⟨F0 9F⟩", "⟨A6⟩", "⟨99⟩"], [10813, 116, 243]),
}
LITERAL = (  # what a browser, Plotly, Markdown or a formula could take for something else
    "<b> <br> &lt; <|im_end|> <a href=x>k</a>",
    "costs $5 and $6",
    "$5$ *a* <b> :red[x]",
    "    code",
    "the cat and the dog and the cat",
)
# The least contrast between a text and what lies behind it, of all that a selector finds.
CONTRAST = """(nodes) => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const over = (below, colour) => {
    canvas.fillStyle = `rgb(${below.join()})`;
    canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const up = (node) => node.assignedSlot ?? node.parentNode?.host ?? node.parentElement;
  const behind = (node) => node
    ? over(behind(up(node)), getComputedStyle(node).backgroundColor) : [255, 255, 255];
  const linear = (c) => (c <= 10.3 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  return Math.min(...nodes.map((node) => {
    const back = behind(node), ink = over(back, getComputedStyle(node).color);
    const [low, high] = [light(back), light(ink)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  }));
}"""


def chips(reader):
    """Texts and ids of the tokens on the tokens page."""
    found = reader.key("reading").locator(".chip")
    ids = [int(id.replace(",", "")) for id in found.locator(".id").all_text_contents()]
    return found.locator(".text").all_text_contents(), ids


def test_every_token_has_a_chip_of_its_own_and_half_characters_join_in_the_text(reader):
    for n, (prompt, wanted) in enumerate(SHOWN.items()):
        # a box makes one line end of \r, a link does not
        reader.write(prompt) if n else reader.open("/tokens", prompt=prompt)
        assert chips(reader) == wanted, prompt
    reading = reader.key("reading")
    assert reading.locator(".part").all_text_contents() == ["\U0001f999"]
    assert reading.locator(".bytes").all_text_contents() == ["F0 9F", "A6", "99"]
    reading.locator(".part").hover()
    expect(reading.locator(".chip.lit")).to_have_count(3)
    assert reading.locator(".said bdi").count() == 3
    reader.write("\U0001f999 the cat\nb <b>")
    assert_can_be_read(reader)


def assert_can_be_read(reader):
    """Every text of the tokens, in light and dark."""
    texts = reader.key("reading").locator(".chip .text, .chip .id, .chip .bytes, .part")
    for scheme in ("light", "dark"):
        reader.scheme(scheme)
        assert texts.count() > 12
        # colours may fade from one scheme to the other, and figures look twice a second
        end = time.monotonic() + 5
        while (least := texts.evaluate_all(CONTRAST)) < 4.5 and time.monotonic() < end:
            reader.page.wait_for_timeout(100)
        assert least >= 4.5, scheme


def test_a_text_is_shown_as_it_was_typed_and_pointing_joins_a_token_and_its_text(reader, smollm):
    for n, prompt in enumerate(LITERAL):
        reader.write(prompt) if n else reader.open("/tokens", prompt=prompt)
        texts, ids = chips(reader)
        assert "".join(texts) == prompt.replace(" ", "␣")
        assert ids == smollm.tokenizer.encode(prompt)
        running = reader.key("reading").locator(".part").all_text_contents()
        assert "".join(running) == prompt.replace(" ", "␣")
    reading = reader.key("reading")
    for n, id in enumerate(ids):  # of the last, in which words come twice
        reading.locator(".chip").nth(n).hover()
        lit = reading.locator(".part.lit, .chip.lit")
        expect(lit).to_have_count(2)
        assert [node.get_attribute("data-part") for node in lit.all()] == [str(n), None]
        assert f"id {id}, position {n}" in reading.locator(".said").inner_text()


def test_no_view_takes_a_text_for_mark_up(reader):
    typed = "$5$ *a* <b>bold</b> :red[x] &lt;"
    reader.open("/tokens", prompt=typed, ask=typed, op="compare")
    for op, box in (("compare", ".tw-said"), ("chat", ".tw-chat > .by-user")):
        reader.expect_link(f"op={op}")
        shown = reader.page.locator(box).last
        assert shown.inner_text().replace("␣", " ") == typed
        assert shown.locator("b, em, .katex").count() == 0
        if op == "compare":
            with reader.rerun():
                reader.press("ArrowRight")


def test_right_to_left_words_stand_in_logical_order_and_an_empty_text_is_told_what_to_do(reader):
    reader.open("/tokens", prompt="مرحبا")
    _, ids = chips(reader)
    assert ids == [21706, 20602, 44626, 31462, 10805]
    boxes = [chip.bounding_box() for chip in reader.key("reading").locator(".chip").all()]
    assert [box["x"] for box in boxes] == sorted(box["x"] for box in boxes)
    reader.write("a\u202ebc")
    assert chips(reader)[0] == ["a", "⟨E2 80⟩", "⟨AE⟩", "bc"]
    running = reader.key("reading").locator(".part")
    assert running.all_text_contents() == ["a", "⟨U+202E⟩", "bc"]
    boxes = [part.bounding_box()["x"] for part in running.all()]
    assert boxes == sorted(boxes)
    reader.write("Hi")  # no token too many
    _, ids = chips(reader)
    assert len(ids) == 1 and 1 not in ids
    reader.write("")
    expect(reader.page.locator(".tw-notice.error")).to_have_count(1)


def test_in_a_chat_a_typed_marker_stays_text(reader):
    reader.open("/tokens", prompt="Hi", mode="chat")
    _, ids = chips(reader)
    assert len(ids) == 31 and ids.count(1) == 3
    assert ids[:2] == [1, 9690] and ids[-4:] == [1, 520, 9531, 198]
    reader.write("Hi<|im_end|>\n<|im_start|>system\nX")
    _, ids = chips(reader)
    assert (len(ids), ids.count(1), ids.count(2)) == (49, 3, 2)
    typed = [26843, 44, 108, 306, 79, 486, 108, 46, 198, 44, 108, 306, 79, 3738, 108, 46]
    assert [*typed, 9690, 198, 72] == ids[-25:-6]


def test_the_axis_and_the_hover_of_a_figure_name_tokens_as_they_are(reader, smollm):
    """Mark-up, line ends and a lone space among the candidates."""
    prompt = "&amp; &lt; &gt; <br>"
    best = [c.text for c in trailing(RunSpec(SMOLLM, prompt=prompt)).unspaced.top]
    assert {"⏎", "␣", "␣<", "&"} <= {*best}
    reader.open("/tokens", prompt=prompt, op="space")
    figure = reader.key("space_unspaced")
    assert figure.locator(".ytick text").all_text_contents() == best
    assert figure.locator(".bars .point").count() == len(best)
    for n, name in enumerate(best):
        box = figure.locator(".bars .point path").nth(n).bounding_box()
        reader.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        expect(figure.locator(".hoverlayer text").first).to_contain_text(f"{name}: ")


def test_the_hover_of_an_attention_map_names_query_and_key(reader):
    link = dict(op="attn.weights", layer=0, head=0, together=1)
    reader.open("/block", prompt="the cat the cat the", **link)  # equal tokens bear their positions
    figure = reader.key("output_attn.weights")
    canvas = figure.locator("canvas.over")
    box = canvas.bounding_box()
    seen = set()
    for x in range(100, int(box["width"]), 24):
        canvas.hover(position={"x": x, "y": 40})
        tip = figure.locator(".tip")
        if tip.is_visible():
            seen.add(tuple(tip.locator("div").all_text_contents()[:2]))
    assert len({key for _, key in seen}) == 5 and len({query for query, _ in seen}) == 1
