"""Damage to the structure of a GGUF file: its counts, keys, values, tensors and numbers.

Knows the format's parts and the keys that matter to an engine; nothing of core.
"""

import copy
import math
import struct

import gguf

from tests.fuzz.damage import FLOATS, NUMBERS, TEXTS, damaged_bytes, nearly
from tests.fuzz.gguf_image import ARRAY, BOOL, F32, FORMS, TEXT, Image, array, number, text

INTEGERS = [kind for kind in FORMS if kind not in (F32, 12)]
MORE_KEYS = "rope.scaling.type rope.scaling.factor rope.scaling.attn_factor rope.freq_base_swa"
MORE_KEYS += " rope.scaling.original_context_length attention.key_length attention.value_length"
MORE_KEYS += " attention.sliding_window attention.sliding_window_pattern rope.dimension_count"
MORE_KEYS += " attention.head_count_kv expert_count attn_logit_softcapping use_parallel_residual"
MORE_KEYS += " final_logit_softcapping attention.causal logit_scale rope.scaling.yarn_beta_fast"
OTHER_KEYS = "general.alignment split.count split.no split.tensors.count tokenizer.ggml.pre"
OTHER_KEYS += " tokenizer.ggml.add_bos_token tokenizer.ggml.scores tokenizer.ggml.merges"
NAMES = "output.weight rope_freqs.weight rope_factors_long.weight blk.0.attn_q.bias"
NAMES += (
    " blk.0.attn_q_norm.weight blk.1.attn_q.weight blk.99999.ffn_up.weight position_embd.weight"
)


def damaged(whole: Image, rng) -> bytes:
    """A file like this one with some of its parts changed, and now and then bytes of it."""
    if rng.random() < 0.3:
        return damaged_bytes(whole.pack(), rng)
    image = copy.copy(whole)
    image.metadata, image.more = dict(whole.metadata), list(whole.more)
    image.tensors = [list(tensor) for tensor in whole.tensors]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        rng.choices([_value, _keys, _counts, _tensor, _data, _list], [6, 2, 1, 5, 2, 3])[0](
            image, rng
        )
    data = image.pack()
    return damaged_bytes(data, rng) if rng.random() < 0.1 else data


def _value(image, rng):
    """A value of another size, kind or type; also of a key that the file does not have."""
    architecture = image.metadata.get("general.architecture", "llama")
    key = rng.choice([*image.metadata] or ["a"])
    if rng.random() < 0.3:
        key = rng.choice([f"{architecture}.{k}" for k in MORE_KEYS.split()] + OTHER_KEYS.split())
    old = image.metadata.get(key, 1)
    if rng.random() < 0.4 and isinstance(old, (bool, int, float, str)):
        image.metadata[key] = _encoded(nearly(old, rng), rng)
    else:
        image.metadata[key] = odd_value(rng)


def _encoded(found, rng):
    """As converters store it, or another kind of number."""
    if isinstance(found, bool):
        return BOOL, bytes([found])
    if isinstance(found, int):
        kind = rng.choice([4, 4, *INTEGERS])
        return kind, number(kind, found)
    if isinstance(found, float):
        kind = rng.choice([F32, 12])
        return kind, number(kind, found)
    return TEXT, text(found)


def odd_value(rng):
    """Any kind and value, as (kind, bytes)."""
    how = rng.randrange(8)
    if how < 4:
        return _encoded(rng.choice([*NUMBERS, *FLOATS, *TEXTS, True, False]), rng)
    if how == 4:  # bytes that are no text, lengths that are none, truth values of 7
        return TEXT, rng.choice([text(b"\xff\xfe"), struct.pack("<Q", rng.choice(NUMBERS) % 2**64)])
    if how == 5:
        return BOOL, bytes([rng.randrange(256)])
    if how == 6:
        kind = rng.choice([*FORMS, ARRAY, 13, 2**31])
        payload = rng.choice([b"", rng.randbytes(64), array(ARRAY, 1) * 50])
        return ARRAY, array(kind, rng.choice([0, 1, 2, *NUMBERS]), payload)
    return rng.choice([13, 99, 2**32 - 1]), bytes(8)


