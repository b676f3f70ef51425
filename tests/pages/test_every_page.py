"""Every page in every language, every op, every preset: shown whole, in its own words.

Knows what a page must show; how it is drawn is looked at in tests/browser.
"""

import itertools

import pytest

import lessons
from core.record.catalogue import catalogue_of
from tests.llama_ops import BLOCK_IDS, OUTPUT_IDS
from tests.pages import reader

pytestmark = pytest.mark.usefixtures("smollm")
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)
EACH_PAGE = pytest.mark.parametrize("name", reader.PAGES)
ASKING = {"block": {"op": "attn.weights"}}  # where the block page asks its question


def in_turn(ops):
    """A language for each op, in turn: tests/lessons renders every lesson in both."""
    return [*zip(ops, itertools.cycle(reversed(lessons.LANGUAGES)), strict=False)]


def assert_whole(app, language, name):
    """The page ran to its end: its own title is there, no refusal, every hole filled."""
    assert not app.exception
    assert not reader.title_missing(app, language, name)
    assert not reader.notices(app, "error")
    assert "[[" not in reader.text(app)


@EACH_LANGUAGE
@EACH_PAGE
def test_a_page_shows_its_lesson_in_its_language_and_the_answer_on_demand(name, language):
    app = reader.open_page(name, lang=language, **ASKING.get(name, {}))
    assert_whole(app, language, name)
    lesson = lessons.page(language, name)
    for section in lesson_sections(name):
        assert not reader.missing(app, getattr(lesson, section)), section
    assert_nothing_of_the_other_language(app, language, name)
    if name != "start":  # whose answer is the guess
        assert reader.missing(app, lesson.reveal)
        app.session_state["reveal"] = True
        assert_whole(app.run(), language, name)
        assert not reader.missing(app, lesson.reveal)


def assert_nothing_of_the_other_language(app, language, name):
    (other,) = set(lessons.LANGUAGES) - {language}
    lesson, text = lessons.page(other, name), reader.text(app)
    sentences = [reader.pieces(getattr(lesson, section)) for section in ("title", "idea", "look")]
    long = [part for parts in sentences for part in parts if len(part) > 12]
    assert long and not [part for part in long if part in text]


def lesson_sections(name):
    """What of a page's lesson stands on it: on the block page each op has its own idea."""
    return {
        "start": ("title", "gist", "idea", "maths", "look", "predict"),
        "tokens": ("title", "gist", "idea", "maths", "look", "predict"),
        "embedding": ("title", "gist", "idea", "maths", "look", "predict"),
        "positions": ("title", "gist", "idea", "maths", "look", "predict"),
        "block": ("title", "predict"),
        "output": ("title", "gist", "idea", "maths", "look", "predict"),
        "sampling": ("title", "gist", "idea", "maths", "look", "predict"),
        "loop": ("title", "gist", "idea", "maths", "look", "predict"),
        "cache": ("title", "gist", "idea", "maths", "look", "predict"),
        "atlas": ("title", "gist", "idea", "maths", "look", "predict"),
        "lens": ("title", "gist", "idea", "maths", "look", "predict"),
    }[name]


@pytest.mark.parametrize("op, language", in_turn(BLOCK_IDS))
def test_every_op_of_the_block_is_taught_and_explained(op, language, smollm):
    app = reader.open_page("block", lang=language, op=op, pos=3, layer=7, head=5)
    assert_whole(app, language, "block")
    entry = catalogue_of(smollm.config).op(op, 7)
    lesson = lessons.op(language, op, entry.tags)
    for section in ("title", "gist", "idea", "maths", "look"):
        assert not reader.missing(app, getattr(lesson, section)), section
    assert entry.source.strip() in [code.value for code in app.code]
    assert reader.verdict(app) == "equal"


@pytest.mark.parametrize("op", BLOCK_IDS)
@pytest.mark.parametrize("layer, head, pos, cell", [(0, 0, 0, 0), (29, 8, 4, 4)])
def test_the_first_and_the_last_of_everything(op, layer, head, pos, cell):
    app = reader.open_page("block", op=op, layer=layer, head=head, pos=pos, cell=cell)
    assert_whole(app, "en", "block")
    assert reader.verdict(app) == "equal"


@pytest.mark.parametrize("op, language", in_turn(OUTPUT_IDS))
def test_every_step_of_the_output(op, language, smollm):
    app = reader.open_page("output", lang=language, op=op)
    assert_whole(app, language, "output")
    lesson = lessons.op(language, op, catalogue_of(smollm.config).op(op).tags)
    for section in ("title", "idea", "maths", "look"):
        assert not reader.missing(app, getattr(lesson, section)), section
    assert reader.verdict(app) == "equal"


