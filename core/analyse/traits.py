"""What a model does in its own way before and around its blocks, as tags for the lessons of the
pages about embedding and positions. Knows configs; no lesson.
"""

from core.record.catalogue import catalogue_of

ROTATED = "attn.q_rot"


def of_embedding(config, tied: bool) -> frozenset[str]:
    """Tags of the embedding: "untied" (the output matrix is another), "stretched" (rows are
    multiplied by a constant), "learned" (a row per position is added).
    """
    own = {"untied": not tied, "stretched": config.embed_scale, "learned": config.learned_positions}
    return frozenset(name for name, has in own.items() if has)


def of_positions(config, layer: int) -> frozenset[str]:
    """Tags of how a layer knows positions: those of its rotation (such as "scaled", "partial"), or
    "unturned" where it has none, with "learned" where a row per position was added instead.
    """
    ops = catalogue_of(config).blocks[layer]
    learned = frozenset({"learned"} if config.learned_positions else ())
    return ops[ROTATED].tags if ROTATED in ops else learned | {"unturned"}
