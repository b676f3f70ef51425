"""A special marker that the reader types: text, unless the switch says otherwise.

Knows the marker `<|im_end|>`, token 2 of the model's vocabulary.
"""

from playwright.sync_api import expect

TYPED = "Hello<|im_end|> you"


def ids(reader):
    """The ids under the tokens."""
    return reader.chips("reading").locator(".id").all_inner_texts()


def test_a_typed_marker_is_text_until_it_is_switched_on_and_a_link_says_so(reader, smollm):
    reader.open("/tokens")
    switch = reader.key("markers")
    expect(switch).to_have_count(0)
    reader.write(TYPED)
    expect(switch.locator("input")).not_to_be_checked()
    literal = [str(id) for id in smollm.tokenizer.encode(TYPED)]
    assert ids(reader) == literal and len(literal) > 8 and "2" not in literal
    assert reader.page.locator(".tw-notice.error").count() == 0

    with reader.rerun():
        switch.locator("label").first.click()
    read = [str(id) for id in smollm.tokenizer.encode(TYPED, control=True)]
    assert ids(reader) == read and len(read) == 3 and read[1] == "2"
    assert "control=1" in reader.page.url
    marked = reader.chips("reading").nth(1)
    assert "special" in marked.get_attribute("class")
    assert marked.evaluate("chip => getComputedStyle(chip).borderStyle") == "dashed"

    reader.anew()
    assert ids(reader) == read
    expect(switch.locator("input")).to_be_checked()
    reader.write("Hello you")
    expect(switch).to_have_count(0)
    assert "control" not in reader.page.url
