"""The lessons: the same files, sections and placeholders in every language, in every form that
some model shows.

Knows the file format, core's ops and error codes. Knows no page and no model file. Which lines
which model shows is tested in test_tags.py.
"""

import re
from dataclasses import asdict
from string import Formatter

import pytest

import lessons
from core.errors import SENTENCES
from core.model.axes import OP_AXES
from lessons import loader
from tests.lessons.models import MISREAD, VIEWS, variants

OPS = list(OP_AXES)
PAGES = (
    "start tokens embedding block positions output sampling loop cache atlas lens learning".split()
)
ABOUT_NANO = PAGES[:11]  # pages that any model shows, and say there what is only small in Nano
WITH_VIEWS = ("tokens", "embedding", "positions", "sampling", "loop", "cache", "atlas", "lens")
ALL = [pytest.param(*form, id="-".join([form[1], *sorted(form[2])])) for form in variants()]

AXES = {axis for axes in OP_AXES.values() for axis in axes}
NUMBERS = set(
    """n_layers n_heads n_kv_heads group head_dim sqrt_head_dim width neurons vocab theta eps
    context n_tokens layer head kv_head position step n_steps n_pairs rot_dim window score_scale
    score_divisor embed_scale attn_softcap logit_softcap n_weights""".split()
)
TEXTS = set("token first_token last_token top_token model".split())
FROM_RUN = set(
    """guess_rank top_p n_for_90 n_characters n_bytes sink_share n_sink_heads n_all_heads
    min_p previous_step previous_head induction_step induction_head""".split()
)
MARKDOWN = ("idea", "maths")  # the other fields are shown by the pages' own escaping renderer
NUMBER = re.compile(r"\d[\d.,]*(?<![.,])%?")
TRUE_OF_ALL = {
    "0",
    "0.5",
    "1",
    "2",
    "90%",
    "76%",
    "0.28",
    "0.17",
    "0.0005",
}  # what is left is a model's
FORMULA = {"1%", "0.044715"}  # a format, and a constant of GELU
NOT_NUMBERS = re.compile(r"\[\[\w+\]\]|\$\$.*?\$\$|SmolLM2|llama3|float32|⟨F0 9F⟩", re.DOTALL)
ONE_MODELS = re.compile("Paris|London|France|French|Mary|John|Eiffel|Blick|巴黎|法国|埃菲尔")
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def placeholders(template: str) -> set[str]:
    return set(loader.PLACEHOLDER.findall(template))


def fields(language: str, kind: str, name: str, tags) -> dict[str, str]:
    """The sections that a lesson has under these tags, by field name."""
    door = {"ops": lessons.op, "pages": lessons.page, "views": lessons.view}[kind]
    lesson = door(language, name, tags)
    return {field: body for field, body in asdict(lesson).items() if body}


def chinese_texts() -> list[tuple[str, str]]:
    """Every Chinese text with where it stands: sections, errors and short texts."""
    found = list((loader._table("zh", "ui") | loader._table("zh", "errors")).items())
    for form in variants():
        found += [(f"{form[1:]} {field}", body) for field, body in fields("zh", *form).items()]
    return found


def allowed(kind: str, name: str, field: str, body: str) -> set[str]:
    if field in MARKDOWN:
        return NUMBERS
    if kind == "views" or name in WITH_VIEWS:  # tests/pages shows them all, with their own values
        return placeholders(body)
    if field == "misread":
        return NUMBERS | TEXTS | MISREAD[name]
    from_run = FROM_RUN if kind == "pages" and field in ("look", "reveal") else set()
    return NUMBERS | TEXTS | from_run


# --- the loader


def test_fill_puts_values_in_and_never_reads_them_as_templates():
    assert lessons.fill("[[a]] + [[b]] = $x_{[1]}$", a="[[b]]", b=2, c=3) == "[[b]] + 2 = $x_{[1]}$"
    with pytest.raises(KeyError, match="missing"):
        lessons.fill("a [[missing]] value", other=1)


def test_parse_cuts_a_file_into_sections():
    source = "# T [[a]]\n> g\n\n## Idea\none\n\ntwo\n\n## Maths\n$$x$$\n\n## Look\nsee\n"
    expected = lessons.Lesson("T [[a]]", "g", "one\n\ntwo", "$$x$$", "see")
    assert loader._parse(source, "ops", "here") == expected


