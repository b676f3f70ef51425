"""The token that a view is about: what is typed into its box, and what the list shows."""

import lessons
from tests.pages import reader

SOME = "<b>[[n]] &amp; {x}"


def typed(app, text):
    """The view after a reader typed something into the box for a token of their own."""
    app.text_input(key="target_own").set_value(text).run()
    assert not app.exception and app.text_input(key="target_own").value == ""
    return app.session_state["target"]


def test_a_token_of_ones_own(smollm):
    display, encode = smollm.tokenizer.display, smollm.tokenizer.encode
    app = reader.open_page("lens", op="parts", prompt="The sky is", target=99_999_999)
    first = app.selectbox(key="target_list").value
    assert app.session_state["target"] is None  # past the vocabulary: as if none were chosen

    several = lessons.text("en", "target.first", word="{}", token="{}").split("{}")[1].strip()
    assert len(encode("Eiffel")) > 1 and len(encode("grassland")) > 1 == len(encode(" grassland"))
    assert display(typed(app, " grassland")) == "␣grassland"  # with its space, one token
    assert app.selectbox(key="target_list").value == app.session_state["target"]
    assert several not in reader.text(app)
    assert display(typed(app, "Eiffel")) in ("E", "␣E") and several in reader.text(app)

    before = app.session_state["target"]
    assert typed(app, "   ") == before  # no token that could be seen
    assert typed(app, SOME) != before and several in reader.text(app)
    assert SOME in reader.text(app) and not any("<b>[[n" in part for part in reader.html(app))
    app.selectbox(key="target_list").select(first).run()
    assert app.session_state["target"] == first and several not in reader.text(app)


def test_the_other_token_is_never_the_same():
    app = reader.open_page("lens", model="nano", op="parts", kind="other", target=5, against=5)
    assert not app.exception
    ours, other = (app.selectbox(key=f"{name}_list") for name in ("target", "against"))
    assert ours.value == 5 and other.value not in (None, 5)
