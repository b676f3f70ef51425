"""The pass as a whole: order of the taps, the cache, decode = prefill, a second implementation."""

import numpy as np
import pytest

from core import open_model
from core.model import forward
from core.model.axes import OP_AXES
from core.model.cache import KVCache
from core.record.catalogue import catalogue_of
from tests import tiny as tiny_file
from tests.core import conftest
from tests.llama_ops import BLOCK_IDS, OP_IDS

IDS = [258, 273, 34, 264, 51, 52, 297, 298, 277, 40]


def new_cache(model, n):
    c = model.config
    return KVCache(c.n_layers, n, c.n_kv_heads, c.head_dim)


def logits(model, parts, tap=forward.no_tap):
    """Logits of all positions, the ids given part by part."""
    cache, rows = new_cache(model, sum(map(len, parts))), []
    for ids in parts:
        x = forward.forward(np.array(ids), model.weights, model.config, cache, tap)
        rows.append(forward.unembed(x, model.weights, model.config, tap))
    return np.concatenate(rows)


def test_order_of_the_taps_is_a_contract(tiny):
    seen = []

    def tap(op, layer, value):
        seen.append((op, layer))
        assert value.dtype == np.float32, op
        assert value.ndim == len(OP_AXES[op]) or op == "logits"
        return value

    logits(tiny, [IDS], tap)
    blocks = [(op, layer) for layer in (0, 1) for op in BLOCK_IDS]
    assert seen == [("embed", None), *blocks, ("final_norm", None), ("logits", None)]


def test_catalogue_has_the_ops_of_the_pass_in_order(tiny):
    catalogue = catalogue_of(tiny.config)
    assert list(catalogue.ids) == OP_IDS
    assert [list(block) for block in catalogue.blocks] == [BLOCK_IDS, BLOCK_IDS]


def test_what_the_tap_returns_is_what_the_pass_uses(tiny):
    def tap(op, layer, value):
        return value * 0 if (op, layer) == ("resid_post", 1) else value

    np.testing.assert_array_equal(logits(tiny, [IDS], tap), 0)


@pytest.mark.parametrize("sizes", [[1] * 10, [3, 7], [9, 1]])
def test_decode_is_prefill(tiny, sizes):
    edges = np.cumsum([0, *sizes])
    parts = [IDS[a:b] for a, b in zip(edges, edges[1:], strict=False)]
    np.testing.assert_allclose(logits(tiny, parts), logits(tiny, [IDS]), rtol=0, atol=1e-4)


@conftest.EACH_CASE
@pytest.mark.parametrize("sizes", [[1] * 40, [13, 27]], ids=["one by one", "in parts"])
def test_decode_is_prefill_in_every_family(case, sizes, name_of):
    """Up to the length from which some models rotate otherwise."""
    model, edges = open_model(name_of(case)), np.cumsum([0, *sizes])
    ids = conftest.IDS[: edges[-1]]
    whole = logits(model, [ids])
    parts = [ids[a:b] for a, b in zip(edges, edges[1:], strict=False)]
    np.testing.assert_allclose(logits(model, parts), whole, rtol=0, atol=1e-4 * np.abs(whole).max())


@conftest.EACH_CASE
def test_a_row_does_not_know_what_follows_in_any_family(case, name_of):
    model = open_model(name_of(case))
    whole, start = (logits(model, [conftest.IDS[:n]]) for n in (40, 25))
    np.testing.assert_allclose(whole[:25], start, rtol=0, atol=1e-4 * np.abs(whole).max())
    assert np.abs(logits(model, [[9, *conftest.IDS[1:25]]])[:7] - start[:7]).max() > 1e-2


def test_a_window_bounds_what_reaches_a_row(name_of):
    # two layers, each of which sees the last 8 tokens: a row knows of the 14 before it, no more
    model = open_model(name_of("mistral"))
    assert model.config.windows == (8, 8)
    one, other = logits(model, [conftest.IDS[:30]]), logits(model, [[9, *conftest.IDS[1:30]]])
    changed = np.abs(one - other).max(axis=1) > 0
    assert changed[:15].all() and not changed[15:].any()


