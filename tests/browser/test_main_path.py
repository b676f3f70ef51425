"""The way a reader goes: an own text, the guess, the block, one number, the link passed on.

Knows what is on the pages; pixels are looked at in test_layout.py.
"""

import re

from playwright.sync_api import expect

import lessons
from core import RunSpec, run
from tests.browser.test_safety import HOSTILE, MADE

OWN = "The opposite of hot is"


def best(model, prompt):
    """The visible form of the token with the highest logit, from core directly."""
    scores = run(RunSpec("smollm2-135m-instruct", prompt=prompt)).logits(position=-1)
    return model.tokenizer.display(int(scores.argmax()))


def first_guess(reader):
    return reader.key("wrap_card_scores").locator(".tw-token").first


def place(reader):
    """What a link brings back: the question, the prompt, layer and head, the number explained."""
    boxes = [reader.key(name).locator("input").input_value() for name in ("layer", "head")]
    prompt = reader.key("prompt").locator("textarea").input_value()
    return reader.heading(), prompt, boxes, reader.explanation()


def click_cell(reader, figure, across, down):
    """Click on a figure, at a share of its width and height."""
    canvas = reader.key(figure).locator("canvas.over")
    size = canvas.bounding_box()
    with reader.rerun():
        canvas.click(position={"x": size["width"] * across, "y": size["height"] * down})


def test_the_main_path(reader, smollm):
    reader.open("/")
    expect(first_guess(reader)).to_have_text(best(smollm, "The capital of France is"))
    reader.write(OWN)
    expect(first_guess(reader)).to_have_text(best(smollm, OWN))

    with reader.rerun():
        reader.key("stop_block").locator("a").click()
    assert "resid_pre" in reader.explanation()
    reader.press(*["ArrowRight"] * 9)
    explained = reader.key("explain")
    expect(explained).to_contain_text("attn.weights")
    reader.calm()

    with reader.rerun():
        reader.key("together").get_by_text(lessons.text("en", "block.all")).click()
    before = reader.explanation()
    click_cell(reader, "output_attn.weights", 0.25, 0.75)
    clicked = reader.explanation()
    assert clicked != before
    assert "✓ equal" in clicked
    with reader.rerun():
        reader.page.keyboard.press(
            "ArrowRight"
        )  # the figure has the focus: the cell moves, not the step
    moved = reader.explanation()
    assert moved != clicked
    assert "attn.weights" in moved and "✓ equal" in moved

    with reader.rerun():
        reader.key("lang").get_by_text("中文").click()
    assert lessons.text("zh", "explain.title") in reader.explanation()
    assert "✓ " + lessons.text("zh", "explain.equal") in reader.explanation()

    passed_on = place(reader)
    kept = reader.page.evaluate("JSON.stringify([localStorage, document.cookie])")
    assert OWN not in kept and "attn" not in kept  # all of it is in the link
    assert place(reader.anew()) == passed_on
    assert passed_on[1] == OWN


def test_a_prompt_goes_along_from_page_to_page_and_nothing_of_it_becomes_an_element(reader):
    reader.open("/")
    reader.write(HOSTILE)
    assert reader.page.evaluate(MADE) == []
    box = reader.key("guess").locator("input")
    box.fill("<b id=evil>x</b>")
    with reader.rerun():
        box.press("Enter")
    assert reader.page.locator(".tw-notice", has_text="Your guess").count() == 1
    assert reader.page.evaluate(MADE) == []
    headings = []
    for name in ("block", "tokens", "output", "start"):
        reader.visit_stop(name)
        assert reader.page.evaluate(MADE) == []
        assert reader.page.evaluate("window.hacked") is None
        assert reader.key("prompt").locator("textarea").input_value() == HOSTILE
        assert reader.page.get_by_text(lessons.error("en", "nothing_to_run")).count() == 0
        headings.append(reader.heading())
    assert reader.page.url.startswith(reader.address + "/?prompt=")
    assert headings[1] == lessons.page("en", "tokens").title and len(set(headings)) == 4
    for go, n in ((reader.page.go_back, 2), (reader.page.go_back, 1), (reader.page.go_forward, 2)):
        with reader.rerun():
            go()
        assert reader.heading() == headings[n]
        assert reader.key("prompt").locator("textarea").input_value() == HOSTILE


def test_a_space_is_taken_away_a_guess_uncovers_the_answer_and_a_field_leads_to_a_map(reader):
    reader.open("/", prompt="The capital of France is ")
    notice = reader.page.get_by_text("Your text ends with a space.")
    expect(notice).to_be_visible()
    expect(first_guess(reader)).not_to_have_text("␣Paris")
    with reader.rerun():
        reader.key("remove_space").locator("button").click()
    expect(notice).to_have_count(0)
    expect(first_guess(reader)).to_have_text("␣Paris")
    box = reader.key("prompt").locator("textarea")
    assert box.input_value() == "The capital of France is"
    covered = reader.page.get_by_text(lessons.text("en", "start.covered"))
    with reader.rerun():
        reader.key("cover").locator("label").first.click()
    expect(covered).to_have_count(3)
    assert "Paris" not in reader.page.get_by_test_id("stMain").inner_text()
    box = reader.key("guess").locator("input")
    box.fill("London")
    with reader.rerun():
        box.press("Enter")
    expect(covered).to_have_count(0)
    said = reader.page.locator(".tw-notice", has_text="Ranked").inner_text()
    assert "␣London" in said
    rank = re.search(r"number ([\d,]+) of 49,152", said)
    assert rank and 1 < int(rank[1]) < 10
    assert "␣Paris" in said
    caption = reader.page.get_by_text("First read one: layer 23, head 4")
    expect(caption).to_be_visible()
    field = reader.key("start_atlas").locator(".over")
    field.focus()
    field.press("ArrowRight")
    expect(reader.page.get_by_text("First read one: layer 24, head 4")).to_be_visible()


def test_each_stage_opens_its_page_and_a_door_the_place_that_its_link_names(reader):
    reader.open("/", prompt=OWN)
    for name, door in (("tokens", "open_tokens"), ("block", "open_heads"), ("block", "open_lens")):
        if "/?" not in reader.page.url:
            reader.visit_stop("start")
        with reader.rerun():
            reader.key(door).locator("button").click()
        reader.expect_link(f"/{name}?")
        assert reader.key("prompt").locator("textarea").input_value() == OWN
    reader.expect_link("op=resid_post")
    shown = reader.explanation()
    layer = re.search(r"layer=(\d+)", reader.page.url)
    assert layer and f"layer {layer[1]}" in shown


def test_each_page_keeps_its_own_step_and_cell_and_its_address_is_copied(context, reader):
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=reader.address)
    reader.open("/block", op="attn.q", cell=21)
    before = reader.explanation()
    reader.visit_stop("output")
    assert "␣Paris" in reader.explanation()
    with reader.rerun():
        reader.press("ArrowLeft")
    reader.expect_link("op=logits")
    reader.visit_stop("block")
    assert reader.explanation() == before
    reader.expect_link("op=attn.q", "cell=21")
    button = reader.key("copy_link").locator("button")
    button.click()
    expect(button).to_have_text(lessons.text("en", "link.copied"))
    assert reader.page.evaluate("navigator.clipboard.readText()") == reader.page.url
