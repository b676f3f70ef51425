"""The size of a KV cache: formula, worked examples, and the bytes that real arrays hold."""

from dataclasses import replace

import numpy as np

from core.analyse.cachesize import CacheSize, as_held, cache_size, sizes
from core.analyse.sizes import SMOLLM2
from core.model.cache import KVCache
from tests.core.conftest import EACH_CASE, IDS

MIB, GIB = 1 << 20, 1 << 30


def test_smollm2_by_hand():
    here, half, every = (sizes(SMOLLM2)[name] for name in ("here", "float16", "all_heads"))
    assert here.factors == (
        ("kinds", 2),
        ("layers", 30),
        ("kv_heads", 3),
        ("head_dim", 64),
        ("bytes", 4),
    )
    assert (here.per_layer, here.per_token, here.of(5)) == (1536, 46_080, 230_400)
    assert (half.per_token, every.per_token) == (23_040, 138_240)
    assert here.of(SMOLLM2.context) == 360 * MIB and half.of(SMOLLM2.context) == 180 * MIB


def test_units_are_not_mixed():
    # 32 layers, 8 KV heads of 64 x 2 numbers in float16; "128k" is 131,072 or 128,000
    size = CacheSize(32, 8, 128, 2, (None,) * 32)
    assert size.per_token == 131_072
    assert size.of(131_072) == 16 * GIB == 17_179_869_184
    assert size.of(128_000) == 15.625 * GIB == 16_777_216_000


def test_the_factors_multiply_to_a_token():
    size = CacheSize(5, 3, 7, 2, (None,) * 5)
    assert size.per_token == np.prod([n for _, n in size.factors]) == 2 * 5 * 3 * 7 * 2


@EACH_CASE
def test_the_formula_is_what_the_arrays_hold(case, trace_of):
    cache, c = trace_of(case).cache, trace_of(case).config
    size = cache_size(c)
    assert size.of(len(IDS)) == cache.keys.nbytes + cache.values.nbytes == cache.nbytes
    held = as_held(size, cache)
    assert held.equal and held.difference == 0
    assert (sizes(c)["all_heads"] == size) == (c.group == 1)


def test_a_wrong_formula_is_told():
    cache = KVCache(2, 9, 3, 4)
    cache.advance(5)
    size = CacheSize(2, 3, 4, 4, (None, None))
    assert as_held(size, cache).equal
    off = as_held(replace(size, n_kv_heads=4), cache)
    assert not off.equal and off.difference == 2 * 2 * 4 * 4 * 5


def test_windows_need_less_than_is_held():
    size = CacheSize(3, 1, 2, 4, (None, 4, 6))  # 16 bytes per token and layer
    assert size.windowed(3) == size.of(3) == 3 * 3 * 16
    assert size.windowed(10) == (10 + 4 + 6) * 16 and size.of(10) == 30 * 16


def test_a_window_needs_what_the_last_query_reads(trace_of):
    trace = trace_of("mistral")
    read = sum(int((masked[0, -1] > -np.inf).sum()) for masked in trace.each_layer("attn.masked"))
    size = cache_size(trace.config)
    assert size.windowed(len(IDS)) == read * size.per_layer < size.of(len(IDS))