def test_decode_is_prefill_on_the_real_model(smollm):
    ids = [504, 3575, 282, 4649, 314, 7042]
    whole = logits(smollm, [ids])
    np.testing.assert_allclose(logits(smollm, [[i] for i in ids]), whole, rtol=0, atol=1e-3)
    assert whole[-1].argmax() == 30 and whole[-1].max() == pytest.approx(25.1427, abs=1e-3)


def test_a_row_does_not_know_what_follows(tiny):
    alone, other = logits(tiny, [IDS[:4]]), logits(tiny, [[*IDS[:4], 7, 8, 9]])
    np.testing.assert_allclose(other[:4], alone, rtol=0, atol=1e-4)
    assert np.abs(logits(tiny, [[5, *IDS[1:4]]])[3] - alone[3]).max() > 1e-2


def test_cache_bytes(smollm):
    # keys and values, 30 layers, 3 kv heads of 64 numbers of 4 bytes: 46,080 bytes a token
    cache = new_cache(smollm, 8)
    forward.forward(np.arange(5), smollm.weights, smollm.config, cache, forward.no_tap)
    assert cache.nbytes == 5 * 46_080 == 230_400
    full = new_cache(smollm, 8192)
    assert full.keys.nbytes + full.values.nbytes == 360 << 20


def test_cache_holds_rotated_keys_and_plain_values(tiny):
    taken = {}

    def tap(op, layer, value):
        taken[op, layer] = value
        return value

    cache = new_cache(tiny, len(IDS))
    forward.forward(np.array(IDS), tiny.weights, tiny.config, cache, tap)
    assert cache.length == len(IDS)
    for layer in (0, 1):
        np.testing.assert_array_equal(cache.keys[layer], taken["attn.k_rot", layer])
        np.testing.assert_array_equal(cache.values[layer], taken["attn.v", layer])
    assert np.abs(taken["attn.k_rot", 1] - taken["attn.k", 1])[1:].max() > 0.1


def witness(w, ids):
    """The same model in float64, position by position and head by head, as the papers write it."""
    norm, t = (lambda x, g: x / np.sqrt((x * x).mean() + 1e-5) * g), tiny_file
    xs = [w["token_embd.weight"][i].astype(np.float64) for i in ids]
    for n in range(t.LAYERS):
        m = {key.split(".")[2]: value for key, value in w.items() if f"blk.{n}." in key}
        hs = [norm(x, m["attn_norm"]) for x in xs]
        ks = [(m["attn_k"] @ h).reshape(t.KV_HEADS, t.HEAD_DIM) for h in hs]
        vs = [(m["attn_v"] @ h).reshape(t.KV_HEADS, t.HEAD_DIM) for h in hs]
        for at, h in enumerate(hs):
            qs, heads = (m["attn_q"] @ h).reshape(t.HEADS, t.HEAD_DIM), []
            for head, q in enumerate(qs):
                kv = head // (t.HEADS // t.KV_HEADS)
                s = [turned(q, at) @ turned(ks[j][kv], j) / t.HEAD_DIM**0.5 for j in range(at + 1)]
                e = np.exp(np.array(s) - max(s))
                heads.append(sum(a * vs[j][kv] for j, a in enumerate(e / e.sum())))
            x = xs[at] + m["attn_output"] @ np.concatenate(heads)
            z = norm(x, m["ffn_norm"])
            gate = m["ffn_gate"] @ z
            xs[at] = x + m["ffn_down"] @ (gate / (1 + np.exp(-gate)) * (m["ffn_up"] @ z))
    return np.array([w["token_embd.weight"] @ norm(x, w["output_norm.weight"]) for x in xs])


def turned(x, at):
    """RoPE as a multiplication of complex numbers: number i is real, number i + half imaginary."""
    half = len(x) // 2
    z = (x[:half] + 1j * x[half:]) * np.exp(1j * at * 10000.0 ** (-np.arange(half) / half))
    return np.concatenate([z.real, z.imag])


def test_file_to_logits_against_a_second_implementation(tiny):
    # also a test of the row order of Q and K: the witness reads them as they were before the file
    wanted = witness(tiny_file.arrays(), IDS)
    np.testing.assert_allclose(logits(tiny, [IDS]), wanted, rtol=0, atol=1e-4)
