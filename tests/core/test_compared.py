"""Texts side by side: counts worked by hand, costs beside what a run holds and multiplies."""

import math

import numpy as np
import pytest

from core import RunSpec, open_model, run
from core.analyse import compared
from core.model import ops
from tests import families

FAMILY = "👨‍👩‍👧"


@pytest.mark.parametrize(
    "text, n_characters, n_bytes, n_tokens",
    [
        ("今天天气很好", 6, 18, 13),
        ("The weather is nice today", 25, 25, 5),
        (FAMILY, 5, 18, 13),
        ("", 0, 0, 0),
    ],
)
def test_characters_bytes_and_tokens(smollm, text, n_characters, n_bytes, n_tokens):
    found = compared.measured(smollm, text)
    assert (found.n_characters, found.n_bytes, found.n_tokens) == (n_characters, n_bytes, n_tokens)
    if text:
        assert found.tokens_per_character == n_tokens / n_characters
        assert found.bytes_per_token == n_bytes / n_tokens
    else:
        assert found.tokens_per_character is None and found.bytes_per_token is None


def test_the_bytes_of_the_chips_are_the_text(smollm):
    found = compared.measured(smollm, f"今天 {FAMILY} is")
    assert bytes.fromhex("".join(chip.hex for chip in found.chips)).decode() == found.text
    assert found.back == found.text


def test_half_characters_are_told_from_whole_ones(smollm):
    kinds = [chip.kind for chip in compared.measured(smollm, "a天，").chips]
    assert kinds == ["whole", "half", "half", "whole"]


def test_dropped_bytes_do_not_come_back(smollm):
    found = compared.measured(smollm, "a\x04b")
    assert found.n_bytes == 3 and found.back == "ab" != found.text


def test_unknown_tokens_are_counted():
    found = compared.measured(open_model("nano"), "今天")
    assert [chip.text for chip in found.chips] == ["␣", "<unk>", "<unk>"]
    assert [chip.kind for chip in found.chips] == ["whole", "unknown", "unknown"]
    assert found.n_unknown == 2


def test_a_lone_surrogate_is_counted_as_the_mark_that_is_read(tiny):
    found = compared.measured(tiny, "a\ud800")
    assert found.text == "a?" and found.n_characters == found.n_bytes == 2


def test_markers_are_text_unless_they_are_switched_on(smollm):
    assert compared.measured(smollm, "<|im_end|>").n_tokens == 7
    assert compared.measured(smollm, "<|im_end|>", control=True).n_tokens == 1


@pytest.mark.parametrize("n, window, cells", [(0, None, 0), (1, None, 1), (5, None, 15)])
def test_seen_cells_by_hand(n, window, cells):
    assert compared.seen_cells(n, window) == cells


@pytest.mark.parametrize("window", [None, 1, 3, 7, 8, 20])
def test_seen_cells_are_those_that_the_mask_leaves(window):
    masked = ops.mask(np.zeros((1, 7, 7), np.float32), window)
    assert compared.seen_cells(7, window) == np.isfinite(masked).sum()


def test_the_cache_of_one_token_of_smollm2(smollm):
    assert compared.cache_bytes(smollm.config, 1) == 46_080
    assert compared.cache_bytes(smollm.config, 5) == 230_400
    assert compared.cache_bytes(smollm.config, 8192) == 360 << 20


@pytest.mark.parametrize("name", ["tiny", "nano"])
def test_the_cache_of_a_run_holds_what_the_formula_says(name, tiny_name):
    trace = run(RunSpec("nano" if name == "nano" else tiny_name, prompt="the cat is"))
    counted, held = compared.checked(trace)
    assert counted == held == trace.cache.keys.nbytes + trace.cache.values.nbytes > 0


def test_the_weights_of_smollm2s_blocks(smollm):
    attention = 30 * (2 * 576 * 576 + 2 * 576 * 192)
    assert compared.block_weights(smollm) == attention + 30 * 3 * 576 * 1536


def test_multiply_adds_are_those_of_the_shapes_that_a_run_records(tiny_name):
    """Each matrix product seen in a run: rows x columns x what is summed over, masked cells off."""
    trace = run(RunSpec(tiny_name, prompt="the cat is on"))
    c, n = trace.config, len(trace.ids)
    read = {op: trace.read(op, 0) for op in ("attn.q", "attn.k", "attn.v", "mlp.up", "mlp.out")}
    products = sum(read[op].size for op in ("attn.q", "attn.k", "attn.v")) * c.width
    products += n * c.width * c.n_heads * c.head_dim  # attn.out
    products += 2 * read["mlp.up"].size * c.width + read["mlp.out"].size * c.neurons
    seen = (trace.read("attn.weights", 0) > 0).sum()
    products += 2 * seen * c.head_dim
    expected = c.n_layers * products + c.vocab * c.width
    assert compared.multiply_adds(trace.model, n) == expected


def test_costs_of_nothing_and_of_a_full_context(tiny):
    nothing, full = compared.cost(tiny, 0), compared.cost(tiny, tiny.config.context)
    assert (nothing.context_share, nothing.cache, nothing.cells, nothing.products) == (0, 0, 0, 0)
    assert full.context_share == 1


def test_the_largest_map_is_the_one_that_is_shown(tiny):
    n = 6
    assert compared.cost(tiny, n).cells == math.comb(n + 1, 2)


def test_times():
    assert compared.times(13, 5) == 2.6
    assert compared.times(13, 0) is None and compared.times(None, 5) is None


@pytest.mark.parametrize("family", families.CONFIGS)
def test_costs_of_every_family_are_those_of_its_ops(family, tmp_path):
    """The matrices that the catalogue names for each layer, and the cells that got any weight."""
    ids = tuple(range(3, 15))  # longer than the window of the families that have one
    trace = run(RunSpec(families.build_folder(tmp_path / family, family), ids=ids))
    c, n, weights, products = trace.config, len(ids), trace.model.weights, 0
    for layer, block in enumerate(trace.catalogue.blocks):
        names = {name for op in block.values() for name in op.weights}
        products += n * sum(weights.get(name, layer).size for name in names if is_matrix(name))
        products += 2 * c.head_dim * (trace.read("attn.weights", layer) > 0).sum()
    assert compared.multiply_adds(trace.model, n) == products + c.vocab * c.width
    counted, held = compared.checked(trace)
    assert counted == held


def is_matrix(name):
    return "norm" not in name
