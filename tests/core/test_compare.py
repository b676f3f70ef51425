"""Somebody's values against ours: names, layouts, verdicts, causes, and what is not judged."""

import numpy as np
import pytest

from core import RunSpec, run
from core.model import ops
from core.record import report
from core.record.aliases import HUGGING_FACE, TRANSFORMER_LENS, UNLIKE, aliases, parse
from core.record.compare import difference, eps_of
from core.record.mistakes import interleaved
from tests.families import build_folder
from tests.other_engine import judged, values

IDS = (258, 273, 34, 264, 51, 52, 297, 298, 277, 40)


@pytest.fixture(scope="module")
def trace(tiny_name):
    return run(RunSpec(tiny_name, ids=IDS))


@pytest.fixture(scope="module")
def theirs(tiny):
    found = values(tiny, IDS)
    for value in found.values():
        value.flags.writeable = False
    return found


@pytest.fixture(scope="module")
def family(tmp_path_factory):
    """A trace of a tiny random model of some family."""

    def build(name):
        return run(RunSpec(build_folder(tmp_path_factory.mktemp(name), name), ids=(5, 6, 7)))

    return build


def changed(values, name, where, by):
    """The values with one number of one array made larger."""
    array = values[name].copy()
    array[where] += by
    return values | {name: array}


def verdicts(result):
    return {(row.op, row.layer): row.verdict for row in result.rows}


# ---- names and layouts ---------------------------------------------------------------------------


def test_names(trace):
    c = trace.catalogue
    for name, wanted in {
        "layers.1.attn.weights": ("attn.weights", 1),
        "logits": ("logits", None),
        "blocks.1.attn.hook_pattern": ("attn.weights", 1),
        "blocks.0.hook_mlp_out": ("mlp.out", 0),
        "model.layers.0.self_attn.q_proj": ("attn.q", 0),
        "model.model.layers.0.mlp.output": ("mlp.out", 0),
        "layers.1.post_attention_layernorm": ("mlp_norm", 1),
        "model.layers.1": ("resid_post", 1),
        "hidden_states.1": ("resid_pre", 1),
        "lm_head": ("logits", None),
    }.items():
        assert parse(name, c) == wanted
    for name in ("layers.2.attn.q", "layers.0.attn.q_norm", "attn.q", "layers.00001.attn.q", ""):
        assert isinstance(parse(name, c), str)
    for name in UNLIKE:
        assert parse(name.format(0), c) == UNLIKE[name]


def test_a_name_means_what_it_means_in_the_family(family):
    gemma, gpt2 = (family(name).catalogue for name in ("gemma2", "gpt2"))
    assert parse("model.layers.0.post_attention_layernorm", gemma) == ("attn.post_norm", 0)
    assert parse("blocks.0.hook_attn_out", gemma) == ("attn.post_norm", 0)
    assert parse("hook_embed", gemma) == ("embed_scaled", None)
    assert parse("transformer.h.1.mlp.c_fc", gpt2) == ("mlp.up", 1)
    assert parse("blocks.1.mlp.hook_post", gpt2) == ("mlp.act", 1)
    assert parse("transformer.drop", gpt2) == ("pos_embed", None)
    assert aliases(gpt2)["mlp.act"][0] == "blocks.{}.mlp.hook_post"


def test_every_op_but_the_plain_ones_has_a_name_elsewhere(family):
    every = {op for name in ("gemma2", "qwen3", "gpt2") for op in aliases(family(name).catalogue)}
    ours = {op for name in ("gemma2", "qwen3", "gpt2") for op in family(name).catalogue.ids}
    assert ours - every == {"attn.scores", "attn.softcap", "logits_capped", "probs"}
    assert not set(TRANSFORMER_LENS) & set(HUGGING_FACE)


QUERIES, KEYS = ("attn.q", "attn.q_rot", "attn.mix"), ("attn.k", "attn.k_rot", "attn.v")
LAYOUTS = {  # which ops, and how their values are laid out
    "batch": (None, lambda v: v[None]),
    "heads side by side": (QUERIES + KEYS, lambda v: v.reshape(len(v), -1)),
    "heads first": (QUERIES + KEYS, lambda v: v.swapaxes(0, 1)),
    "a batch of heads first": (QUERIES + KEYS, lambda v: v.swapaxes(0, 1)[None]),
    "keys repeated": (KEYS, lambda v: v.repeat(2, 1)),
    "repeated, heads first": (KEYS, lambda v: v.repeat(2, 1).swapaxes(0, 1)),
    "repeated, side by side": (KEYS, lambda v: v.repeat(2, 1).reshape(len(v), -1)),
    "maps by groups": (("attn.scores", "attn.weights"), lambda v: v.reshape(2, 2, 10, 10)),
}