@pytest.mark.parametrize(
    "language, presets",
    [
        ("en", lessons.presets()),
        ("zh", [p for p in lessons.presets() if p.id in ("fact", "chinese")]),
    ],
    ids=["en", "zh"],
)
def test_every_preset_is_shown_with_its_note(language, presets):
    app = reader.open_page("start", lang=language)
    for preset in presets:
        app.button(key=f"preset_main_{preset.id}").click().run()
        assert_whole(app, language, "start")
        assert app.text_area(key="prompt").value == preset.prompt
        assert not reader.missing(app, lessons.text(language, f"{preset.texts}.note"))
        framed = [meta["framed"] for meta in reader.canvases(app) if "framed" in meta]
        assert framed == [[preset.layer, preset.head]]


def prompt_tokens(app):
    """The tokens of the prompt in the first figure that has them; a text that is being written has
    them in front, its spaces and line ends as such.
    """
    first = next(meta for meta in reader.canvases(app) if "tokens" in meta)
    if "steps" in first:  # a text that grows: the first step is the prompt
        return first["tokens"][: first["steps"][0]["stop"]]
    before = (token.replace(" ", "␣").removesuffix("\n") for token in first.get("before", ()))
    return list(before) or first["tokens"]


@pytest.mark.parametrize("name", reader.PAGES[1:])
def test_a_preset_from_the_sidebar_goes_to_its_layer_and_head(name):
    app = reader.open_page(name, layer=2, head=7)
    app.button(key="preset_side_repeat").click().run()
    assert_whole(app, "en", name)
    assert (app.session_state["at_layer"], app.session_state["at_head"]) == (18, 6)
    tokens = prompt_tokens(app)
    assert "".join(tokens) == "Blick␣Fazo␣Trun␣Mip.␣Blick␣Fazo␣Trun"


@pytest.mark.parametrize("name, language", reader.IN_TURN)
def test_chat_mode_runs_the_prompt_inside_the_template(name, language):
    app = reader.open_page(name, lang=language, mode="chat", prompt="Hi there")
    assert_whole(app, language, name)
    tokens = prompt_tokens(app)
    assert tokens.count("<|im_start|>") == 3  # system, user, and the assistant who answers
    assert "Hi␣there<|im_end|>⏎<|im_start|>assistant⏎" in "".join(tokens)


def test_a_control_token_of_the_template_is_told_from_typed_text():
    said = lessons.text("en", "tokens.special")
    assert not reader.missing(reader.open_page("tokens", mode="chat", pos=0), said)
    assert reader.missing(reader.open_page("tokens", prompt="<|im_start|>", pos=0), said)


def test_the_language_changes_at_once_and_stays_on_the_next_page():
    app = reader.open_page("start")
    app.button_group(key="lang").set_value("zh").run()
    assert_whole(app, "zh", "start")
    app.switch_page("block.py").run()
    assert_whole(app, "zh", "block")


def test_the_guess_is_ranked_and_the_answer_stays_covered_until_then():
    app = reader.open_page("start")
    app.toggle(key="cover").set_value(True).run()
    covered, answer = lessons.text("en", "start.covered"), "␣Paris"
    assert reader.text(app).count(covered) == 3
    assert answer not in reader.text(app)
    app.text_input(key="guess").set_value("Paris").run()
    assert covered not in reader.text(app)
    sentence = next(n for n in reader.notices(app) if "Ranked" in n)
    assert "number 1 of 49,152" in sentence and "Ranked: ␣Paris" in sentence
    # another text: the guess about the old one is gone, and the answer covered again
    app.button(key="preset_main_names").click().run()
    assert reader.text(app).count(covered) == 3


def test_a_space_at_the_end_is_noticed_and_can_be_taken_away():
    app = reader.open_page("start", prompt="The capital of France is ")
    said = lessons.text("en", "notice.space", token="␣")
    assert said in reader.notices(app)
    app.button(key="remove_space").click().run()
    assert app.text_area(key="prompt").value == "The capital of France is"
    assert said not in reader.notices(app)


@pytest.mark.parametrize(
    "door, name",
    [("tokens", "tokens"), ("embedding", "embedding"), ("heads", "block"), ("scores", "output")],
)
def test_each_stage_of_the_start_page_opens_its_page(door, name):
    """Also with a prompt in the link, which Streamlit holds on to."""
    app = reader.open_page("start", prompt="The opposite of hot is")
    app.button(key=f"open_{door}").click().run()
    assert_whole(app, "en", name)
    assert app.text_area(key="prompt").value == "The opposite of hot is"
