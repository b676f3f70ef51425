"""The trace: every op replays, what is recomputed is bit for bit what ran, memory is bounded."""

import numpy as np
import pytest

from core import RunSpec, TraceTooLarge, run
from core.model import forward
from core.model.axes import AFTER_BLOCKS, OP_AXES, VOCAB_OPS
from core.model.cache import KVCache
from core.model.tap import Edit, editing_tap
from core.record import trace as trace_room
from core.run import TRACES
from tests import tiny as tiny_file
from tests.conftest import SMOLLM
from tests.core.conftest import EACH_CASE, places
from tests.llama_ops import BLOCK_IDS, OP_IDS

PROMPT = "The capital of France is"
IDS = (258, 273, 34, 264, 51, 52, 297, 298, 277, 40, 258)
READABLE = OP_IDS[:-2]


def bits_equal(a, b):
    assert a.dtype == b.dtype == np.float32 and a.shape == b.shape
    np.testing.assert_array_equal(a.view(np.uint32), b.view(np.uint32))


def read(trace, op, layer):
    """Any op, those of the vocabulary as a row of the last position."""
    return trace.output(op)[None] if op in VOCAB_OPS else trace.read(op, layer)


def inputs_of(trace, op, layer):
    for name in trace.catalogue.op(op, layer).inputs:
        if name == "ids":
            yield np.array(trace.ids)
        elif name == "stream":
            yield trace.stream[-1 if layer is None else layer]
        elif op == "logits":
            yield trace.read(name)[-1:]
        else:
            yield read(trace, name, layer)


def replay(trace, op, layer):
    """What the pass computes from the op's recorded inputs: its function, or the one for several
    ops at once.
    """
    entry, weights, c = trace.catalogue.op(op, layer), trace.model.weights, trace.config
    if entry.together:
        joint, place = JOINT[op]
        arrays = (weights.get(joint, layer), *((c.n_heads, c.n_kv_heads) if "qkv" in joint else ()))
        bias = weights.get(f"{joint}_bias", layer)
        value = entry.together(*inputs_of(trace, op, layer), *arrays, bias)[place]
        almost_equal(alone(trace, op, layer), value)
        return value
    return alone(trace, op, layer)


JOINT = {"attn.q": ("attn_qkv", 0), "attn.k": ("attn_qkv", 1), "attn.v": ("attn_qkv", 2)}
JOINT |= {"mlp.gate": ("mlp_gate_up", 0), "mlp.up": ("mlp_gate_up", 1)}


def alone(trace, op, layer):
    """The op's function on what the trace recorded as its inputs."""
    entry, weights = trace.catalogue.op(op, layer), trace.model.weights
    arrays = [weights.get(name, layer) for name in entry.weights]
    biases = [weights.get(name, layer) for name in entry.biases]
    constants = trace.constants(op, layer)
    return entry.function(*inputs_of(trace, op, layer), *arrays, *constants, *biases)


def almost_equal(a, b):
    """Equal but for the last bits of a sum: 1e-6 of the largest number."""
    assert a.dtype == b.dtype == np.float32 and a.shape == b.shape
    np.testing.assert_allclose(a, b, rtol=0, atol=1e-6 * np.abs(b).max())


def full_recording(model, ids, edits=()):
    """Every value of one pass over the prompt, by op and layer, kept as it goes through the tap."""
    parts, c = {}, model.config

    def keep(op, layer, value):
        parts.setdefault((op, layer), []).append(value.copy())
        return value

    cache = KVCache(c.n_layers, len(ids), c.n_kv_heads, c.head_dim)
    for first, stop in forward.chunks(len(ids)):
        tap = editing_tap(edits, first, keep)
        forward.forward(np.array(ids[first:stop]), model.weights, c, cache, tap, len(ids))
    return {key: p[0] if len(p) == 1 else trace_room.join(key[0], p) for key, p in parts.items()}


@pytest.mark.parametrize("op", OP_IDS)
def test_every_op_replays_from_its_recorded_inputs(tiny_name, op):
    trace = run(RunSpec(tiny_name, ids=IDS))
    for layer in (0, 1) if op in BLOCK_IDS else (None,):
        bits_equal(replay(trace, op, layer), read(trace, op, layer))


