"""One small ModelConfig of each family, and what its lessons are given.

Written by hand from what the families are known for; knows no model file and no page. The numbers
are small, but no two of a model are alike where a lesson could mix them up.
"""

from functools import cache

from core.analyse import misreadings, traits
from core.model.config import ModelConfig, Rope, Scaling
from core.record.catalogue import catalogue_of

SIZES = dict(n_layers=4, width=24, n_heads=4, n_kv_heads=2, head_dim=6, neurons=40, vocab=70)
LLAMA = SIZES | dict(context=90, norm_eps=1e-5, score_scale=6**-0.5)
LLAMA |= dict(ropes=(Rope(6, 10_000.0),) * 4, windows=(None,) * 4)
ALTERNATE, EVERY = (13, None) * 2, (13,) * 4
GPT_BIASES = frozenset("attn_q attn_k attn_v attn_out mlp_up mlp_out".split())
GPT = LLAMA | dict(n_kv_heads=4, norm="layer", gated=False, biases=GPT_BIASES)
GEMMA = LLAMA | dict(activation="gelu_tanh", embed_scale=24**0.5)
GEMMA2 = GEMMA | dict(norm_place="both", score_scale=0.25, windows=ALTERNATE)
CAPS = dict(attn_softcap=50.0, logit_softcap=30.0)
LOCAL_GLOBAL = (Rope(6, 10_000.0), Rope(6, 1e6, Scaling("linear", 8.0))) * 2
SCALED = (Rope(6, 5e5, Scaling("llama3", 8.0, 64)),) * 4

CHOICES = {
    "llama": LLAMA,
    "mistral": LLAMA | dict(windows=EVERY),
    "qwen2": LLAMA | dict(biases=frozenset(("attn_q", "attn_k", "attn_v"))),
    "qwen3": LLAMA | dict(qk_norm="head"),
    "gemma": GEMMA | dict(n_kv_heads=1),
    "gemma2": GEMMA2 | CAPS,
    "gemma3": GEMMA2 | dict(qk_norm="head", ropes=LOCAL_GLOBAL),
    "phi3": LLAMA | dict(windows=EVERY, ropes=(Rope(4, 10_000.0),) * 4),
    "olmo2": LLAMA | dict(n_kv_heads=4, norm_place="after", qk_norm="width"),
    "smollm3": LLAMA | dict(ropes=(Rope(6, 2e6),) * 3 + (None,)),
    "gpt2": GPT | dict(activation="gelu_tanh", learned_positions=True, ropes=(None,) * 4),
    "gpt_neox": GPT | dict(activation="gelu_erf", parallel=True, ropes=(Rope(2, 10_000.0),) * 4),
}
# choices that a config of a family may make besides
MORE = {
    "llama with llama3 scaling": LLAMA | dict(ropes=SCALED),
    "llama with biases": LLAMA | dict(biases=GPT_BIASES | {"mlp_gate"}),
    "phi3 with scaling": LLAMA | dict(ropes=(Rope(4, 1e4, Scaling("longrope", 4.0, 64)),) * 4),
    "gpt_neox one after the other": GPT | dict(activation="gelu_erf"),
}
CONFIGS = {
    name: ModelConfig(name.split()[0], **choice) for name, choice in (CHOICES | MORE).items()
}


def places(config):
    """Every op of a model with its layer (None outside the blocks)."""
    catalogue = catalogue_of(config)
    for id in catalogue.ids:
        for layer in catalogue.layers_with(id):
            yield catalogue.op(id, layer), layer


# the views of pages but the first of each, whose lesson is the page's
VIEWS = """tokens.compare tokens.chat tokens.space tokens.vocabulary
embedding.neighbours embedding.arithmetic embedding.map embedding.tied
positions.clocks positions.distance positions.longer block.layers
sampling.draw sampling.orders loop.branch loop.beams cache.saved cache.jobs
atlas.head atlas.reading atlas.effect atlas.compare atlas.roles atlas.rollout
lens.parts lens.neurons""".split()


# the ops at which something is often believed, and the values of a run that the answer may name
GUESSED, SUMMED = "n_known n_right", ""
CACHED = "cache_shape cache_bytes keys_op n_same n_compared query_bytes"
ENTERED, NEAR = "n_same n_turning", "near_first near_last n_falling best best_score key_token key"
MISREAD = dict.fromkeys("attn.masked resid_post final_norm logits probs".split(), GUESSED)
MISREAD |= dict.fromkeys(("attn_norm", "resid_mid"), SUMMED)
MISREAD |= dict.fromkeys(("attn.q", "attn.k"), CACHED)
MISREAD |= dict.fromkeys(("embed", "resid_pre", "attn.q_rot"), ENTERED)
MISREAD |= dict.fromkeys(("attn.k_rot", "attn.scores"), NEAR)
MISREAD |= {"attn.weights": "key_token weight share"}
MISREAD = {op: frozenset(names.split()) for op, names in MISREAD.items()}


def page_tags(config):
    """What the pages of a model may be given: page name and tags."""
    catalogue = catalogue_of(config)
    yield from (
        (name, frozenset())
        for name in ("start", "tokens", "sampling", "loop", "cache", "atlas", "lens", "learning")
    )
    yield "atlas", frozenset({"several"})
    yield from (("embedding", traits.of_embedding(config, tied)) for tied in (True, False))
    yield from (("positions", traits.of_positions(config, n)) for n in range(config.n_layers))
    parts = [("block", block) for block in catalogue.blocks] + [("output", catalogue.after)]
    for name, ops in parts:
        yield name, frozenset().union(*(op.tags for op in ops.values()))


@cache
def variants() -> list[tuple[str, str, frozenset]]:
    """Every lesson in every form that some model shows: kind, name, tags."""
    found = {}
    for config in CONFIGS.values():
        own = misreadings.tags(config)  # of the section Misread alone
        for op, _ in places(config):  # the figures show one position, or all of them
            tags = op.tags | (own if op.id in MISREAD else set())
            found |= {("ops", op.id, tags | more): None for more in (set(), {"together"})}
        for page, tags in page_tags(config):
            found[("pages", page, tags)] = None
            own = (view for view in VIEWS if view.startswith(f"{page}."))
            found |= {("views", view, tags): None for view in own}
    return list(found)


@cache
def known_tags() -> dict[tuple[str, str], frozenset]:
    """All tags that a lesson may be given, by kind and name."""
    known = {}
    for kind, name, tags in variants():
        known[kind, name] = known.get((kind, name), frozenset()) | tags
    return known


def numbers(config, layer=None) -> dict:
    """The numbers of a model and a layer that a lesson may name. What there is not is missing."""
    c, own = config, {}
    rope, window = (None, None) if layer is None else (c.ropes[layer], c.windows[layer])
    if rope:
        own |= dict(theta=f"{rope.theta:,.0f}", rot_dim=rope.dim, n_pairs=rope.dim // 2)
    if layer is not None:
        own |= dict(layer=layer, head=3, kv_head=3 // c.group, step=1, n_steps=20)
    own |= {"window": window} if window else {}
    for name in ("embed_scale", "attn_softcap", "logit_softcap"):
        own |= {name: f"{getattr(c, name):.6g}"} if getattr(c, name) else {}
    sizes = "n_layers n_heads n_kv_heads group head_dim width neurons vocab context".split()
    own |= {name: getattr(c, name) for name in sizes}
    own |= dict(sqrt_head_dim=f"{c.head_dim**0.5:g}", score_scale=f"{c.score_scale:.4g}")
    return own | dict(score_divisor=f"{1 / c.score_scale:.4g}", eps=f"{c.norm_eps:g}", n_tokens=9)