@pytest.mark.parametrize(
    "source, named",
    [
        ("# T\n\n## Idea\na\n## Maths\nb\n## Look\nc\n", "gist"),
        ("# T\n> g\n## Idea\na\n## Look\nc\n", "Maths"),
        ("# T\n> g\n## Idea\na\n## Maths\n\n## Look\nc\n", "Maths"),
        ("# T\n> g\n## Idea\na\n## Maths\nb\n## Look\nc\n## Lok\nd\n", "Lok"),
    ],
)
def test_a_file_with_a_missing_or_unknown_section_is_refused_by_name(source, named):
    with pytest.raises(KeyError, match=named):
        loader._parse(source, "ops", "here")


@pytest.mark.parametrize(
    "call, named",
    [
        (lambda: lessons.op("fr", "embed", ()), "fr"),
        (lambda: lessons.op("en", "attn.nothing", ()), "attn.nothing"),
        (lambda: lessons.op("en", "../pages/start", ()), "start"),
        (lambda: lessons.page("en", "embed"), "embed"),
        (lambda: lessons.text("en", "app.nothing"), "app.nothing"),
        (lambda: lessons.error("en", "nothing_such"), "nothing_such"),
        (lambda: lessons.error("en", "not_on_disk"), "name"),
        (lambda: loader._table("en", "nothing"), "nothing"),
    ],
)
def test_what_is_missing_raises_and_is_named(call, named):
    with pytest.raises(KeyError, match=named):
        call()


def test_short_texts_have_dotted_keys():
    assert lessons.text("en", "app.name") == lessons.text("zh", "app.name") == "Tokenwalk"
    assert loader._flat({"a": {"b": {"c": "x"}}, "d": "y"}) == {"a.b.c": "x", "d": "y"}


# --- the files


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("kind, names", [("ops", OPS), ("pages", PAGES), ("views", VIEWS)])
def test_every_op_and_page_has_its_file_and_no_other(language, kind, names):
    found = {path.stem for path in (loader.ROOT / language / kind).glob("*.md")}
    assert found == set(names)


@pytest.mark.parametrize("kind, name, tags", ALL)
def test_both_languages_hold_the_same_sections_and_placeholders(kind, name, tags):
    english, chinese = (fields(language, kind, name, tags) for language in lessons.LANGUAGES)
    assert english.keys() == chinese.keys()
    for field in english:
        assert placeholders(english[field]) == placeholders(chinese[field]), field


@pytest.mark.parametrize("kind, name, tags", ALL)
def test_both_languages_state_the_same_formula_and_shapes(kind, name, tags):
    def content(language):
        maths = fields(language, kind, name, tags).get("maths", "$$$$")
        maths = re.sub(r"\\text\{[^}]*\}", "", maths)
        return maths.split("$$")[1], re.findall(r"`([^`]+)`", maths)

    assert content("en") == content("zh")


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("kind, name, tags", ALL)
def test_placeholders_are_known_and_tokens_stay_out_of_markdown(language, kind, name, tags):
    for field, body in fields(language, kind, name, tags).items():
        assert placeholders(body) <= allowed(kind, name, field, body), field
        assert "[[" not in loader.PLACEHOLDER.sub("", body), field


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("kind, name, tags", ALL)
def test_maths_has_one_display_formula_and_names_only_our_axes(language, kind, name, tags):
    maths = fields(language, kind, name, tags).get("maths")
    if kind == "views" and maths is None:
        return
    # With the formula on the same line, st.markdown would set it as inline maths.
    assert re.match(r"\$\$\n[^$]+\n\$\$\n\n", maths)
    assert maths.count("$$") == 2
    assert maths.replace("$$", "").count("$") % 2 == 0
    formula = maths.split("$$")[1]
    assert formula.count("{") == formula.count("}") and "[[" not in formula
    axes = [axis for shape in re.findall(r"`([^`]+)`", maths) for axis in shape.split(", ")]
    assert (axes or kind == "views") and set(axes) <= AXES


