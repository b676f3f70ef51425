"""Known mistakes, made in an engine on purpose, are named; others have no cause."""

from dataclasses import replace

import numpy as np
import pytest

from core import RunSpec, run
from core.model import ops
from core.record.mistakes import interleaved, rotate_neighbours
from tests.families import SCALINGS, build_folder
from tests.other_engine import judged, values

IDS = (258, 273, 34, 264, 51, 52, 297, 298, 277, 40)


@pytest.fixture(scope="module")
def trace(tiny_name):
    return run(RunSpec(tiny_name, ids=IDS))


@pytest.fixture(scope="module")
def family(tmp_path_factory):
    """A trace of 20 tokens of a tiny random model of some family."""

    def build(name, **changes):
        path = build_folder(tmp_path_factory.mktemp(name), name, **changes)
        return run(RunSpec(path, ids=tuple(np.random.default_rng(1).integers(0, 96, 20).tolist())))

    return build


def neighbours(x, cos, sin):
    """RoPE with numbers 2i and 2i + 1 as one complex number, by multiplication."""
    pairs = x[..., 0::2] + 1j * x[..., 1::2]
    turned = pairs * (cos + 1j * sin)[:, None, :]
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape).astype(np.float32)


def test_rotating_neighbours_is_a_complex_product(trace):
    cos, sin = trace.constants("attn.q_rot", 0)
    q = trace.read("attn.q", 0)
    np.testing.assert_allclose(rotate_neighbours(q, cos, sin), neighbours(q, cos, sin), atol=1e-6)
    assert interleaved(np.arange(8)).tolist() == [0, 4, 1, 5, 2, 6, 3, 7]


def config(**change):
    return {"config": lambda c: replace(c, **change)}


def weights(name, function):
    def change(w):
        layers = [replace(x, **{name: function(getattr(x, name))}) for x in w.layers]
        return replace(w, layers=tuple(layers))

    return {"weights": change}


def windows(by):
    return {"config": lambda c: replace(c, windows=tuple(w and w + by for w in c.windows))}


def all_rotate(c):
    return replace(c, ropes=tuple(rope or c.ropes[0] for rope in c.ropes))


CAUSES = [  # family, mistake, first op and layer, words
    ("llama", {"changed": {"rotate": neighbours}}, "attn.q_rot", 0, "half-split"),
    ("llama", weights("attn_q", np.transpose), "attn.q", 0, "transposed"),
    ("llama", {"changed": {"add": lambda x, delta: delta}}, "resid_mid", 0, "replaced"),
    ("llama", config(score_scale=1 / 8), "attn.scores", 0, "scaled twice"),
    ("mistral", config(windows=(None, None)), "attn.masked", 0, "window was left out"),
    ("mistral", windows(1), "attn.masked", 0, "window is one too wide"),
    ("mistral", windows(-1), "attn.masked", 0, "window is one too narrow"),
    ("qwen2", weights("attn_k_bias", np.zeros_like), "attn.k", 0, "bias was forgotten"),
    ("gemma2", config(embed_scale=None), "resid_pre", 0, "left out"),
    ("gemma2", config(attn_softcap=None), "attn.masked", 0, "left out"),
    ("gemma2", config(activation="gelu_erf"), "mlp.act", 0, "gelu_erf"),
    ("gemma2", config(score_scale=16**-0.5), "attn.scores", 0, "1/sqrt(head_dim), not the one"),
    ("gemma2", weights("attn_post_norm", lambda w: w - 1), "attn.post_norm", 0, "not by 1 + w"),
    ("smollm3", {"config": all_rotate}, "attn.scores", 3, "this layer does not do"),
    ("gpt2", config(learned_positions=False), "resid_pre", 0, "left out"),
    (
        "gpt2",
        {"changed": {"layer_norm": lambda x, w, eps, b: ops.rms_norm(x, w, eps) + b}},
        "attn_norm",
        0,
        "mean was not taken off",
    ),
    (
        "olmo2",
        {
            "changed": {
                "rms_norm_all_heads": lambda x, w, eps: ops.rms_norm(x, w.reshape(x.shape[1:]), eps)
            }
        },
        "attn.q_norm",
        0,
        "each head was normalized by itself",
    ),
]


@pytest.mark.parametrize("case", CAUSES, ids=lambda case: f"{case[0]} {case[4]}")
def test_the_cause_is_found(family, case):
    name, mistake, op, layer, words = case
    trace = family(name)
    result = judged(trace, values(trace.model, trace.ids, **mistake))
    assert (result.first.op, result.first.layer) == (op, layer)
    assert any(words in cause.text for cause in result.causes[:1])


def test_a_scaling_that_was_left_out(family):
    trace = family("llama", **SCALINGS["llama3"])
    plain = {"config": lambda c: replace(c, ropes=tuple(replace(r, scaling=None) for r in c.ropes))}
    result = judged(trace, values(trace.model, trace.ids, **plain))
    assert "scaling of the rotation was left out" in result.causes[0].text


def test_the_logits_alone_are_enough_to_name_a_mistake(tiny, trace):
    other = values(tiny, IDS, changed={"rotate": neighbours})["logits"]
    result = judged(trace, {"logits": other})
    assert result.first.op == "logits" and result.read == [] and len(result.between) == 42
    assert ["half-split" in cause.text for cause in result.causes] == [True]


def test_a_head_that_reads_the_wrong_keys_is_found_also_where_keys_are_repeated(tiny, trace):
    wrong = np.arange(4) % 2
    changed = {"scores": lambda q, k, s, own=ops.scores: own(q, k[:, wrong], s)}
    theirs = values(tiny, IDS, changed=changed)
    for name in ("layers.0.attn.k", "layers.0.attn.k_rot"):
        theirs[name] = theirs[name].repeat(2, axis=1)
    result = judged(trace, theirs)
    assert result.first.op == "attn.scores"
    assert ["h % 2, not h // 2" in cause.text for cause in result.causes] == [True]


@pytest.mark.parametrize(("part", "named"), [(0.95, True), (0.8, False)])
def test_a_mistake_that_explains_only_most_of_a_difference_is_not_named(tiny, trace, part, named):
    broken = values(tiny, IDS, **config(norm_eps=1e-3))["layers.0.attn_norm"]
    ours = trace.read("attn_norm", 0)
    theirs = {"embed": trace.read("embed"), "layers.0.attn_norm": ours + part * (broken - ours)}
    result = judged(trace, theirs, "float16")
    assert result.first.op == "attn_norm"
    assert ["epsilon of the norm is 0.001" in c.text for c in result.causes] == [True] * named


def test_what_no_mistake_explains_has_no_cause(trace):
    result = judged(trace, {"layers.1.attn.mix": trace.read("attn.mix", 1) + np.float32(0.25)})
    assert result.first.op == "attn.mix" and result.causes == []


def test_of_two_mistakes_the_first_is_named_and_not_the_other(tiny, trace):
    changed = {"rotate": neighbours, "mask": lambda scores, window=None: scores}
    result = judged(trace, values(tiny, IDS, changed=changed))
    assert result.first.op == "attn.q_rot"
    assert ["half-split" in cause.text for cause in result.causes] == [True]
    differing = {row.op for row in result.rows if row.verdict == "differs"}
    assert differing == {"attn.q_rot", "attn.k_rot", "attn.masked"}
