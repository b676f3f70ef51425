"""The renderer and the link, piece by piece.

Knows pages/parts/html.py and session.py; needs no model.
"""

import re
from types import SimpleNamespace

import pytest

import lessons
from core.analyse.agreement import compare
from pages.parts import explanation, html, session
from pages.parts.html import Token

# ---- the renderer --------------------------------------------------------------------------------


def test_a_template_has_bold_code_and_placeholders():
    made = html.rich("**Layer** [[n]]: `[[op]]`", n=3, op="attn.q")
    assert made == "<b>Layer</b> 3: <code>attn.q</code>"


@pytest.mark.parametrize(
    "value, shown",
    [
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("**x**", "**x**"),
        ("`x`", "`x`"),
        ("[[n]]", "[[n]]"),
        ("a & b", "a &amp; b"),
        ("\"'", "&quot;&#x27;"),
    ],
)
def test_a_value_is_never_read_as_a_template(value, shown):
    assert html.rich("say [[text]]", text=value, n="never") == f"say {shown}"
    assert html.rich("say [[text]]", text=Token(value), n="never") == (
        f'say <bdi class="tw-token ">{shown}</bdi>'
    )


def test_marks_around_a_value_do_not_join_with_marks_inside_it():
    assert html.rich("**[[a]]** and **[[b]]**", a="x** y", b="`z") == "<b>x** y</b> and <b>`z</b>"


def test_a_template_itself_is_escaped():
    assert html.rich("1 < 2 & <script>") == "1 &lt; 2 &amp; &lt;script&gt;"


def test_a_missing_value_is_an_error_that_names_it():
    with pytest.raises(KeyError, match="who"):
        html.rich("[[who]]")


def test_paragraphs_and_tables():
    assert html.paragraphs("a\n\nb") == "<p>a</p><p>b</p>"
    table = html.table(["h"], [["1"], ["2"]])
    assert table == (
        '<table class="tw-table "><thead><tr><th>h</th></tr></thead>'
        "<tbody><tr><td>1</td></tr><tr><td>2</td></tr></tbody></table>"
    )


