"""Lines of a lesson that only some models show: the marker's rules, the same markers in every
language, and for every op of every family a text that is true for it.
"""

import re
from dataclasses import asdict, fields

import pytest

import lessons
from core.analyse import misreadings
from core.model.axes import OP_AXES
from core.record.catalogue import catalogue_of
from core.text.rules import RULES
from lessons import loader
from tests.lessons.models import CONFIGS, MISREAD, known_tags, numbers, page_tags, places

LEFT_OVER = re.compile(r"(?<!\[)\[!?\w+\](?!\])|\[\[")
MODES = (), ("together",)  # figures of one position, and of all at once
SOURCES = sorted(f"{path.parent.name}/{path.stem}" for path in (loader.ROOT / "en").glob("*/*.md"))


def whole(lesson) -> str:
    return "\n".join(asdict(lesson).values())


def lesson_of(family: str, op: str, layer: int | None = None, language: str = "en", mode=()):
    """The lesson of an op as a model of the family shows it in a layer, with a MODE of figures."""
    config = CONFIGS[family]
    own = misreadings.tags(config) if op in MISREAD else frozenset()
    return lessons.op(language, op, catalogue_of(config).op(op, layer).tags | own | {*mode})


def filled(family: str, op: str, layer: int | None = None, language: str = "en", mode=()) -> str:
    """All of it, with the numbers of the layer."""
    text = whole(lesson_of(family, op, layer, language, mode))
    tokens = dict.fromkeys(("token", "first_token", "last_token", "top_token"), "⟨token⟩")
    of_run = dict.fromkeys(MISREAD.get(op, ()), "·") | {"position": 5}
    return lessons.fill(text, **of_run | numbers(CONFIGS[family], layer) | tokens)


def said_by_some(op: str, words: str) -> bool:
    """Whether the op's lesson says it for some model."""
    here = [(name, n) for name, c in CONFIGS.items() for o, n in places(c) if o.id == op]
    return any(words in filled(name, op, n, mode=mode) for name, n in here for mode in MODES)


def markers(language: str, source: str) -> dict[str, list[str]]:
    """The markers of a lesson's source, section by section, in their order."""
    lesson = loader._lesson(language, *source.split("/"))
    found = {}
    for name, body in asdict(lesson).items():
        lines = (loader.MARKED.match(line) for line in body.split("\n"))
        found[name] = [line["markers"] for line in lines if line]
    return found


# --- the rule


@pytest.mark.parametrize(
    "body, tags, shown",
    [
        ("a\n[x] b\nc", {"x"}, "a b c"),
        ("a\n[x] b\nc", (), "a c"),
        ("a\n[!x] b\nc", {"x"}, "a c"),
        ("[!x] a\n[x] b", {"x"}, "b"),
        ("[x][!y] a\n\nb", {"x", "y"}, "b"),
        ("[x][!y] a\n\nb", {"x"}, "a\n\nb"),
        ("- a\n- [x] b\n- c", {"x"}, "- a\n- b\n- c"),
        ("- [x] a\n- b", (), "- b"),
        ("$$\na\n[x] + b\n= c\n$$", {"x"}, "$$\na\n+ b\n= c\n$$"),
        ("$$\na\n[x] + b\n= c\n$$", (), "$$\na\n= c\n$$"),
        ("[x] a\n[x] b\n\nc", (), "c"),
        ("[[x]] a [x] b", (), "[[x]] a [x] b"),
    ],
)
def test_a_line_is_shown_where_its_markers_hold(body, tags, shown):
    assert loader._paragraphs(body, tags, " ") == shown


def test_lines_join_with_a_space_in_english_and_without_one_in_chinese():
    source = "# T\n> [x] g\n> [!x] h\n\n## Idea\none.\ntwo.\n\n## Maths\nm\n\n## Look\nl\n"
    lesson = loader._parse(source, "ops", "here")
    assert loader._shown(lesson, {"x"}, loader.BETWEEN_LINES["en"]).idea == "one. two."
    assert loader._shown(lesson, {"x"}, loader.BETWEEN_LINES["zh"]).idea == "one.two."
    assert [loader._shown(lesson, tags, " ").gist for tags in ({"x"}, ())] == ["g", "h"]


# --- the files


@pytest.mark.parametrize("source", SOURCES)
def test_both_languages_hold_the_same_markers_in_the_same_order(source):
    assert markers("en", source) == markers("zh", source)


@pytest.mark.parametrize("source", SOURCES)
def test_a_marker_names_a_tag_that_some_model_gives_the_op(source):
    used = {tag for held in markers("en", source).values() for tag in re.findall(r"\w+", str(held))}
    assert used <= known_tags()[tuple(source.split("/"))]


