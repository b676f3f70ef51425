"""All heads at a glance: gathered while the run is made, the same numbers bit for bit as read from
the trace again; and how heads are ranked and counted.
"""

import numpy as np
import pytest

from core import RunSpec, run
from core.analyse import heads, roles
from core.analyse.derived import DERIVED
from core.model import forward
from core.model.tap import Edit
from core.record.stopwatch import Stopwatch
from core.record.trace import Trace
from core.run import TRACES
from tests.core.conftest import EACH_FAMILY, IDS
from tests.families import WINDOW, build_gguf


@pytest.fixture
def fresh():
    """No run and no summary is kept from before."""
    TRACES.clear()
    DERIVED.clear()


def again(trace):
    """The summary as it is read from the trace, whatever is kept."""
    DERIVED.clear()
    return heads.attention(trace)


def assert_same(one, other):
    assert (one.block, one.windows) == (other.block, other.windows)
    for name in ("maps", "beside", "last"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.scores.keys() == other.scores.keys()
    for name, values in one.scores.items():
        np.testing.assert_array_equal(values, other.scores[name])


@EACH_FAMILY
def test_one_pass_gives_bit_for_bit_what_is_read_again(fresh, name_of, case, monkeypatch):
    trace = heads.run_summing(RunSpec(name_of(case), ids=IDS))
    with monkeypatch.context() as patch:
        patch.setattr(Trace, "_run_layer", lambda *_: pytest.fail("a layer is run again"))
        summed = heads.attention(trace)
    assert summed.block == 2 and not summed.maps.flags.writeable
    assert_same(summed, again(trace))


def test_the_weights_are_those_after_the_edits(fresh, tiny_name):
    off = Edit("attn.weights", layer=0, head=1, kind="scale", value=0.5)
    trace = heads.run_summing(RunSpec(tiny_name, ids=IDS[:9], edits=(off,)))
    summed = heads.attention(trace)
    np.testing.assert_allclose(summed.last.sum(axis=2)[0, :3], [1, 0.5, 1], rtol=1e-6)
    assert_same(summed, again(trace))


def test_the_trace_is_that_of_a_plain_run(fresh, tiny_name):
    spec = RunSpec(tiny_name, ids=IDS[:9])
    watched = heads.run_summing(spec)
    TRACES.clear()
    plain = run(spec)
    np.testing.assert_array_equal(watched.stream, plain.stream)
    assert watched.timings.keys() == plain.timings.keys() and watched is not plain


@pytest.mark.parametrize("why", ["kept", "parts"])
def test_a_run_that_cannot_be_watched_whole_is_read_again(fresh, tiny_name, monkeypatch, why):
    spec = RunSpec(tiny_name, ids=IDS[:12])
    if why == "parts":
        monkeypatch.setattr(forward, "chunks", lambda n: [(0, 5), (5, n)])
    else:
        run(spec)
    trace = heads.run_summing(spec)
    assert (trace.key, "heads", heads.side(len(trace.ids))) not in DERIVED
    assert heads.attention(trace).last.shape[2] == 12


def test_what_a_watcher_takes_is_no_time_of_the_run(monkeypatch):
    times = iter([0.0, 1.0, 6.0, 8.0, 9.0])  # begin; first tap: in, out; second tap: in, out
    monkeypatch.setattr("core.record.stopwatch.time.perf_counter", times.__next__)
    watch = Stopwatch()
    tap = watch.tap(lambda op, layer, value: value)
    tap("embed", None, 0)
    tap("resid_pre", 0, 0)
    assert watch.aside == 6.0 and sum(watch.seconds.values()) == 3.0


# ---- the first token left out --------------------------------------------------------------------


@pytest.mark.parametrize("largest", [64, 4, 3])
def test_maps_without_the_first_token_hold_the_others_of_its_block(tiny_name, largest):
    trace = run(RunSpec(tiny_name, ids=IDS[:10]))
    seen = heads.attention(trace, largest)
    weights = trace.read("attn.weights", 1)
    for row in range(seen.maps.shape[2]):
        rows = weights[2, row * seen.block : (row + 1) * seen.block]
        others = rows[:, 1 : seen.block]
        assert seen.beside[1, 2, row] == (others.max() if others.size else 0)
    left = seen.without_first()
    np.testing.assert_array_equal(left[..., 1:], seen.maps[..., 1:])
    np.testing.assert_array_equal(left[..., 0], seen.beside)
    assert (seen.maps[..., 0] > left[..., 0]).any()  # and the maps are left as they were


def test_the_peaks_are_the_largest_weights_beside_the_first(tiny_name):
    trace = run(RunSpec(tiny_name, ids=IDS[:10]))
    peaks, weights = heads.attention(trace, 4).peaks, trace.read("attn.weights", 1)[2]
    assert np.isnan(peaks[..., 0]).all() and not peaks.flags.writeable
    assert peaks[1, 2, 1:].tolist() == [max(weights[i, 1 : i + 1]) for i in range(1, 10)]
    alone = heads.attention(run(RunSpec(tiny_name, ids=IDS[:1])))
    assert alone.peaks.shape[2] == 1 and np.isnan(alone.peaks).all()


@pytest.mark.parametrize("n", [1, 63, 64, 65, 127, 129])
@pytest.mark.parametrize("largest", [64, 10])
def test_blocks_of_any_length_are_reduced_as_by_hand(n, largest):
    maps = np.random.default_rng(n).random((2, n, n)).astype(np.float32)
    block, found = -(-n // largest), heads.reduce_max(maps, largest)
    edges = range(0, n, block)
    expected = [
        [[each[i : i + block, j : j + block].max() for j in edges] for i in edges] for each in maps
    ]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("largest", [64, 10, 7])
def test_a_window_is_as_many_cells_as_hold_a_key_that_is_seen(tmp_path, largest):
    path = build_gguf(tmp_path / "gemma2.gguf", "gemma2")
    trace = run(RunSpec(path, ids=IDS[:40]))
    found = heads.attention(trace, largest)
    layer = trace.config.windows.index(WINDOW)
    seen = np.isfinite(trace.read("attn.masked", layer))
    rows = heads.reduce_max(seen, largest)[0].sum(axis=1)
    assert found.windows[layer] == rows.max() < len(rows)
    assert found.windows[trace.config.windows.index(None)] is None


# ---- counts and places ---------------------------------------------------------------------------

LAST = np.float32([[[0.6, 0.3, 0.1], [0.2, 0.1, 0.7]], [[0.4, 0.4, 0.2], [0.1, 0.8, 0.1]]])


def test_heads_are_counted_by_whom_the_last_token_looks_at():
    assert (heads.n_sinks(LAST), heads.n_beyond(LAST)) == (1, 2)
    assert heads.hardest(LAST) == (1, 1, 1)
    assert heads.looked_at(LAST[1, 0], 2) == [(0, pytest.approx(0.4)), (1, pytest.approx(0.4))]
    alone = np.ones((2, 2, 1), np.float32)
    assert heads.hardest(alone) == (0, 0, 0) and heads.n_beyond(alone) == 0


def test_heads_are_ranked_and_those_without_a_number_left_out():
    values = np.float32([[0.2, np.nan, 0.9], [0.2, 0.0, 0.5]])
    order = [(0, 2), (1, 2), (0, 0), (1, 0), (1, 1)]
    assert roles.ranked(values) == order
    assert roles.ranked(values, "smallest") == [(1, 1), (0, 0), (1, 0), (1, 2), (0, 2)]
    assert roles.at_least(values, order, 0.5) == [(0, 2), (1, 2)]
    assert [roles.rank(values, *head) for head in order] == [1, 2, 3, 3, 5]
    assert roles.rank(values, 0, 1) is None


@EACH_FAMILY
def test_the_length_of_the_first_value_from_the_recorded_values(trace_of, case):
    trace = trace_of(case)
    ratios = []
    for layer in range(trace.config.n_layers):
        for head in trace.read("attn.v", layer).swapaxes(0, 1):
            lengths = [float(np.sqrt((row.astype(np.float64) ** 2).sum())) for row in head]
            ratios.append(lengths[0] / np.mean(lengths[1:]))
    assert heads.first_value(trace) == pytest.approx(np.median(ratios), rel=1e-5)


def test_a_single_token_has_no_others(tiny_name):
    assert heads.first_value(run(RunSpec(tiny_name, ids=(5,)))) is None


def test_who_looks_where_in_a_known_text(smollm):
    spec = RunSpec("smollm2-135m-instruct", prompt="The capital of France is")
    seen = heads.attention(heads.run_summing(spec))
    assert heads.n_sinks(seen.last) == 198
    assert heads.looked_at(seen.last[23, 4], 1)[0][0] == 3  # France
    assert roles.rank(seen.last[:, :, 3], 23, 4) == 1
