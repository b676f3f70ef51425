"""How a model rotates queries and keys, and stretches that for longer texts, from its settings.

Knows both spellings of config.json (rope_theta and rope_scaling, or rope_parameters) and the keys
and tensors of GGUF; computes no angle.
Source: modeling_rope_utils of transformers; llama.cpp's llama-context for GGUF's amplitudes.
"""

import math

from core.files.settings import LARGEST
from core.model.config import Rope, Scaling

TYPES = "plain, linear, dynamic, yarn, llama3 and longrope positions"


def from_config(s, family, head_dim: int, context: int) -> tuple[Rope, Rope]:
    """The rotation of layers that see everything, and of those with a window, of a config.json.

    s: its Settings; context: max_position_embeddings. Raises ModelFileError.
    """
    table = s.inside("rope_scaling")
    table = table if table.values else s.inside("rope_parameters")
    nested = any(isinstance(value, dict) for value in table.values.values())
    whole = table.inside("full_attention") if nested else table
    rope = _rope(s, whole, family, head_dim, context, s.number("rope_theta"))
    if family.local_theta is None:
        return rope, rope
    theta = s.number("rope_local_base_freq", family.local_theta)
    local = table.inside("sliding_attention")
    return rope, _rope(s, local, family, head_dim, context, theta)


def _rope(s, table, family, head_dim, context, theta):
    theta = table.number("rope_theta", theta)
    dim = _turned(s, table, family, head_dim)
    kind = table.text("rope_type", table.text("type", "default"))
    kind = family.aliases.get(kind, kind)
    if kind == "default":
        return Rope(dim, theta)
    if kind not in SCALINGS:
        raise s.unsupported(f"its rope_type is {kind[:40]!r}", TYPES)
    if dim < 4 or theta <= 1:
        raise s.fail("rope_theta", f"{dim} numbers to the base {theta} cannot be stretched")
    # a length beside the table counts, before the one in it
    original = s.size("original_max_position_embeddings", None)
    original = original or table.size("original_max_position_embeddings", context)
    return Rope(dim, theta, SCALINGS[kind](table, dim, original, context))


def _turned(s, table, family, head_dim):
    """How many numbers of a head turn."""
    share = table.number("partial_rotary_factor", s.number("partial_rotary_factor", None))
    if family.turned is None and share not in (None, 1.0):
        raise s.unsupported(f"it turns {share} of each head", "heads that turn as a whole")
    dim = int(head_dim * (share or family.turned or 1.0))
    check_turned(s, "partial_rotary_factor", dim, head_dim)
    return dim


def check_turned(s, key, dim, head_dim):
    """Raise unless dim numbers of a head can turn in pairs."""
    if dim % 2 or not 2 <= dim <= head_dim:
        raise s.fail(key, f"{dim} of the {head_dim} numbers of a head cannot turn in pairs")


def _linear(t, dim, original, context):
    return Scaling("linear", t.number("factor"))


def _dynamic(t, dim, original, context):
    return Scaling("dynamic", _factor(t), context)  # the base grows from the stated context


def _factor(t, default=None):
    factor = t.number("factor", default)
    if factor is None or factor < 1:
        raise t.fail("factor", "it must be a number from 1")
    return factor


def _yarn(t, dim, original, context):
    factor = _factor(t, context / original)
    fast, slow = t.number("beta_fast", 32.0), t.number("beta_slow", 1.0)
    amplitude = t.number("attention_factor", None)
    if amplitude is None:
        one, all_dims = t.number("mscale", None), t.number("mscale_all_dim", None)
        both = one is not None and all_dims is not None
        amplitude = mscale(factor, one) / mscale(factor, all_dims) if both else mscale(factor)
    truncate = t.flag("truncate", True)
    ends = {"slow": slow, "fast": fast, "truncate": truncate}
    return Scaling("yarn", factor, original, amplitude=amplitude, **ends)


def mscale(factor: float, times: float = 1.0) -> float:
    """By how much YaRN enlarges cosines and sines."""
    return 0.1 * times * math.log(factor) + 1 if factor > 1 else 1.0


def _llama3(t, dim, original, context):
    low, high = t.number("low_freq_factor"), t.number("high_freq_factor")
    if high <= low:
        raise t.fail("high_freq_factor", f"it must be above low_freq_factor, which is {low}")
    return Scaling("llama3", _factor(t), original, low, high)