@pytest.mark.parametrize("op", OPS)
def test_an_op_states_the_axes_of_its_result(op):
    forms = [tags for _, name, tags in variants() if name == op]
    assert forms
    for tags in forms:
        assert f"`{', '.join(OP_AXES[op])}`" in lessons.op("en", op, tags).maths


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("kind, name, tags", ALL)
def test_texts_for_the_escaping_renderer_hold_only_bold_and_code(language, kind, name, tags):
    for field, body in fields(language, kind, name, tags).items():
        assert body.count("**") % 2 == 0 and body.count("`") % 2 == 0, field
        if field not in MARKDOWN:
            bare = loader.PLACEHOLDER.sub("", body)
            assert not re.search(r"\$|\]\(|</?[a-z]|^[-#>]|_\w+_", bare, re.MULTILINE), field


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("kind, name, tags", ALL)
def test_no_lesson_states_the_sizes_or_the_words_of_one_model(language, kind, name, tags):
    """Another model has others: they come from the model and the run, as placeholders."""
    for field, body in fields(language, kind, name, tags).items():
        assert set(NUMBER.findall(NOT_NUMBERS.sub("", body))) <= TRUE_OF_ALL, field
        assert not ONE_MODELS.search(body), field


def test_a_number_that_belongs_to_one_model_is_found():
    said = "30 layers of 9 heads, 49,152 tokens, 77.3%, [[n_layers]] of SmolLM2. In $$ 12 $$ 0, 1."
    found = NUMBER.findall(NOT_NUMBERS.sub("", said))
    assert found == ["30", "9", "49,152", "77.3%", "0", "1"]


@pytest.mark.parametrize("kind, name, tags", ALL)
def test_a_gist_is_short(kind, name, tags):
    gist = fields("en", kind, name, tags)["gist"]
    assert len(gist.split()) < 15 and not gist.endswith(".")


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("name", PAGES)
def test_a_prediction_asks_and_its_answer_comes_from_the_run(language, name):
    lesson = lessons.page(language, name)
    assert re.search("[?？]", lesson.predict)
    from_run = allowed("pages", name, "reveal", lesson.reveal) - NUMBERS - TEXTS
    assert placeholders(lesson.reveal) & from_run


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("name", VIEWS)
def test_a_prediction_of_a_view_is_answered_by_the_run(language, name):
    lesson = lessons.view(language, name)
    assert bool(lesson.predict) == bool(lesson.reveal)
    if lesson.predict:
        assert re.search("[?？]", lesson.predict) and placeholders(lesson.reveal)


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("name", ABOUT_NANO)
def test_a_page_says_shortly_what_is_the_same_in_nano_and_what_is_only_small(language, name):
    small = lessons.page(language, name).small
    assert "SmolLM2" in small and small.count("**") == 4
    assert len(re.findall("[.。]", small)) <= 3 and "\n" not in small
    assert placeholders(small) <= NUMBERS - {"n_tokens"}  # said before anything has run


# --- short texts and errors


@pytest.mark.parametrize("name", ["ui", "errors"])
def test_both_languages_hold_the_same_keys_and_placeholders(name):
    english, chinese = (loader._table(language, name) for language in lessons.LANGUAGES)
    assert english.keys() == chinese.keys()
    for key in english:
        assert placeholders(english[key]) == placeholders(chinese[key]), key


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_no_short_text_states_the_sizes_or_the_words_of_one_model(language):
    """But for what is said of a model's own presets and of its reference run."""
    for key, body in loader._table(language, "ui").items():
        own = key.startswith("presets.") or ".example_" in key
        if not own and key != "checks.reference":
            said = set(NUMBER.findall(NOT_NUMBERS.sub("", body)))
            assert said <= TRUE_OF_ALL | FORMULA, key
            assert not ONE_MODELS.search(body), key


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_every_error_code_has_a_sentence_with_the_same_params(language):
    table = loader._table(language, "errors")
    assert table.keys() == SENTENCES.keys()
    for code, sentence in SENTENCES.items():
        params = {name for _, name, _, _ in Formatter().parse(sentence) if name}
        # A page names a file, not the folders of the server that it lies in.
        assert "path" not in placeholders(table[code]), code
        assert placeholders(table[code]) - {"file"} == params - {"path"}, code


# --- Chinese


def test_every_chinese_section_is_chinese():
    for form in variants():
        for field, body in fields("zh", *form).items():
            assert CHINESE.search(body), f"{form[1:]} {field}"


def test_chinese_uses_full_width_punctuation():
    for where, body in chinese_texts():
        wrong = re.search(r"[\u4e00-\u9fff][,.;:!?()]", body)
        assert not wrong, f"{where}: {wrong[0]}"


def test_a_space_stands_between_chinese_and_latin():
    for where, body in chinese_texts():
        wrong = re.search(r"[\u4e00-\u9fff][A-Za-z0-9$`\[]|[A-Za-z0-9$`\]][\u4e00-\u9fff]", body)
        assert not wrong, f"{where}: {wrong[0]}"