@pytest.mark.parametrize("op", OP_IDS)
def test_every_op_replays_on_the_real_model(smollm, op):
    trace = run(RunSpec(SMOLLM, prompt=PROMPT))
    for layer in (0, 14, 29) if op in BLOCK_IDS else (None,):
        bits_equal(replay(trace, op, layer), read(trace, op, layer))


@EACH_CASE
def test_every_op_of_every_family_replays(case, trace_of):
    trace = trace_of(case)
    for op, layer in places(trace):
        bits_equal(replay(trace, op, layer), read(trace, op, layer))


def test_replay_notices_a_wrong_input(tiny_name):
    trace = run(RunSpec(tiny_name, ids=IDS))
    wrong = trace.catalogue.op("attn.weights", 0).function(trace.read("attn.scores", 0))
    assert np.abs(wrong - trace.read("attn.weights", 0)).max() > 0.1


@pytest.mark.parametrize("n", [1, 11, 1300])
def test_recomputed_is_what_ran(tiny, tiny_name, n):
    ids = tuple((7 * i * i + 3 * i) % tiny.config.vocab for i in range(n))
    trace, recorded = run(RunSpec(tiny_name, ids=ids)), full_recording(tiny, ids)
    for (op, layer), value in recorded.items():
        bits_equal(trace.read(op, layer), value)
    assert {op for op, _ in recorded} == set(READABLE) - {"final_norm"}


@EACH_CASE
def test_recomputed_is_what_ran_in_every_family(case, trace_of):
    trace = trace_of(case)
    recorded = full_recording(trace.model, trace.ids)
    for (op, layer), value in recorded.items():
        bits_equal(trace.read(op, layer), value)
    assert {*recorded} == {place for place in places(trace) if place[0] not in AFTER_BLOCKS}


@pytest.mark.parametrize(
    ("case", "context"),
    [
        ("gemma2", {"max_position_embeddings": 1280}),
        ("gpt2", {"n_positions": 1280}),
        ("llama dynamic", {"max_position_embeddings": 1024}),
    ],
)
def test_recomputed_is_what_ran_in_chunks(case, context, name_of):
    """Windows, rows of positions and rotations count from the start of the text, not of a pass."""
    ids = tuple((7 * i * i + 3 * i) % 96 for i in range(1100))
    trace = run(RunSpec(name_of(case, **context), ids=ids))
    for (op, layer), value in full_recording(trace.model, ids).items():
        bits_equal(trace.read(op, layer), value)


def test_positions_of_edits_count_from_the_start_in_every_chunk(tiny, tiny_name):
    ids = (IDS * 120)[:1300]
    edits = (Edit("mlp.hidden", layer=1, position=1100, kind="set", value=3.0),)
    trace, recorded = (
        run(RunSpec(tiny_name, ids=ids, edits=edits)),
        full_recording(tiny, ids, edits),
    )
    value = trace.read("mlp.hidden", 1)
    bits_equal(value, recorded["mlp.hidden", 1])
    assert np.flatnonzero((value == 3).all(axis=1)).tolist() == [1100]


def test_recomputed_is_what_ran_with_edits(tiny, tiny_name):
    edits = (
        Edit("resid_pre", layer=1, kind="scale", value=2.0),
        Edit("attn.mix", layer=0, head=3),
        Edit("resid_post", layer=0, position=2, kind="add", value=0.5),
        Edit("embed", index=3, kind="set", value=1.5),
    )
    trace = run(RunSpec(tiny_name, ids=IDS, edits=edits))
    recorded = full_recording(tiny, IDS, edits)
    for (op, layer), value in recorded.items():
        bits_equal(trace.read(op, layer), value)
    # the stream is scaled once, where the block begins, not once more when the layer is opened
    bits_equal(trace.read("resid_pre", 1), recorded["resid_post", 0] * np.float32(2))


def test_recomputed_is_what_ran_on_the_real_model(smollm):
    trace = run(RunSpec(SMOLLM, prompt=PROMPT))
    recorded = full_recording(smollm, trace.ids)
    for (op, layer), value in recorded.items():
        bits_equal(trace.read(op, layer), value)


def test_logits_of_any_position(tiny, tiny_name):
    trace = run(RunSpec(tiny_name, ids=IDS))
    all_rows = forward.unembed(trace.stream[-1], tiny.weights, tiny.config, forward.no_tap)
    for position in (0, 4, -1, -len(IDS)):
        np.testing.assert_allclose(trace.logits(position), all_rows[position], atol=1e-5)
        assert trace.probs(position).sum() == pytest.approx(1, abs=1e-5)
    for position in (len(IDS), -len(IDS) - 1):
        with pytest.raises(IndexError):
            trace.logits(position)


