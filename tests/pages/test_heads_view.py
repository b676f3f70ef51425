"""The output of attention on its page: each head's part of a number, and whom it looks at beside
how much it writes. The numbers once more with plain NumPy.
"""

import re

import numpy as np
import pytest

import lessons
from core import RunSpec, open_model, run
from tests.families import build_gguf
from tests.pages import reader

LINE = re.compile(r'<tr data-head="(\d+)"([^>]*)>(.*?)</tr>')
EACH_LANGUAGE = pytest.mark.parametrize("language", lessons.LANGUAGES)
PROMPT = "When Mary and John went to the store, John gave a drink to"


def open_step(**link):
    return reader.open_page("block", op="attn.out", **link)


def tables(app):
    """The lists of heads: each line as (head, whether it is chosen, cells)."""
    lists = [LINE.findall(part) for part in reader.html(app) if "data-head" in part]
    return [[(int(h), "tw-here" in mark, cells(row)) for h, mark, row in found] for found in lists]


def cells(row):
    return [reader.plain(cell) for cell in re.findall("<td>(.*?)</td>", row)]


def number(text):
    return float(text.replace("−", "-").rstrip("%"))


def written(trace, layer, position):
    """What each head writes: [head, embedding]."""
    weight = trace.model.weights.get("attn_out", layer).astype(float)
    mixed = trace.read("attn.mix", layer)[position].astype(float)
    each = np.split(weight, len(mixed), axis=1)
    return np.array([part @ c for part, c in zip(each, mixed, strict=True)])


@EACH_LANGUAGE
def test_looking_is_not_writing(language, smollm):
    """The preset of the head that looks at Mary and lowers it: every head with what it does."""
    app = open_step(prompt=PROMPT, layer=24, head=4, cell=100, lang=language)
    trace = run(RunSpec("smollm2-135m-instruct", prompt=PROMPT))
    vectors, last = written(trace, 24, -1), trace.read("attn.out", 24)[-1].astype(float)
    parts, whole = tables(app)
    assert [head for head, _, _ in parts] == [head for head, _, _ in whole] == list(range(9))
    assert [h for h, here, _ in parts if here] == [h for h, here, _ in whole if here] == [4]
    shares = []
    for (h, _, part), (_, _, row), vector in zip(parts, whole, vectors, strict=True):
        assert part[1] == str(h // 3) and number(part[2]) == pytest.approx(vector[100], abs=6e-4)
        weights = trace.read("attn.weights", 24)[h, -1]
        assert row[1] == f"{trace.tokens[weights.argmax()]} ({weights.argmax()})"
        assert number(row[2]) == pytest.approx(weights.max(), abs=0.006)
        length = np.linalg.norm(vector)
        assert number(row[3]) == pytest.approx(length, abs=0.006)
        cosine = vector @ last / length / np.linalg.norm(last)
        assert number(row[5]) == pytest.approx(cosine, abs=0.006)
        shares.append(number(row[6]))
    assert sum(shares) == pytest.approx(100, abs=0.5) and whole[4][2][1] == "␣Mary (1)"
    assert reader.verdict(app) == "equal" and f"{last[100]:.4f}".replace("-", "−") in reader.text(
        app
    )


@pytest.mark.parametrize("family, biased", [("gpt2", True), ("olmo2", False)])
def test_a_bias_belongs_to_no_head(family, biased, tmp_path, monkeypatch):
    path = build_gguf(tmp_path / f"{family}.gguf", family)
    monkeypatch.setenv("TOKENWALK_MODELS", path)
    app = open_step(model=family, prompt="the cat and the cat", layer=1, cell=7, pos=3)
    (shown, _), foot = (
        tables(app),
        re.findall('class="tw-foot">(.*?)</tr>', "".join(reader.html(app))),
    )
    model, total = open_model(path), sum(number(part[2]) for _, _, part in shown)
    if biased:
        bias = model.weights.get("attn_out_bias", 1)[7]
        assert [number(cells(line)[2]) for line in foot] == [pytest.approx(bias, abs=6e-4)]
        total += bias
    assert len(foot) == biased
    row = run(RunSpec(path, prompt="the cat and the cat")).read("attn.out", 1)[3]
    assert total == pytest.approx(row[7], abs=3e-3)
    assert (lessons.text("en", "block.heads.shares_bias") in reader.text(app)) == biased
    assert ("heads and the bias" in reader.text(app)) == biased


@EACH_LANGUAGE
def test_all_positions_show_how_much_each_head_writes(language):
    app = open_step(model="nano", prompt="a cat\nand a cat", together=1, layer=1, head=2,
        lang=language)  # fmt: skip
    trace = run(RunSpec("nano", prompt="a cat\nand a cat"))
    (shown,) = [each for each in reader.canvases(app) if each.get("columns") is None
        and each.get("limit") and len(each.get("rows", ())) == len(trace.ids)
        and each["palette"] == "amount"]  # fmt: skip
    assert shown["rows"] == list(trace.tokens)
    assert shown["selected"] == [len(trace.ids) - 1, 2]
    lengths = [np.linalg.norm(written(trace, 1, t), axis=1).max() for t in range(len(trace.ids))]
    assert shown["limit"] == pytest.approx(max(lengths), rel=1e-5)
    assert not tables(app)
