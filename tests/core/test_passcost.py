"""FLOPs and bytes of a pass: worked sizes, the ops of a run one by one, steps beside a prefill."""

from math import prod

import numpy as np
import pytest

from core import run
from core.analyse.passcost import cost, matrix_weights
from core.analyse.work import LOOKED_UP, products
from core.model import forward
from core.spec import RunSpec
from tests import tiny as tiny_file
from tests.core.conftest import EACH_CASE, IDS

PRODUCTS = ("dot", "score", "mix")


def placed(trace):
    """Every op of the pass as the catalogue lists it, with its layer."""
    catalogue = trace.catalogue
    parts = [(None, catalogue.before), *enumerate(catalogue.blocks), (None, catalogue.after)]
    return [(op, layer) for layer, part in parts for op in part.values()]


def test_a_step_by_hand(tiny):
    n_vocab = len(tiny_file.vocabulary())
    block = 32 * 32 + 2 * 16 * 32 + 32 * 32 + 3 * 48 * 32  # q, k and v, out, the MLP
    step = cost(tiny, 1, 5)
    assert matrix_weights(tiny) == 2 * block
    assert step.flops == 2 * (2 * block + n_vocab * 32) + 2 * 4 * (6 * 2 * 8 * 2)
    assert step.hidden_flops == 0
    assert step.weight_bytes == 4 * (2 * (block + 2 * 32) + 32 + n_vocab * 32)
    assert step.row_bytes == 4 * 32
    token = 2 * 2 * 2 * 8 * 4
    assert (step.read_bytes, step.written_bytes) == (6 * token, token)
    assert step.n_bytes == step.weight_bytes + 128 + 7 * token


def test_smollm_by_hand(smollm):
    assert matrix_weights(smollm) == 106_168_320
    for n in (1, 6, 100):
        step = cost(smollm, 1, n - 1)
        assert step.flops == 268_959_744 + 69_120 * n and step.hidden_flops == 0
        assert (step.read_bytes, step.written_bytes) == (46_080 * n, 46_080)
        assert step.weight_bytes == smollm.weights.nbytes
    assert cost(smollm, 1).intensity == pytest.approx(0.5, abs=0.001)


def test_a_prompt_of_512_by_hand(smollm):
    prefill = cost(smollm, 512)
    seen = prefill.flops - prefill.hidden_flops
    assert prefill.flops == 126_892_376_064
    assert seen / 1e9 == pytest.approx(117.85, abs=0.005)
    assert seen / prefill.weight_bytes == pytest.approx(219, abs=0.1)
    assert prefill.intensity > 400 * cost(smollm, 1).intensity


@EACH_CASE
def test_flops_are_those_of_the_ops_of_a_run(case, trace_of):
    trace = trace_of(case)
    blocks = [(op, layer) for op, layer in placed(trace) if layer is not None]
    counts = (products(trace, op, layer)[0] for op, layer in blocks if op.kind in PRODUCTS)
    head = 2 * trace.config.vocab * trace.config.width
    whole = sum(prod(factor.size for factor in each) for each in counts) + head
    assert cost(trace.model, len(IDS)).flops == whole


@EACH_CASE
def test_hidden_flops_are_those_of_masked_pairs(case, trace_of):
    trace = trace_of(case)
    hidden = sum(int(np.isneginf(masked).sum()) for masked in trace.each_layer("attn.masked"))
    assert cost(trace.model, len(IDS)).hidden_flops == 4 * trace.config.head_dim * hidden


@EACH_CASE
def test_every_weight_of_an_op_is_read_once(case, trace_of):
    trace = trace_of(case)
    names = [(op.weights + op.biases, layer, op.kind) for op, layer in placed(trace)]
    arrays = [(trace.model.weights.get(w, n), kind) for each, n, kind in names for w in each]
    spent = cost(trace.model, len(IDS))
    whole = sum(array.nbytes for array, kind in arrays if kind not in LOOKED_UP)
    rows = sum(array[:1].nbytes for array, kind in arrays if kind in LOOKED_UP)
    assert spent.weight_bytes == whole
    assert spent.row_bytes == rows * len(IDS)
    assert spent.written_bytes == spent.read_bytes == trace.cache.nbytes


def test_token_by_token_computes_no_hidden_pair(tiny):
    one_by_one, n_head = [cost(tiny, 1, n) for n in range(9)], tiny.weights.head.size
    whole = cost(tiny, 9)
    computed = sum(step.flops for step in one_by_one) - 8 * 2 * n_head
    assert computed == whole.flops - whole.hidden_flops
    assert sum(step.written_bytes for step in one_by_one) == whole.written_bytes


def test_a_window_hides_pairs_of_a_step_too(trace_of):
    trace = trace_of("mistral")  # windows of 8
    c, step = trace.config, cost(trace.model, 1, 19)
    hidden = sum(20 - window for window in c.windows if window)
    assert step.hidden_flops == 4 * c.n_heads * c.head_dim * hidden > 0


def test_passes_of_a_long_prompt_read_the_weights_again(tiny, tiny_name, monkeypatch):
    once = cost(tiny, 70)
    monkeypatch.setattr(forward, "chunks", lambda n: [(0, 30), (30, 60), (60, 70)])
    parts, token = cost(tiny, 70), 2 * 2 * 2 * 8 * 4
    blocks = sum(a.nbytes for a in tiny.weights.arrays()) - 4 * 32 - tiny.weights.head.nbytes
    assert parts.weight_bytes == once.weight_bytes + 2 * blocks
    assert parts.read_bytes == (30 + 60 + 70) * token
    assert parts.written_bytes == once.written_bytes == 70 * token
    cells = 30 * 30 + 30 * 60 + 10 * 70
    assert once.flops - parts.flops == once.hidden_flops - parts.hidden_flops
    assert once.flops - parts.flops == 2 * 4 * 4 * 8 * (70 * 70 - cells)


def test_matrix_products_are_almost_all_of_the_work(smollm):
    trace = run(RunSpec(smollm.source.path.as_posix(), ids=IDS))
    ops = [(op, n) for op, n in placed(trace) if op.id not in trace.catalogue.after]
    counts = (products(trace, op, n) for op, n in ops)
    every = sum(prod(f.size for f in product) for each in counts for product in each)
    counted = cost(smollm, len(IDS)).flops - 2 * smollm.weights.head.size
    assert 0.98 < counted / every < 1