def op_of(name):
    return name.split(".", 2)[-1] if name.startswith("layers.") else name


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(trace, theirs, name):
    which, layout = LAYOUTS[name]
    laid = {k: layout(v) if which is None or op_of(k) in which else v for k, v in theirs.items()}
    result = judged(trace, laid)
    assert set(verdicts(result).values()) == {"agrees"} and not result.unused
    assert {row.op for row in result.rows if row.layout} == set(which or ())
    where = "layers.1.attn.v" if which == KEYS else "layers.1.attn.weights"
    laid[where] = laid[where] * 1.01
    assert judged(trace, laid).first.name == where


def test_a_layout_that_could_be_two_is_the_one_that_is_nearer(tiny_name):
    trace = run(RunSpec(tiny_name, ids=IDS[:4]))  # as many positions as heads
    q = trace.read("attn.q", 0)
    for value, text in ((q, ""), (q.swapaxes(0, 1), "[head, seq, head_dim]")):
        row = judged(trace, {"layers.0.attn.q": value}).rows[0]
        assert (row.verdict, row.layout) == ("agrees", text)


def test_repeated_keys_in_the_wrong_order_differ(trace, theirs):
    k = theirs["layers.0.attn.k"]
    result = judged(trace, {"layers.0.attn.k": np.concatenate([k, k], axis=1)})
    assert result.first.verdict == "differs" and result.first.far.place["head"] in (1, 2)


def test_scores_of_every_position_or_of_the_last(trace):
    every = np.stack([trace.logits(n) for n in range(10)])
    for value in (every, every[None], every[-1], every[-1:]):
        assert verdicts(judged(trace, {"logits": value})) == {("logits", None): "agrees"}
    wrong = every.copy()
    wrong[3, 7] += 9
    place = judged(trace, {"logits": wrong}).first.far.place
    assert place == {"seq": 3, "vocab": 7}
    place = judged(trace, {"lm_head": wrong[-1] + 1}).first.far.place
    assert place["seq"] == 9


def test_what_is_not_compared_is_said(trace, theirs):
    result = judged(
        trace,
        theirs
        | {
            "layers.0.attn.q": np.zeros((10, 7)),
            "blocks.0.attn.hook_v": np.zeros((10, 2, 8)),
            "x": np.zeros(1),
        },
    )
    assert result.first is None and len(result.unused) == 3
    assert "(10, 4, 8) or (10, 32) or (4, 10, 8)" in result.unused["layers.0.attn.q"]


# ---- verdicts ------------------------------------------------------------------------------------


def test_a_difference_by_hand():
    ours = np.array([[4, 1], [100, 20]], np.float32)
    far = difference(ours, np.array([[4, 1.5], [101, 20]], np.float32), "resid_pre")
    assert far.place == {"seq": 0, "embedding": 1} and (far.ours, far.theirs) == (1, 1.5)
    assert far.relative == pytest.approx(0.5 / 4)  # not 1 / 100: each position has its own size


def test_a_map_has_its_size_query_by_query():
    ours = np.array([[[10, -np.inf], [1, 1]], [[2, -np.inf], [1, 1]]], np.float32)
    theirs = ours.copy()
    theirs[0, 1, 0] = 1.5
    far = difference(ours, theirs, "attn.masked")
    assert far.place == {"head": 0, "query": 1, "key": 0} and far.relative == 0.5


def test_the_first_op_to_differ_and_where(trace, theirs):
    result = judged(trace, changed(theirs, "layers.1.attn.mix", (3, 2, 5), 0.25))
    first = result.first
    assert (first.op, first.layer) == ("attn.mix", 1)
    assert first.far.place == {"seq": 3, "head": 2, "head_dim": 5}
    assert first.far.theirs - first.far.ours == pytest.approx(0.25, rel=1e-4)
    assert result.read == [("attn.v", 1), ("attn.weights", 1)] and result.between == []
    found = verdicts(result)
    assert found["attn.weights", 1] == "agrees" and list(found.values()).count("differs") == 1
    assert found["attn.out", 1] == "equals"  # it was made of other numbers than those in the file


def test_what_equals_ours_is_never_the_first_to_differ(trace, theirs):
    q, rotated = "layers.0.attn.q", "layers.0.attn.q_rot"
    few = {name: theirs[name] for name in (q, rotated)}
    result = judged(trace, changed(few, q, (3, 2, 5), 0.5))
    assert verdicts(result) == {("attn.q", 0): "differs", ("attn.q_rot", 0): "equals"}
    assert result.first.op == "attn.q"
    text = "\n".join(report.lines(result, trace.catalogue))
    assert text.count("DIFFERS") == 1 and "equals ours, though not made of theirs before it" in text