def _keys(image, rng):
    """A key left out, twice, empty, long, or under another name."""
    key = rng.choice([*image.metadata] or ["a"])
    how = rng.randrange(4)
    if how == 0:
        image.metadata.pop(key, None)
    elif how == 1:
        part = Image({key: image.metadata.get(key, 1)}, []).entries()
        image.more += part * rng.choice([1, 2, 200])
    elif how == 2:
        other = rng.choice([*TEXTS, key + "x", key.upper(), *image.metadata])
        image.metadata[other] = image.metadata.pop(key, 1)
    else:
        items = [*image.metadata.items()]
        rng.shuffle(items)
        image.metadata = dict(items)


def _counts(image, rng):
    near = rng.choice([-1, 1])
    how = rng.randrange(3)
    if how == 0:
        image.n_tensors = rng.choice([len(image.tensors) + near, *NUMBERS]) % 2**64
    elif how == 1:
        image.n_keys = rng.choice([len(image.metadata) + near, *NUMBERS]) % 2**64
    else:
        image.version = rng.choice([0, 1, 2, 3, 4, 3 << 24, 2 << 24, 2**32 - 1])


def _tensor(image, rng):
    """An entry of the table that is off, missing, twice, or elsewhere."""
    if not image.tensors:
        return
    at, how = rng.randrange(len(image.tensors)), rng.randrange(8)
    name, dims, kind, _, raw = tensor = image.tensors[at]
    if how == 0:
        others = [t[0] for t in image.tensors]
        tensor[0] = rng.choice([*NAMES.split(), *others, *TEXTS, name.replace("weight", "bias")])
    elif how == 1:
        dims = [*dims]
        i = rng.randrange(len(dims)) if dims else 0
        changed = rng.choice([dims[::-1], dims[:-1], [*dims, 1], [1, *dims], dims * 2, []])
        dims[i : i + 1] = [rng.choice([*NUMBERS, dims[i] * 2, dims[i] // 2, dims[i] + 1])]
        tensor[1] = rng.choice([changed, dims])
    elif how == 2:
        tensor[2] = rng.choice([*range(45), 2**31, 2**32 - 1])
    elif how == 3:
        tensor[3] = rng.choice([*NUMBERS, 32, 64, 33])
    elif how == 4:
        del image.tensors[at]
    elif how == 5:
        image.tensors.insert(rng.randrange(at + 1), list(tensor))
    elif how == 6:
        other = rng.choice(image.tensors)
        tensor[0], other[0] = other[0], tensor[0]
    else:
        restored(tensor, rng)


def restored(tensor, rng):
    """The same shape in another number type, with random bytes of the right length."""
    kind = rng.choice([*gguf.GGMLQuantizationType])
    per_block, nbytes = gguf.GGML_QUANT_SIZES[kind]
    numbers = math.prod(tensor[1])
    if numbers > 1 << 17:  # a shape that was damaged before
        return
    tensor[2], tensor[4] = int(kind), rng.randbytes(numbers // per_block * nbytes)


def _data(image, rng):
    """Numbers that are none, infinite, huge or zero, or too few of them."""
    if not image.tensors:
        return
    tensor = rng.choice(image.tensors)
    raw = bytearray(tensor[4])
    for _ in range(rng.choice([1, 4, 100])):
        at = rng.randrange(len(raw) // 4) * 4 if len(raw) >= 4 else 0
        bits = rng.choice([0x7FC00000, 0x7F800000, 0xFF800000, 0x7F7FFFFF, 0, 1, 0x80000000])
        raw[at : at + 4] = struct.pack("<I", bits)
    tensor[4] = bytes(raw) if rng.random() < 0.7 else bytes(raw[: rng.randrange(len(raw) + 1)])


def _list(image, rng):
    """A list of the metadata with entries changed, left out, doubled or in another order."""
    lists = [key for key, found in image.metadata.items() if isinstance(found, list) and found]
    if not lists:
        return
    key = rng.choice(lists)
    found, how = [*image.metadata[key]], rng.randrange(6)
    at = rng.randrange(len(found))
    if how < 2:
        kind = type(found[at])
        pool = {int: NUMBERS, float: FLOATS, str: [*TEXTS, "<0x0A>", "▁", "a b c"]}[kind]
        found[at] = rng.choice(pool)
    elif how == 2:
        del found[at : at + rng.choice([1, 1, 100])]
    elif how == 3:
        found += [rng.choice(found)] * rng.choice([1, 100])
    elif how == 4:
        rng.shuffle(found)
    else:
        found[at] = rng.choice(found)
    image.metadata[key] = found