def _longrope(t, dim, original, context):
    factor = t.number("factor", context / original)
    if original < 2:
        raise t.fail("original_max_position_embeddings", "it must be at least 2")
    short, long = (t.numbers(f"{name}_factor", dim // 2) for name in ("short", "long"))
    amplitude = t.number("attention_factor", None)
    if amplitude is None:
        stretch = math.log(factor) / math.log(original) if factor > 1 else 0.0
        amplitude = math.sqrt(1 + stretch)
    return Scaling("longrope", factor, original, amplitude=amplitude, short=short, long=long)


SCALINGS = {"linear": _linear, "dynamic": _dynamic, "yarn": _yarn}
SCALINGS |= {"llama3": _llama3, "longrope": _longrope}
BETAS = (("fast", 32.0), ("slow", 1.0))


def longest(context: int, rope: Rope | None) -> int:
    """How many tokens a text may have: a dynamic base also serves texts past the stated context."""
    if rope is None or rope.scaling is None or rope.scaling.kind != "dynamic":
        return context
    return min(int(context * rope.scaling.factor), LARGEST)


def from_gguf(s, family, head_dim: int, factors: dict[str, tuple]) -> tuple[Rope, Rope]:
    """The same of a GGUF file. factors: the numbers of its rope_freqs and rope_factors tensors."""
    dim = s.size("rope.dimension_count", head_dim)
    check_turned(s, "rope.dimension_count", dim, head_dim)
    if family.turned is None and dim != head_dim:
        raise s.unsupported(f"it turns {dim} of {head_dim} numbers", "heads that turn as a whole")
    rope = Rope(dim, s.number("rope.freq_base", 10_000.0), _stored(s, dim, factors))
    if family.local_theta is None:
        return rope, rope
    return rope, Rope(dim, s.number("rope.freq_base_swa", family.local_theta))


def _stored(s, dim, factors):
    """The scaling that metadata and tensors of a GGUF file describe, or None."""
    divisor = s.number("rope.scaling.factor", s.number("rope.scale_linear", None))
    kind = s.text("rope.scaling.type", "linear" if divisor else "none")
    if kind in ("linear", "yarn") and divisor is None:
        raise s.fail("rope.scaling.factor", f"its positions are scaled ({kind}), not by how much")
    times = s.number("rope.scaling.attn_factor", 1.0)
    times = None if times == 1 else times
    _check_factors(s, dim, kind, factors)
    if "rope_freqs" in factors:
        return Scaling("factors", short=factors["rope_freqs"], amplitude=times)
    if factors:
        original, context = _original(s), s.size("max_position_embeddings")
        lists = {name: factors[f"rope_factors_{name}"] for name in ("short", "long")}
        # without a stated amplitude the rule of longrope must not find one of its own
        return Scaling("longrope", context / original, original, amplitude=times or 1.0, **lists)
    if kind == "yarn":
        return _stored_yarn(s, dim, divisor, times or 1.0)
    if kind == "none" or divisor == 1:
        return None if times is None else Scaling("linear", amplitude=times)
    return Scaling("linear", divisor, amplitude=times)


def _check_factors(s, dim, kind, factors):
    if kind not in ("none", "linear", "yarn", "longrope"):
        raise s.unsupported(f"its rope scaling is {kind[:40]!r}", TYPES)
    pair = {"rope_factors_short", "rope_factors_long"}
    if factors.keys() not in (set(), {"rope_freqs"}, pair) or (kind == "longrope" and not factors):
        raise s.fail("rope.scaling.type", "its tensors of divisors do not belong together")
    if factors and kind in ("linear", "yarn"):
        raise s.unsupported(f"it stretches its positions twice, by {kind} and by divisors", TYPES)
    for name, values in factors.items():
        if len(values) != dim // 2 or not all(0 < x < math.inf for x in values):
            raise s.fail(name, f"it does not hold {dim // 2} numbers above 0")


def _original(s):
    context = s.size("max_position_embeddings")
    return s.size("rope.scaling.original_context_length", context, least=2)


def _stored_yarn(s, dim, factor, times):
    """As llama.cpp does it: borders rounded. A stated attention factor is the whole one."""
    for key, usual in (("yarn_ext_factor", 1.0), ("yarn_log_multiplier", None)):
        if s.number(f"rope.scaling.{key}", usual) != usual:
            raise s.unsupported(f"its {key} is unusual", TYPES)
    if factor < 1 or dim < 4 or s.number("rope.freq_base", 10_000.0) <= 1:
        raise s.fail("rope.scaling.factor", f"{dim} numbers cannot be stretched by {factor}")
    fast, slow = (s.number(f"rope.scaling.yarn_beta_{x}", d) for x, d in BETAS)
    amplitude = s.number("rope.scaling.yarn_attn_factor", mscale(factor)) * times
    return Scaling("yarn", factor, _original(s), slow=slow, fast=fast, amplitude=amplitude)