def test_one_of_a_thing_is_said_as_one(trace, theirs):
    for names, said in ((["logits"], "The one value agrees."), (["logits", "embed"], "All 2 ")):
        result = judged(trace, {name: theirs[name] for name in names})
        assert report.verdict(result).startswith(said)
    assert [report.count(n, "token") for n in (0, 1, 2)] == ["0 tokens", "1 token", "2 tokens"]


def test_what_follows_from_a_difference_is_told_from_a_second_one(tiny, trace):
    def wrong(scores, window=None, own=ops.mask):
        return own(scores) * np.float32(1.01)

    found = verdicts(judged(trace, values(tiny, IDS, changed={"mask": wrong})))
    assert [op for (op, _), verdict in found.items() if verdict == "differs"] == ["attn.masked"] * 2
    assert found["attn.weights", 0] == found["logits", None] == "follows"


def test_ops_that_were_not_given_are_listed(trace, theirs):
    few = {k: v for k, v in theirs.items() if op_of(k) in ("resid_pre", "attn.v", "attn.mix")}
    result = judged(trace, changed(few, "layers.1.attn.mix", (3, 2, 5), 0.25))
    names = "attn_norm attn.q attn.k attn.q_rot attn.k_rot attn.scores attn.masked attn.weights"
    assert result.between == [(op, 1) for op in names.split()]
    assert result.read == [("resid_pre", 1), ("attn.v", 1)]


def test_cells_behind_the_mask_do_not_matter_before_it_and_any_large_minus_masks(trace, theirs):
    hidden = np.triu(np.ones((10, 10), bool), 1)
    other = dict(theirs)
    for n in (0, 1):
        other[f"layers.{n}.attn.scores"] = np.where(
            hidden, np.nan, theirs[f"layers.{n}.attn.scores"]
        )
        other[f"layers.{n}.attn.masked"] = np.where(hidden, -1e9, theirs[f"layers.{n}.attn.masked"])
    assert judged(trace, other).first is None
    other = changed(other, "layers.1.attn.masked", (2, 3, 4), 1e9 - 9_000)
    assert judged(trace, other).first.far.place == {"head": 2, "query": 3, "key": 4}


def test_the_first_number_that_is_not_finite_is_named(trace, theirs):
    other = changed(theirs, "layers.0.mlp.act", (4, 7), np.nan)
    other = changed(other, "layers.1.attn.q", ..., np.inf)
    result = judged(trace, other)
    assert (result.nonfinite.op, result.nonfinite.layer) == ("mlp.act", 0)
    assert result.nonfinite.far.place == {"seq": 4, "neurons": 7}
    text = "\n".join(report.lines(result, trace.catalogue))
    assert "not finite: mlp.act of layer 0, position 4, neuron 7." in text


def test_another_order_inside_the_heads_is_no_mistake_if_the_scores_agree(trace, theirs):
    turned = ("attn.q", "attn.k", "attn.q_rot", "attn.k_rot")
    other = {k: interleaved(v) if op_of(k) in turned else v for k, v in theirs.items()}
    result = judged(trace, other)
    assert result.first is None
    found = verdicts(result)
    assert {found[op, n] for op in turned for n in (0, 1)} == {"order"}
    for name in ("layers.0.attn.scores", "layers.0.attn.masked"):
        del other[name]
    result = judged(trace, other)
    assert result.first.op == "attn.q" and "un-permuted" in result.causes[0].text


def test_a_small_difference_is_not_judged_in_a_small_precision(trace, theirs):
    large = np.abs(theirs["layers.1.mlp.out"][5]).max()
    for by, kind, verdict in (
        (5e-5, "float32", "agrees"),
        (1e-3, "float32", "differs"),
        (1e-3, "float16", "rounding"),
        (1e-2, "float16", "differs"),
        (1e-2, "bfloat16", "rounding"),
        (1e-1, "bfloat16", "differs"),
    ):
        other = changed(theirs, "layers.1.mlp.out", (5, 3), by * large)
        only = {"layers.1.mlp.hidden": theirs["layers.1.mlp.hidden"]}
        result = judged(trace, only | {"layers.1.mlp.out": other["layers.1.mlp.out"]}, kind)
        assert verdicts(result)["mlp.out", 1] == verdict


def test_precision_is_the_coarsest_of_values_computation_and_other_weights():
    assert eps_of({"float32", "whole"}) == 2**-24
    assert eps_of({"float32", "float16"}) == eps_of({"float32"}, "float16") == 2**-11
    assert eps_of({"float16"}, "bfloat16") == 2**-8
    for kind, bits in (("Q4_1", 4), ("IQ2_XS", 2), ("Q8_0", 8), ("F16", 11), ("F8_E4M3", 4)):
        assert eps_of({"float32"}, None, {"F32", kind}) == 2.0**-bits
    assert eps_of(stored={"MXFP4"}) == 1
