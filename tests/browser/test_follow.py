"""Following a number back by clicks alone, from a logit to a cell of the embedding table; and the
numbers that are shown make the recorded one.
"""

import math
import re

import pytest

LINK = {"model": "nano", "prompt": "the red fox sleeps in the", "pos": 3}


def recorded(reader):
    """The recorded number of the explanation, with all digits."""
    return float(reader.key("explain").locator("[data-recorded]").get_attribute("data-recorded"))


def operands(row):
    """The operands of a term, with all digits."""
    exact = row.locator("span[title]").get_attribute("title")
    return [float(n) for n in re.split(" [×−] ", exact)]


def crumbs(reader):
    return reader.page.locator(".tw-trail [data-crumb]:not(.back), .tw-trail [aria-current]")


def door(reader):
    """The door to go through: of the largest term, but along the stream where something was added
    to it, once to what attention added, and from there to the value that a key handed over.
    """
    wanted = {"op=resid_": "button.residual", "op=resid_mid": "button.attention"}
    wanted["op=attn.mix"], wanted["layer=0"] = "button.value", "button.residual"
    wanted["op=embed"] = "[data-door]"
    found = [kind for part, kind in wanted.items() if part in reader.page.url]
    return reader.key("terms").locator(found[-1] if found else "[data-door]").first


def follow(reader, by_keyboard=False):
    """Go through a door, by a click or by keyboard; the number that it shows."""
    through = door(reader)
    slot = int(through.get_attribute("data-door").split()[-1])
    value = operands(through.locator("xpath=ancestor::tr"))[slot]
    with reader.rerun():
        through.press("Enter") if by_keyboard else through.click()
    return value


def test_from_a_logit_to_the_embedding_and_back(reader):
    reader.open("/output", op="logits", cell=12, **LINK)
    logit, addresses = recorded(reader), []
    while "/embedding" not in reader.page.url:
        addresses.append(reader.page.url)
        clicked = follow(reader)
        assert len(addresses) < 20
        if "/embedding" not in reader.page.url:
            assert recorded(reader) == clicked, reader.page.url
            assert reader.page.locator(".tw-trail").is_visible()
    assert reader.page.url not in addresses and crumbs(reader).count() == len(addresses) + 1
    assert reader.page.locator(".tw-hex .own").first.is_visible()
    with reader.rerun():
        reader.page.go_back()
    assert reader.page.url == addresses[-1] and "op=embed" in reader.page.url
    assert recorded(reader) == clicked and crumbs(reader).count() == len(addresses)
    with reader.rerun():
        reader.page.go_back()
    assert reader.page.url == addresses[-2] and crumbs(reader).count() == len(addresses) - 1
    with reader.rerun():
        reader.page.go_forward()
    assert reader.page.url == addresses[-1] and crumbs(reader).count() == len(addresses)
    with reader.rerun():
        crumbs(reader).first.click()
    assert "/output" in reader.page.url and recorded(reader) == logit
    assert reader.page.locator(".tw-trail").count() == 0
    with reader.rerun():
        reader.page.go_back()
    assert reader.page.url == addresses[-1]


def test_a_chat_is_followed_as_a_chat(reader):
    reader.open("/output", op="final_norm", mode="chat")
    clicked = follow(reader, by_keyboard=True)
    assert "/block" in reader.page.url and "mode=chat" in reader.page.url
    assert recorded(reader) == clicked and crumbs(reader).count() == 2


def test_the_numbers_that_are_shown_make_the_recorded_one(reader):
    reader.open("/block", layer=1, head=1, **LINK)
    for op, scale in (("attn.q", 1), ("attn.scores", 0.25), ("resid_mid", 1)):
        reader.step(op)
        assert op in reader.explanation()
        terms = [math.prod(operands(row)) for row in reader.key("terms").locator("tbody tr").all()]
        size = math.fsum(map(abs, terms)) * scale
        assert math.fsum(terms) * scale == pytest.approx(recorded(reader), abs=1e-5 * size), op
