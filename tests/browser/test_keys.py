"""By keyboard: arrows step, with Shift they change the layer, a box or figure keeps its own.

Knows keys and what they do on the block page.
"""

import re

from playwright.sync_api import expect

import lessons
from tests.llama_ops import BLOCK_IDS

# The element with the focus, also inside a component: its tag, role and class.
FOCUS = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return [at.tagName, at.getAttribute("role") ?? "", at.className].join(" ");
}"""


def explained(reader):
    return reader.key("explain")


def test_twenty_fast_presses_end_on_the_last_step(reader):
    reader.open("/block")
    reader.press(*["ArrowRight"] * 20)
    expect(explained(reader)).to_contain_text(BLOCK_IDS[-1])
    reader.calm()
    assert (
        reader.key("walk").locator(".count").inner_text() == f"{len(BLOCK_IDS)} / {len(BLOCK_IDS)}"
    )
    assert f"op={BLOCK_IDS[-1]}" in reader.page.url
    reader.press("ArrowLeft", "ArrowLeft")
    expect(explained(reader)).to_contain_text(BLOCK_IDS[-3])
    reader.calm()
    assert f"op={BLOCK_IDS[-3]}" in reader.page.url


def test_back_and_forward_walk_over_the_steps(reader):
    reader.open("/block")
    for op in BLOCK_IDS[1:4]:
        reader.press("ArrowRight")
        expect(explained(reader)).to_contain_text(op)
        reader.calm()
    for op in reversed(BLOCK_IDS[:3]):
        reader.page.go_back()
        expect(explained(reader)).to_contain_text(op)
        reader.calm()
    reader.page.go_forward()
    expect(explained(reader)).to_contain_text(BLOCK_IDS[1])
    reader.calm()
    reader.press("ArrowRight")
    expect(explained(reader)).to_contain_text(BLOCK_IDS[2])


def test_shift_with_up_and_down_changes_the_layer(reader):
    reader.open("/block", layer=3)
    layer = reader.key("layer").locator("input")
    reader.press(*["Shift+ArrowUp"] * 4)
    expect(explained(reader)).to_contain_text("layer 7")
    expect(layer).to_have_value("7")
    reader.press(*["Shift+ArrowDown"] * 9)
    expect(explained(reader)).to_contain_text("layer 0")
    expect(layer).to_have_value("0")
    reader.calm()
    assert "layer=0" in reader.page.url


def test_arrows_in_the_prompt_box_do_not_step(reader):
    reader.open("/block")
    box = reader.key("prompt").locator("textarea")
    box.click()
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight", "Shift+ArrowUp"):
        reader.page.keyboard.press(key)
    reader.calm(600)  # the stepper would have reported within 70 ms
    assert reader.key("walk").locator(".count").inner_text() == f"1 / {len(BLOCK_IDS)}"
    assert "op=" not in reader.page.url


def test_tab_reaches_strip_figure_and_stepper_and_arrows_work_there(reader):
    reader.open("/block", op="attn.q", pos=1)
    reached = {}
    for _ in range(90):
        reader.page.keyboard.press("Tab")
        focus = reader.page.evaluate(FOCUS)
        for name, mark in (("strip", "option"), ("figure", "grid"), ("stepper", "BUTTON  next")):
            if mark in focus and name not in reached:
                reached[name] = focus
                _press_there(reader, name)
        if len(reached) == 3:
            break
    assert set(reached) == {"strip", "figure", "stepper"}


def _press_there(reader, name):
    """The key that is at home where the focus is, and what it must have done."""
    key, sign = {
        "strip": ("ArrowRight", "(2)"),
        "figure": ("ArrowUp", "(1)"),
        "stepper": ("Enter", "attn.k"),
    }[name]
    before = reader.page.evaluate(FOCUS)
    reader.page.keyboard.press(key)
    expect(explained(reader)).to_contain_text(sign)
    reader.calm()
    assert reader.page.evaluate(FOCUS).split()[0] == before.split()[0]  # the focus has stayed


def test_the_answer_opens_and_stays_open_while_stepping(reader):
    reader.open("/block", op="attn.scores")
    with reader.rerun():
        reader.page.get_by_text(lessons.text("en", "lesson.reveal"), exact=True).click()
    answer = reader.page.get_by_text(re.compile(r"In \d+ of 270 heads\."))
    expect(answer).to_be_visible()
    with reader.rerun():
        reader.press("ArrowRight")
    expect(answer).to_be_visible()
    expect(explained(reader)).to_contain_text("attn.masked")


def test_a_position_chosen_in_the_strip_is_explained(reader):
    reader.open("/block", op="attn.q")
    with reader.rerun():
        reader.chips("block_tokens").nth(1).click()
    expect(explained(reader)).to_contain_text("␣capital (1)")
    assert "pos=1" in reader.page.url


def test_a_box_of_the_diagram_goes_to_its_step(reader):
    reader.open("/block")
    with reader.rerun():
        reader.key("diagram").locator('[data-id="mlp.hidden"]').click()
    expect(explained(reader)).to_contain_text("mlp.hidden")
    assert "op=mlp.hidden" in reader.page.url