def test_axes_of_every_op(tiny_name, tiny):
    c, n = tiny.config, len(IDS)
    sizes = dict(zip(("seq", "query", "key"), (n, n, n), strict=True))
    sizes |= {"embedding": c.width, "head": 4, "kv_head": 2, "head_dim": 8, "neurons": 48}
    trace = run(RunSpec(tiny_name, ids=IDS))
    for op in READABLE:
        value = trace.read(op, 1 if op in BLOCK_IDS else None)
        assert value.shape == tuple(sizes[axis] for axis in OP_AXES[op]), op
        assert trace.op_bytes(op) == value.nbytes
    assert trace.logits().shape == (c.vocab,)


@pytest.mark.parametrize("n", [11, 1100])
def test_recorded_arrays_cannot_be_written(tiny_name, n):
    trace = run(RunSpec(tiny_name, ids=(IDS * 100)[:n]))
    values = [trace.read(op, 1 if op in BLOCK_IDS else None) for op in READABLE]
    for value in [*values, trace.logits(), trace.probs(), trace.cache.keys, trace.stream]:
        while isinstance(value, np.ndarray):
            assert not value.flags.writeable
            value = value.base
    with pytest.raises(ValueError):
        trace.read("resid_post", 1)[0, 0] = 1


def test_unknown_ops_and_layers(tiny_name):
    trace = run(RunSpec(tiny_name, ids=IDS))
    with pytest.raises(KeyError) as caught:
        trace.read("attn.pattern", 0)
    assert all(op in str(caught.value) for op in READABLE)
    for op, layer in [("mlp.out", None), ("mlp.out", 2), ("mlp.out", -1), ("embed", 0)]:
        with pytest.raises(KeyError):
            trace.read(op, layer)
    for op in ("logits", "probs"):
        with pytest.raises(KeyError, match="position"):
            trace.read(op)


def test_an_array_over_the_bound_is_refused_with_its_size(tmp_path):
    name = tiny_file.build(tmp_path / "long.gguf", {"llama.context_length": 8192})
    trace = run(RunSpec(name, ids=(IDS * 400)[:4200]))
    with pytest.raises(TraceTooLarge) as caught:
        trace.read("attn.weights", 0)
    needed = 4 * 4200 * 4200 * 4  # heads, queries, keys, bytes
    assert caught.value.params["n_bytes"] == needed and str(needed) in str(caught.value)
    assert trace.read("mlp.out", 0).shape == (4200, 32)


def test_memory_of_512_tokens(smollm):
    ids = tuple(range(1000, 1512))
    trace = run(RunSpec(SMOLLM, ids=ids))
    # 31 rows of 576 numbers a token, and 46,080 bytes of keys and values
    arrays = 512 * (31 * 576 * 4 + 46_080)
    assert trace.stream.nbytes + trace.cache.nbytes == arrays < trace.nbytes < 80e6
    for layer in range(0, 30, 3):
        trace.read("attn.weights", layer)
        held = [values for values, _ in trace_room.LAYERS._values.values()]
        in_store = sum(a.nbytes for values in held for a in values.values())
        assert in_store == trace_room.LAYERS.nbytes <= trace_room.LAYERS.limit
    assert 0 < len(held) < 10  # the first were given up


def test_one_run_for_all_who_ask_for_the_same(tiny_name):
    spec = RunSpec(tiny_name, ids=IDS)
    assert run(spec) is run(RunSpec(tiny_name, ids=list(IDS)))
    warm = run(RunSpec(tiny_name, ids=IDS, temperature=0.7))
    assert warm.stream is run(spec).stream
    assert (warm.spec.temperature, run(spec).spec.temperature) == (0.7, 0.0)
    assert run(RunSpec(tiny_name, ids=IDS, edits=[Edit("embed")])).stream is not warm.stream


def test_the_same_spec_gives_the_same_bits(tiny_name):
    first = run(RunSpec(tiny_name, ids=IDS))
    TRACES.clear()
    again = run(RunSpec(tiny_name, ids=IDS))
    assert again is not first
    bits_equal(again.stream, first.stream)
    bits_equal(again.logits(), first.logits())