@pytest.mark.parametrize(
    "value, shown",
    [
        (0.0, "0.0000"),
        (-0.0, "0.0000"),
        (-1.5, "−1.5000"),
        (0.001, "0.0010"),
        (0.00099, "9.90e−04"),
        (99_999.0, "99999.0000"),
        (123_456.0, "1.23e+05"),
        (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        (float("nan"), "–"),
    ],
)
def test_numbers(value, shown):
    assert html.number(value) == shown


@pytest.mark.parametrize(
    "share, shown",
    [
        (0.7734, "77.3%"),
        (1.0, "100.0%"),
        (0.9994, "99.9%"),
        (0.9995, "99.95%"),
        (0.99996, "99.996%"),
        (0.9999934, "99.9993%"),
        (-0.99996, "−99.996%"),
        (1.00037, "100.04%"),
        (1 - 2**-24, "100.0%"),
        (1.00000012, "100.0%"),
        (0.0, "0.0%"),
        (0.0005, "0.1%"),
        (4.4e-4, "0.044%"),
        (2e-7, "2e-05%"),
        (-0.1234, "−12.3%"),
        (-4.4e-4, "−0.044%"),
        (-0.0, "0.0%"),
        (float("nan"), "–"),
    ],
)
def test_shares(share, shown):
    assert html.percent(share) == shown


# ---- the link ------------------------------------------------------------------------------------


class Query(dict):
    """The address, as Streamlit hands it out."""

    to_dict = dict.copy

    def from_dict(self, values):
        """Other values, all at once."""
        self.clear()
        self.update(values)


@pytest.fixture
def visit(monkeypatch):
    """A reader who opens a link: the session, after the link was read."""

    def opened(**link):
        fake = SimpleNamespace(session_state={}, query_params=Query(link))
        monkeypatch.setattr(session, "st", fake)
        session.begin({"small": "small", "large": "/models/large.gguf"})
        return fake

    return opened


def test_a_link_without_values_leaves_the_defaults(visit):
    state = visit().session_state
    assert [state[name] for name in ("op", "pos", "cell")] == [None, None, None]
    assert (state["lang"], state["mode"], state["model"]) == ("en", "plain", "small")


def test_a_link_with_values(visit):
    state = visit(
        op="attn.q", pos="3", cell="0", lang="zh", mode="chat", model="large"
    ).session_state
    assert (state["op"], state["pos"], state["cell"]) == ("attn.q", 3, 0)
    assert (state["lang"], state["mode"], state["model"]) == ("zh", "chat", "large")


@pytest.mark.parametrize("value", ["", "-1", "1.0", "1e3", " 1", "٣", "²", "9" * 10, "x"])
def test_only_whole_numbers_are_taken_from_a_link(visit, value):
    state = visit(pos=value, cell=value).session_state
    assert (state["pos"], state["cell"]) == (None, None)


def test_a_path_in_the_link_is_no_model_but_is_remembered_for_the_sentence(visit):
    state = visit(model="/models/large.gguf").session_state
    assert (state["model"], state["asked_model"]) == ("small", "/models/large.gguf")


def test_the_link_is_read_once(visit):
    fake = visit(lang="zh")
    fake.session_state["lang"] = "en"
    session.begin({"small": "small"})
    assert fake.session_state["lang"] == "en"


def test_a_link_holds_what_is_not_the_default_and_only_the_place_of_its_page(visit):
    fake = visit(prompt="Hi", lang="zh", op="attn.q", pos="3", cell="7")
    session.write_link("block", "small", ("pos",))
    assert fake.query_params == {"prompt": "Hi", "lang": "zh", "pos": "3"}
    session.put(lang="en", pos=0)
    session.write_link("block", "small", ("op", "pos", "cell"))
    assert fake.query_params == {"prompt": "Hi", "op": "attn.q", "pos": "0", "cell": "7"}


def test_back_and_forward_read_the_link_again_but_never_undo_a_move(visit):
    models = {"small": "small"}
    fake = visit(op="attn.q")
    session.follow("block", models)
    session.write_link("block", "small", session.PLACE)
    fake.query_params["op"] = "attn.k"  # the browser went back
    session.follow("block", models)
    assert fake.session_state["op"] == "attn.k"
    session.write_link("block", "small", session.PLACE)
    session.put(op="attn.v")  # a key press, while the browser still shows an older address
    fake.query_params["op"] = "attn.q"
    session.follow("block", models)
    assert fake.session_state["op"] == "attn.v"
    session.write_link("block", "small", session.PLACE)
    fake.query_params.clear()  # another page: Streamlit drops what is not bound
    session.follow("output", models)
    assert fake.session_state["op"] is None  # each page keeps its own step
    session.follow("block", models)
    assert fake.session_state["op"] == "attn.v"


def test_what_a_link_says_is_read_back(visit):
    fake = visit(lang="zh", mode="chat", model="large")
    session.put(op="mlp.up", pos=2, cell=1535)
    session.write_link("block", "small", session.PLACE)
    before = {
        name: fake.session_state[name] for name in ("lang", "mode", "model", "op", "pos", "cell")
    }
    after = visit(**fake.query_params).session_state
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("chosen, position", [(None, 4), (0, 0), (4, 4), (5, 4), (999, 4)])
def test_a_position_past_the_end_is_the_last(visit, chosen, position):
    visit()
    session.put(pos=chosen)
    assert session.position(5) == position


def test_another_text_forgets_the_place(visit):
    state = visit(op="attn.q", pos="3", cell="7").session_state
    session.forget_place()
    assert (state["op"], state["pos"], state["cell"]) == ("attn.q", None, None)


def test_an_unknown_language_is_the_first(visit):
    assert visit(lang="xx").session_state["lang"] == lessons.LANGUAGES[0]


@pytest.mark.parametrize("recorded, verdict", [(1.0, "equal"), (2.0, "unequal")])
def test_whether_it_agrees_stands_below_what_was_computed_again(recorded, verdict, monkeypatch):
    shown = []
    monkeypatch.setattr(html, "show", shown.append)
    explanation.agreed(compare([1.0], [recorded]), [("the sum", "1.0000")], said="Once more.")
    assert re.findall(r'data-verdict="(\w+)"', *shown) == [verdict]
    order = [shown[0].index(part) for part in ("Once more.", "the sum", "data-verdict")]
    assert order == sorted(order)
