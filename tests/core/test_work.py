"""Operations counted from shapes, against operations that really happen: the functions of the pass
run on arrays that count what is done to them.
"""

from copy import copy
from dataclasses import replace

import numpy as np

from core import RunSpec, run
from core.analyse.work import layer_seconds, work
from core.model import forward
from core.model.axes import AFTER_BLOCKS
from core.record.replay import replay
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_CASE

ONE = "add subtract multiply divide negative minimum maximum sqrt exp tanh rint".split()


class Counting(np.ndarray):
    """An array that tallies every operation on it and on what comes of it."""

    tally = 0

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **rest):
        plain = [x.view(np.ndarray) if isinstance(x, Counting) else x for x in inputs]
        if out:
            rest["out"] = tuple(x.view(np.ndarray) for x in out)
        made = getattr(ufunc, method)(*plain, **rest)
        Counting.tally += operations(ufunc.__name__, method, plain, made)
        return made.view(Counting) if isinstance(made, np.ndarray) else made


def operations(name, method, inputs, made):
    """Of one call: a sum or a maximum of n numbers is n, and so is a product and its sum 2 n."""
    if method == "reduce":
        return inputs[0].size
    if name == "matmul":
        return 2 * made.size * inputs[0].shape[-1]
    if name == "vecdot":
        return 2 * np.broadcast(*inputs).size
    if name == "clip":  # a smallest and a largest
        return 2 * made.size
    return made.size if name in ONE else 0


def counted(trace):
    """Every op that ran for all positions, with its layer and the operations that happen in it."""

    def change(call):
        Counting.tally = 0
        return replace(call, inputs=tuple(np.asarray(x).view(Counting) for x in call.inputs))

    for op, layer, _ in replay(trace, lambda *_: None, slice(0, 1), change=change):
        if op in AFTER_BLOCKS:
            return
        yield op, layer, Counting.tally


@EACH_CASE
def test_the_count_is_what_the_code_of_the_pass_does(case, trace_of):
    trace = trace_of(case)
    found = list(counted(trace))
    assert [work(trace, op, layer).flops for op, layer, _ in found] == [n for *_, n in found]
    assert sum(n for *_, n in found) > 0


def test_smollm_by_hand(smollm):
    trace = run(RunSpec(SMOLLM, prompt="The capital of France is"))
    assert len(trace.ids) == 5
    q, scores = work(trace, "attn.q", 23), work(trace, "attn.scores", 23)
    named = [(factor.axis, factor.size) for factor in q.products[0]]
    sizes = [("", 2), ("seq", 5), ("head", 9), ("head_dim", 64), ("embedding", 576)]
    assert named == sizes and q.flops == 3_317_760
    assert q.shared == ("attn.q", "attn.k", "attn.v") and q.shared_flops == 2 * 5 * 960 * 576
    assert q.weight_bytes == 4 * 960 * 576
    assert scores.flops == 9 * 25 * (2 * 64 + 1) and (scores.seen, scores.cells) == (15, 25)
    # every weight of a matrix is used once per token: a multiplication and an addition
    products = [op for op, entry in trace.catalogue.blocks[0].items() if entry.kind == "dot"]
    total = sum(work(trace, op, layer).flops for layer in range(30) for op in products)
    assert total == 2 * 5 * 30 * 3_538_944


def test_what_comes_out_of_one_product_has_one_time(trace_of):
    trace = copy(trace_of("llama"))
    trace.timings = {("attn.q", 1): 3.0, ("attn.k", 1): 0.25, ("attn.v", 1): 0.5}
    trace.timings |= {("mlp.gate", 1): 7.0, ("mlp.up", 1): 1.0, ("attn.scores", 1): 2.0}
    q, k = work(trace, "attn.q", 1), work(trace, "attn.k", 1)
    assert q.seconds == k.seconds == 3.75 and q.flops == 2 * k.flops
    assert q.shared_flops == k.shared_flops == 2 * q.flops and q.rate == q.shared_flops / 3.75
    assert work(trace, "mlp.up", 1).seconds == 8.0
    alone = work(trace, "attn.scores", 1)
    assert alone.seconds == 2.0 and alone.shared == ("attn.scores",)
    unseen = work(trace, "attn.out", 1)  # a step that is too short for the clock
    assert unseen.shared_flops > 0 == unseen.seconds == unseen.rate
    assert work(trace_of("gpt2"), "mlp.up", 1).shared == ("mlp.up",)
    assert layer_seconds(trace).tolist() == [[0, 0], [5.75, 8.0]]


def test_attention_ends_with_its_addition(trace_of):
    trace = copy(trace_of("llama"))
    trace.timings = {("resid_pre", 0): 1.0, ("resid_mid", 0): 2.0, ("mlp_norm", 0): 4.0}
    trace.timings |= {("resid_post", 0): 8.0, ("embed", None): 16.0}
    assert layer_seconds(trace)[0].tolist() == [3.0, 12.0]


def test_a_window_leaves_fewer_pairs_but_all_are_computed(trace_of):
    first = work(trace_of("mistral"), "attn.weights", 0)  # a window of 8 over 70 tokens
    assert (first.seen, first.cells) == (36 + 62 * 8, 70 * 70)
    assert work(trace_of("mistral"), "attn.v", 0).cells is None


def test_a_long_prompt_computes_fewer_pairs_in_its_passes(trace_of, monkeypatch):
    monkeypatch.setattr(forward, "chunks", lambda n: [(0, 30), (30, 60), (60, 70)])
    cells = 30 * 30 + 30 * 60 + 10 * 70
    done = work(trace_of("llama"), "attn.mix", 0)
    assert [factor.size for factor in done.products[0]] == [2, 4, cells, 8]
    assert (done.seen, done.cells) == (35 * 71, cells)


def test_a_table_is_read_row_by_row(trace_of):
    embed = work(trace_of("gpt2"), "embed", None)
    assert embed.flops == 0 and embed.rate == 0 and embed.weight_bytes == 70 * 32 * 4
    assert work(trace_of("gpt2"), "pos_embed", None).flops == 70 * 32
