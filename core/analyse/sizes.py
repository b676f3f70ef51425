"""How large a model is beside SmolLM2-135M-Instruct, which need not be on disk for that. Knows
sizes; no run, no page.
"""

from core.files import registry
from core.model.config import ModelConfig, Rope
from core.record.catalogue import catalogue_of

# as its file says; a test compares the two
SMOLLM2 = ModelConfig(
    architecture="llama",
    n_layers=30,
    width=576,
    n_heads=9,
    n_kv_heads=3,
    head_dim=64,
    neurons=1536,
    vocab=49_152,
    context=8192,
    norm_eps=1e-5,
    score_scale=64**-0.5,
    ropes=(Rope(64, 100_000.0),) * 30,
    windows=(None,) * 30,
)
FROM_CONFIG = "n_layers width n_heads n_kv_heads head_dim neurons vocab context".split()


def is_nano(model) -> bool:
    """Whether an opened model is the one that ships with the program, or a checkpoint of it."""
    return registry.of_nano(model.source.path)


def side_by_side(model) -> list[tuple[str, int, int]]:
    """(name, SmolLM2's, the model's) of every size, the ops of a block, the base of a rotation."""
    large = _sizes(SMOLLM2, registry.DEFAULT.n_parameters)
    own = _sizes(model.config, model.weights.n_parameters)
    return [(name, large[name], own[name]) for name in large]


def _sizes(config, n_weights):
    n_ops = len(catalogue_of(config).blocks[0])
    sizes = {name: getattr(config, name) for name in FROM_CONFIG}
    return {"n_weights": n_weights, "n_ops": n_ops, **sizes, "theta": int(config.ropes[0].theta)}