def test_every_op_is_in_some_family():
    assert {name for kind, name in known_tags() if kind == "ops"} == set(OP_AXES)


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("family", CONFIGS)
def test_every_lesson_of_a_family_is_whole_and_names_only_numbers_it_has(family, language):
    for op, layer in places(CONFIGS[family]):
        lesson = lessons.op(language, op.id, op.tags)
        for field in fields(lesson)[:5]:  # those that every op has
            assert getattr(lesson, field.name).strip(), (op.id, layer, field.name)
        for mode in MODES:
            found = LEFT_OVER.search(filled(family, op.id, layer, language, mode))
            assert not found, (op.id, layer, found)


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("family", CONFIGS)
def test_every_page_of_a_family_is_without_markers(family, language):
    for name, tags in page_tags(CONFIGS[family]):
        text = loader.PLACEHOLDER.sub("", whole(lessons.page(language, name, tags)))
        assert not LEFT_OVER.search(text), name


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("family", CONFIGS)
def test_every_op_weight_and_kind_of_a_family_has_a_short_name(family, language):
    for op, _ in places(CONFIGS[family]):
        keys = {f"ops.{op.id}", f"terms.{op.kind}"}
        keys |= {f"weights.{name}" for name in op.weights + op.biases}
        assert all(lessons.text(language, key) for key in keys)


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_every_way_of_cutting_a_text_is_explained(language):
    for name in {rule.name for rule in RULES.values()} | {"sentencepiece", "words", "file", "none"}:
        assert lessons.text(language, f"tokens.pieces_{name}")


# --- what is true for whom: words that a family's lesson of an op must hold, and must not

NORMS = ("attn_norm", "mlp_norm", "final_norm")


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("op", NORMS)
@pytest.mark.parametrize("family", [f for f in CONFIGS if "olmo2" not in f])
def test_a_norm_is_called_what_it_is(family, op, language):
    layer = None if op == "final_norm" else 1
    text, formula = (
        filled(family, op, layer, language),
        lesson_of(family, op, layer, language).maths,
    )
    layer_norm = family.startswith("gpt")
    assert ("LayerNorm" in text, "RMSNorm" in text) == (layer_norm, not layer_norm)
    assert (r"\mu_t" in formula, r"\sigma_t" in formula) == (layer_norm, layer_norm)
    assert ("偏置 $" in formula or "bias $" in formula) == layer_norm


@pytest.mark.parametrize("language", lessons.LANGUAGES)
@pytest.mark.parametrize("family", CONFIGS)
def test_an_activation_is_called_what_it_is(family, language):
    config = CONFIGS[family]
    silu = config.activation == "silu"
    for op in ("mlp.act", "mlp.hidden") if config.gated else ("mlp.act",):
        text = filled(family, op, 0, language).lower()
        assert (r"\mathrm{silu}" in text, r"\mathrm{gelu}" in text) == (silu, not silu)
    text = filled(family, "mlp.act", 0, language)
    assert (r"\tanh(\beta" in text, r"\Phi" in text.split("$$")[1]) == (
        config.activation == "gelu_tanh",
        config.activation == "gelu_erf",
    )
    assert ("SiLU" in text, "GELU" in text) == (silu, not silu)
    assert any(w in text for w in ("gate", "门")) == config.gated


@pytest.mark.parametrize("family", CONFIGS)
def test_a_bias_is_told_of_exactly_where_there_is_one(family):
    for op, _ in places(CONFIGS[family]):
        if op.kind == "dot":
            maths = lessons.op("en", op.id, op.tags).maths
            assert ("bias $b" in maths) == bool(op.biases) == ("+ b" in maths.split("$$")[1]), op.id


