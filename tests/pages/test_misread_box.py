"""What is often believed, on the page: where it stands, closed at first, and answered by the run.

What the numbers must be is tested in tests/core/test_misreadings.py.
"""

import re

import pytest

import lessons
from core import RunSpec, run
from core.analyse import misreadings
from core.record.catalogue import catalogue_of
from pages.parts.html import percent
from tests.families import build_gguf
from tests.lessons.models import MISREAD
from tests.pages import reader

PROMPT = "The capital of France is"
HOSTILE = "<b>x</b> **y** [[token]] $z$"
OPEN = lessons.loader.PLACEHOLDER


def boxes(app) -> list[str]:
    """The beliefs on the page, without the mark-up of their label."""
    lead = lessons.text(app.session_state["lang"], "block.misread.belief", belief="")
    return [box.label.removeprefix(lead) for box in app.expander if box.label.startswith(lead)]


def answer(app) -> str:
    """What the open box says; "" where it is closed."""
    found = [part for part in reader.html(app) if part.startswith('<div class="tw-misread">')]
    return found[0] if found else ""


def opened(app, op) -> str:
    """The answer at an op, after a click on the box."""
    app.session_state[f"misread_{op}"] = True
    app.run()
    assert not app.exception and not reader.notices(app, "error")
    return answer(app)


def go(app, op, **more):
    for name, value in ({"op": op, "cell": None, "moved": True} | more).items():
        app.session_state[name] = value
    return app.run()


def test_closed_at_first_and_again_at_the_next_step(monkeypatch):
    app = reader.open_page("block", model="nano", prompt=PROMPT, op="attn.masked", layer=0)
    belief, _, _ = lessons.op("en", "attn.masked", ()).misread.partition("\n\n")
    assert boxes(app) == [belief] and answer(app) == ""
    assert "✓ stands there" in opened(app, "attn.masked")
    for op in ("attn.weights", "attn.masked"):
        assert answer(go(app, op)) == "" and len(boxes(app)) == 1
    monkeypatch.setattr(misreadings, "guesses", None)  # nothing is computed for a closed box
    assert not app.run().exception


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_the_guesses_of_the_rows_are_those_of_the_run(language):
    trace = run(RunSpec("nano", prompt=PROMPT))
    rows = misreadings.guesses(trace)
    app = reader.open_page("output", model="nano", prompt=PROMPT, op="final_norm", lang=language)
    said = opened(app, "final_norm")
    lines = [reader.plain(line) for line in re.findall("<li>(.*?)</li>", said)]
    assert len(lines) == len(rows) == 6
    for row, line in zip(rows, lines, strict=True):
        shown = {"token": trace.tokens[row.position], "prob": percent(row.prob)}
        shown |= {"position": row.position, "guess": trace.model.tokenizer.display(row.best)}
        place = lessons.text(language, "block.misread.guess", **shown)
        assert line.startswith(place)
        right = lessons.text(language, "block.misread.right") in line
        assert right == (row.rank == 1), line
        assert right or row.next is None or f"{row.rank}" in line
    assert "new" in lines[-1] or "新" in lines[-1]
    n_right = sum(row.rank == 1 for row in rows)
    ends = {"en": f"right in first place: {n_right}.", "zh": f"其中首选就猜对的：{n_right}。"}
    assert ends[language] in reader.plain(said)


def test_the_box_stands_where_the_guesses_are_and_nowhere_else():
    app = reader.open_page("block", model="nano", prompt=PROMPT, op="resid_post", layer=0)
    assert boxes(app) == []
    assert len(boxes(go(app, "resid_post", at_layer=1))) == 1
    assert boxes(go(app, "mlp.up")) == []
    app = reader.open_page("output", model="nano", prompt=PROMPT)
    assert [len(boxes(go(app, op))) for op in ("final_norm", "logits", "probs")] == [1, 1, 1]


@pytest.mark.parametrize(
    "family, language", [("gpt2", "zh"), ("gemma2", "en"), ("olmo2", "en"), ("smollm3", "zh")]
)
def test_every_box_of_a_family_opens(family, language, tmp_path, monkeypatch):
    path = str(build_gguf(tmp_path / f"{family}.gguf", family))
    monkeypatch.setenv("TOKENWALK_MODELS", path)
    trace = run(RunSpec(path, prompt="the cat and the cat"))
    block = catalogue_of(trace.config).blocks[-1]
    layer = len(trace.config.ropes) - 1
    app = reader.open_page(
        "block", model=family, prompt="the cat and the cat", lang=language, layer=layer, head=3
    )
    for op in [op for op in block if op in MISREAD]:
        said = answer(go(app, op, **{f"misread_{op}": True}))
        assert said and not OPEN.search(said) and not app.exception, op
        told = lessons.op(language, op, block[op].tags | misreadings.tags(trace.config)).misread
        whole = reader.plain(said)
        assert not [p for p in reader.pieces(told.partition("\n\n")[2]) if p not in whole], op
        if op == "attn.scores":  # a door to the page of rotations, where something turns
            doors = [button for button in app.button if button.key == "misread_door"]
            assert bool(doors) == bool(trace.config.ropes[layer])
        del app.session_state[f"misread_{op}"]


def test_the_score_over_the_distance_is_that_of_the_chosen_key():
    """A cell of the scores is a key; one of the turned keys is a number of a row."""
    trace = run(RunSpec("nano", prompt=PROMPT))
    keys = [misreadings.nearer(trace, 1, 2, 5, key).key for key in (2, None)]
    app = reader.open_page("block", model="nano", prompt=PROMPT, layer=1, head=2, pos=5, cell=2)
    for op, key in zip(("attn.scores", "attn.k_rot"), keys, strict=True):
        said = reader.plain(opened(go(app, op, cell=2), op))
        assert f"{trace.tokens[key]} (position {key})" in said
    assert keys[0] != keys[1]


def test_tokens_are_shown_as_they_are_and_never_read():
    app = reader.open_page("block", model="nano", prompt=HOSTILE, op="attn.weights", layer=1)
    said = opened(app, "attn.weights")
    assert "<b>x" not in said and said.count("<li>") >= misreadings.KEYS
    guesses = opened(go(app, "attn.masked"), "attn.masked")
    assert re.search(r"<bdi[^>]*>[^<]*&lt;", guesses) and "<b>x" not in guesses


@pytest.mark.parametrize("op", ["attn.weights", "attn.scores", "attn.masked", "attn.k"])
def test_one_token_is_enough(op):
    app = reader.open_page("block", model="nano", prompt="x", op=op, layer=1)
    assert opened(app, op)


@pytest.mark.parametrize(
    "op, page, place", [("attn.scores", "positions", "distance"), ("attn.masked", "output", None)]
)
def test_a_door_leads_to_where_it_can_be_tried(op, page, place):
    app = reader.open_page("block", model="nano", prompt=PROMPT, op=op, layer=1, head=2, pos=5)
    opened(app, op)
    app.button(key="misread_door").click().run()
    assert (
        not app.exception
        and not reader.title_missing(app, "en", page)
        and app.session_state["pos"] == 5
    )
    assert app.session_state["page"] == page and app.session_state["op"] == place
