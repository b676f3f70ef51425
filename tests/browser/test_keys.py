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


def counted(reader):
    """The step and the layer that the bar shows."""
    bar = reader.key("stepper")
    return bar.locator(".count").inner_text(), bar.locator(".depth").inner_text()


def test_twenty_fast_presses_end_on_the_next_layers_first_step(reader):
    n = len(BLOCK_IDS)
    reader.open("/block", model="nano", layer=0, op=BLOCK_IDS[0])
    reader.press(*["ArrowRight"] * n)
    expect(explained(reader)).to_contain_text(f"{BLOCK_IDS[0]} · layer 1")
    reader.calm()
    assert counted(reader) == (f"1 / {n}", "layer 1 of 0–1")
    assert "layer=" not in reader.page.url  # the one that a link of this model leaves out
    reader.press("ArrowLeft", "ArrowLeft")
    expect(explained(reader)).to_contain_text(f"{BLOCK_IDS[-2]} · layer 0")
    reader.calm()
    assert f"op={BLOCK_IDS[-2]}" in reader.page.url and "layer=0" in reader.page.url


def test_behind_the_last_layer_comes_the_output_and_back(reader):
    reader.open("/block", model="nano", layer=1, op="resid_post")
    with reader.rerun():
        reader.press("ArrowRight")
    reader.page.wait_for_url("**/output?*")
    expect(explained(reader)).to_contain_text("final_norm")
    reader.calm()
    reader.press("ArrowLeft")
    reader.page.wait_for_url("**/block?*")
    expect(explained(reader)).to_contain_text("resid_post · layer 1")


def test_the_walk_plays_until_the_reader_does_anything(reader):
    reader.open("/block", model="nano", op="attn.scores")
    player = reader.key("stepper").locator(".play")
    reader.key("stepper").locator("select").select_option("1")
    player.click()
    expect(player).to_have_attribute("aria-pressed", "true")
    expect(explained(reader)).to_contain_text("attn.weights", timeout=20_000)  # two steps on
    reader.page.locator("h1").click()
    expect(player).to_have_attribute("aria-pressed", "false")
    reader.calm()
    stopped = counted(reader)
    reader.calm(1_300)
    assert counted(reader) == stopped
    for stop in (reader.page.go_back, lambda: reader.page.keyboard.press("Escape")):
        player.click()  # the button keeps the focus
        expect(player).to_have_attribute("aria-pressed", "true")
        stop()
        expect(player).to_have_attribute("aria-pressed", "false", timeout=900)


def test_arrows_in_the_prompt_box_do_not_step_and_back_walks_over_the_steps(reader):
    reader.open("/block", model="nano", op="nope", pos=99999, cell=88888, layer=99)
    for name in ("op", "pos", "cell", "layer"):  # nonsense leaves the address
        assert f"{name}=" not in reader.page.url
    box = reader.key("prompt").locator("textarea")
    box.click()
    for key in ("ArrowRight", "ArrowLeft", "ArrowRight", "Shift+ArrowUp"):
        reader.page.keyboard.press(key)
    reader.calm(600)  # the stepper would have reported within 70 ms
    assert counted(reader)[0] == f"1 / {len(BLOCK_IDS)}"
    assert "op=" not in reader.page.url
    for op in BLOCK_IDS[1:3]:
        reader.press("ArrowRight")
        expect(explained(reader)).to_contain_text(op)
        reader.calm()
    for op in reversed(BLOCK_IDS[:2]):
        reader.page.go_back()
        expect(explained(reader)).to_contain_text(op)
        reader.calm()
    reader.page.go_forward()
    expect(explained(reader)).to_contain_text(BLOCK_IDS[1])
    reader.calm()
    reader.press("ArrowRight")
    expect(explained(reader)).to_contain_text(BLOCK_IDS[2])


def test_tab_reaches_strip_figure_and_stepper_and_arrows_work_there(reader):
    reader.open("/block", op="attn.q", pos=1, together=1)
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
    """The keys that are at home where the focus is, and what they must have done."""
    keys, sign = {
        "strip": (["ArrowRight"], "(2)"),
        "figure": (["ArrowRight", "ArrowUp"], "(1)"),
        "stepper": (["Enter"], "attn.k"),  # and no step before
    }[name]
    before = reader.page.evaluate(FOCUS)
    for key in keys:
        reader.page.keyboard.press(key)
    expect(explained(reader)).to_contain_text(sign)
    reader.calm()
    assert reader.page.evaluate(FOCUS).split()[0] == before.split()[0]  # the focus has stayed


def test_shift_with_an_arrow_a_chip_and_a_box_choose_and_an_open_answer_stays_open(reader):
    reader.open("/block", op="attn.weights", layer=3)
    with reader.rerun():
        reader.page.get_by_text(lessons.text("en", "lesson.reveal"), exact=True).click()
    answer = reader.page.get_by_text(re.compile(r"In \d+ of 270 heads\."))
    expect(answer).to_be_visible()
    with reader.rerun():
        reader.press("Shift+ArrowUp")
    expect(answer).to_be_visible()
    expect(explained(reader)).to_contain_text("layer 4")
    layer = reader.key("layer").locator("input")
    reader.press(*["Shift+ArrowUp"] * 3)
    expect(explained(reader)).to_contain_text("layer 7")
    expect(layer).to_have_value("7")
    reader.press(*["Shift+ArrowDown"] * 9)
    expect(explained(reader)).to_contain_text("layer 0")
    expect(layer).to_have_value("0")
    reader.calm()
    assert "layer=0" in reader.page.url
    # a position of the strip, and boxes of the diagram: one that is done, one that is to come
    with reader.rerun():
        reader.chips("block_tokens").nth(1).click()
    expect(explained(reader)).to_contain_text("␣capital (1)")
    assert "pos=1" in reader.page.url
    for op in ("attn.q", "mlp.out"):
        reader.step(op)
        expect(explained(reader)).to_contain_text(op)
        assert f"op={op}" in reader.page.url
