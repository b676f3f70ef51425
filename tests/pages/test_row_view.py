"""The row of a token on the page: its numbers, its place and bytes in the file, its length."""

import re
import struct

import numpy as np
import pytest

import lessons
from core import ModelFileError, RunSpec, open_model, run
from core.analyse import rows
from tests.families import build_gguf
from tests.pages import reader

PROMPT = "The capital of France is"
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)
HOSTILE = "<b>bold</b> <script>x()</script> $x$ **y** [z](w)"


def open_view(**link):
    return reader.open_page("embedding", **{"prompt": PROMPT} | link)


def dump(app) -> str:
    """The bytes of the file as they stand on the page."""
    (found,) = [part for part in reader.html(app) if ' tw-hex"' in part.partition(">")[0]]
    return found


def dumped(app) -> list[tuple[int, list[str]]]:
    """The lines of bytes: where each begins, and its bytes."""
    lines = re.findall(r"<div><span>([\d,]+)</span>(.*?)</div>", dump(app))
    return [(int(at.replace(",", "")), re.findall(">([0-9A-F]{2})<", cells)) for at, cells in lines]


def marked(app, kind) -> str:
    return " ".join(re.findall(f'<b class="{kind}">(..)</b>', dump(app)))


@pytest.mark.parametrize("model", ["smollm2-135m-instruct", "nano"])
def test_only_nanos_rows_are_said_to_be_half_unused(model, smollm):
    nano = lessons.text("en", "embedding.row.table_nano")
    assert (nano in reader.text(open_view(model=model))) == (model == "nano")


def test_the_bytes_of_a_quantized_row_are_those_of_the_file(smollm):
    """Read with plain Python: a block of Q8_0 is a float16 and 32 signed bytes."""
    app = open_view(pos=3, cell=100)
    here, id = smollm.source.embed, smollm.tokenizer.encode(" France")[0]
    start = here.offset + (id * 18 + 100 // 32) * 34
    raw = here.path.read_bytes()[start : start + 34]
    lines = dumped(app)
    assert [at for at, _ in lines] == [start, start + 16, start + 32]
    assert " ".join(byte for _, line in lines for byte in line) == raw.hex(" ").upper()
    assert marked(app, "scale") == raw[:2].hex(" ").upper()
    assert marked(app, "own") == f"{raw[2 + 100 % 32]:02X}"
    (scale,), (whole,) = struct.unpack("<e", raw[:2]), struct.unpack("<b", raw[6:7])
    assert scale * whole == smollm.weights.embed[id, 100]
    shown = f"{scale * whole:.9g}".replace("-", "−")
    assert reader.text(app).count(shown) >= 1 and reader.verdict(app) == "equal"
    place = f"{here.offset:,} + {id} × 612 = {here.offset + id * 612:,}"
    assert place in reader.text(app)


def test_the_bytes_of_a_float_are_those_of_the_file():
    nano = open_model("nano")
    app = open_view(model="nano", pos=2, cell=13)
    here, id = nano.source.embed, run(RunSpec("nano", prompt=PROMPT)).ids[2]
    start = here.offset + id * 256 + 8 * 4
    raw = here.path.read_bytes()[start : start + 32]
    assert dumped(app)[0][0] == start
    assert " ".join(b for _, line in dumped(app) for b in line) == raw.hex(" ").upper()
    assert marked(app, "own") == raw[20:24].hex(" ").upper() and not marked(app, "scale")
    assert struct.unpack("<f", raw[20:24])[0] == nano.weights.embed[id, 13]
    assert reader.verdict(app) == "equal"


@EACH_LANGUAGE
def test_the_length_stands_beside_those_of_the_vocabulary(language, smollm):
    app = open_view(lang=language, pos=3)
    lengths = np.linalg.norm(smollm.weights.embed.astype(float), axis=1)
    mine = lengths[smollm.tokenizer.encode(" France")[0]]
    shown = reader.text(app)
    assert f"{mine:.4f}" in shown and f"{(lengths < mine).sum():,}" in shown
    for id in (lengths.argmin(), lengths.argmax()):
        assert smollm.tokenizer.display(int(id)) in shown


def test_a_token_that_comes_twice_has_equal_rows():
    said = reader.pieces(lessons.loader._table("en", "ui")["embedding.row.again"])
    app = open_view(prompt="a b a c a", pos=2)
    (line,) = [part for part in map(reader.plain, reader.html(app)) if said[0] in part]
    assert "(also at position: 4)" in line  # the first has no space before it
    assert not any(said[0] in part for part in map(reader.plain, reader.html(open_view())))


def test_what_enters_the_first_layer_is_the_row(smollm):
    app = open_view(pos=1)
    app.session_state["reveal"] = True
    assert "At position 1, 576 of the 576 numbers" in reader.text(app.run())


@pytest.mark.parametrize("family, op", [("gemma2", "embed_scaled"), ("gpt2", "pos_embed")])
def test_a_model_that_changes_the_row_shows_that_step_too(family, op, tmp_path, monkeypatch):
    monkeypatch.setenv("TOKENWALK_MODELS", str(build_gguf(tmp_path / f"{family}.gguf", family)))
    app = open_view(model=family, prompt="the cat and the cat", pos=3, cell=5)
    lesson = lessons.op("en", op, frozenset())
    for section in ("title", "gist", "idea", "look"):
        assert not reader.missing(app, getattr(lesson, section)), section
    found = re.findall(r'data-verdict="(\w+)"', "".join(reader.html(app)))
    assert found == ["equal", "equal"]  # the file's, and this step's
    app.session_state["reveal"] = True
    n_same = re.search(r"At position 3, (\d+) of the 32 numbers", reader.text(app.run()))
    assert int(n_same[1]) < 32


@pytest.mark.parametrize("link", [
    {"prompt": HOSTILE}, {"prompt": "x"}, {"prompt": "\n"}, {"prompt": "👨‍👩‍👧"},
    {"cell": 576}, {"cell": 999_999_999}, {"cell": "-1"}, {"pos": 99}, {"op": "<b>"},
])  # fmt: skip
def test_whatever_a_link_says(link, smollm):
    app = open_view(**link)
    assert not app.exception and not reader.notices(app, "error")
    assert reader.verdict(app) == "equal"
    assert "<script" not in "".join(reader.html(app)) and "<b>bold" not in "".join(reader.html(app))
    assert "bold" not in "\n".join(value.value for value in (*app.markdown, *app.caption))
    assert app.session_state["cell"] is None and app.session_state["op"] is None


def test_a_file_that_changed_is_one_sentence(smollm, monkeypatch):
    def changed(*_):
        raise ModelFileError("changed", path="/somewhere/m.gguf")

    monkeypatch.setattr(rows, "from_file", changed)
    app = open_view()
    (said,) = reader.notices(app, "error")
    assert said == reader.plain(lessons.error("en", "changed", file="m.gguf"))
    assert "/somewhere" not in reader.text(app)