HOLDS = [  # family, op, layer, what its lesson says
    ("llama", "attn.q", 0, "normalised vector"),
    ("olmo2", "attn.q", 0, "no norm before attention"),
    ("olmo2", "mlp.gate", 0, "no norm before the MLP"),
    ("olmo2", "mlp.up", 0, "no norm before the MLP"),
    ("llama", "attn.k", 0, "read the same KV head: 2."),
    ("gemma", "attn.k", 0, "read the same KV head: 4."),
    ("gpt2", "attn.k", 0, "a KV head of its own"),
    ("llama", "attn.scores", 0, "divided by the square root of the head size, 2.44949"),
    (
        "gemma2",
        "attn.scores",
        0,
        "a constant of this model, 0.25, which is the same as dividing by 4.",
    ),
    ("gpt2", "attn.scores", 0, "not rotated in this layer"),
    ("smollm3", "attn.scores", 3, "not rotated in this layer"),
    ("llama", "attn.q_rot", 0, r"$d_r$ = 6, $\theta$ = 10,000"),
    ("smollm3", "attn.q_rot", 0, r"$\theta$ = 2,000,000"),
    ("gemma3", "attn.q_rot", 0, r"$\theta$ = 10,000"),
    ("gemma3", "attn.q_rot", 1, r"$\theta$ = 1,000,000"),
    ("gemma3", "attn.q_rot", 1, "RoPE scaling"),
    ("phi3", "attn.q_rot", 0, "Only the first 4 of the 6 numbers"),
    ("gpt_neox", "attn.k_rot", 0, "holds for the 2 numbers of a head that turn"),
    ("gemma2", "attn.masked", 0, "only the last 13 positions"),
    ("gemma2", "attn.masked", 0, "$w$ = 13"),
    ("gemma2", "attn.masked", 1, "the last one at everything"),
    ("gemma2", "attn.softcap", 0, "none gets past 50 in"),
    ("gemma2", "logits", None, "one more step, which caps them"),
    ("gemma2", "logits_capped", None, "none gets past 30 in"),
    ("llama", "logits", None, "add the same number to all of them"),
    ("gemma", "embed_scaled", None, "the same constant, 4.89898"),
    ("gpt2", "pos_embed", None, "for each of 90 positions"),
    ("qwen3", "attn.q_norm", 0, "In every head by itself"),
    ("olmo2", "attn.q_norm", 0, "takes all heads of a token together"),
    ("olmo2", "attn.k_norm", 0, "takes all KV heads of a token together"),
    ("gpt_neox", "mlp_norm", 0, "stream **before** attention was added"),
    ("gpt_neox", "resid_mid", 0, "the MLP does not read this sum"),
    ("gpt2", "mlp_norm", 0, "stream **after** attention was added"),
    ("gpt2", "mlp.up", 0, "has no gate"),
    ("gpt2", "mlp.act", 0, "how active each neuron is"),
    ("llama", "mlp.up", 0, "The gate will scale it"),
    ("llama", "mlp.hidden", 0, "SwiGLU"),
    ("gemma", "mlp.hidden", 0, "GeGLU"),
    ("llama", "attn.out", 0, "all that attention in layer 0 adds"),
    ("gemma2", "attn.out", 0, "not yet what is added"),
    ("gemma2", "attn.post_norm", 0, "all that attention in layer 0 adds"),
    ("olmo2", "mlp.out", 0, "not yet what is added"),
]
HOLDS_NOT = [
    ("olmo2", "attn.q", 0, "normalised vector"),
    ("gpt2", "attn.k", 0, "Query heads that read the same"),
    ("gemma2", "attn.scores", 0, r"\sqrt{d_h}"),
    ("gpt2", "attn.scores", 0, "q'"),
    ("gemma3", "attn.q_rot", 1, r"t\,\theta^{-2i/d_r}"),
    ("gemma3", "attn.q_rot", 1, "one radian per position"),
    ("gemma3", "attn.q_rot", 0, "RoPE scaling"),
    ("llama", "attn.q_rot", 0, "Only the first"),
    ("gemma2", "attn.masked", 1, "window"),
    ("llama", "attn.masked", 0, "window"),
    ("gemma2", "attn.masked", 0, "the last one at everything"),
    ("gemma2", "logits", None, "add the same number to all of them"),
    ("gpt_neox", "mlp_norm", 0, "x'_{t,i}"),
    ("gpt2", "resid_mid", 0, "does not read this sum"),
    ("gpt2", "mlp.up", 0, "gate step"),
    ("olmo2", "mlp.out", 0, "adds to each token"),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("family, op, layer, words", HOLDS)
def test_a_lesson_says_what_its_model_does(family, op, layer, words, mode):
    assert words in filled(family, op, layer, mode=mode)


@pytest.mark.parametrize("family, op, layer, words", HOLDS_NOT)
def test_a_lesson_does_not_say_what_its_model_does_not_do(family, op, layer, words):
    assert said_by_some(op, words)
    assert not any(words in filled(family, op, layer, mode=mode) for mode in MODES)


def test_the_output_page_caps_where_the_model_does():
    pages = {
        family: whole(lessons.page("en", "output", dict(page_tags(CONFIGS[family]))["output"]))
        for family in ("llama", "gemma2", "gemma3")
    }
    assert [r"\tanh" in text for text in pages.values()] == [False, True, False]


def test_the_block_page_says_what_the_mlp_reads():
    tags = {family: dict(page_tags(CONFIGS[family]))["block"] for family in ("gpt2", "gpt_neox")}
    formulas = [lessons.page("en", "block", held).maths.split("$$")[1] for held in tags.values()]
    assert [r"\mathrm{MLP}\left(x_t\right)" in text for text in formulas] == [False, True]
    assert [r"\mathrm{MLP}\left(x'_t\right)" in text for text in formulas] == [True, False]
