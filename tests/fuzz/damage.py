"""Damage to valid bytes and valid JSON, drawn from a seeded random source.

Knows how files break and what attackers write into them; no format but JSON, and nothing of core.
"""

import json
import struct

NUMBERS = [0, 1, -1, 2, 3, 7, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**62, 2**63 - 1]
NUMBERS += [2**63, 2**64 - 1, 2**64, -(2**63), 10**400, 1 << 20, 1 << 24, 1000, 1024, 1025, 65_536]
FLOATS = [0.0, -0.0, 0.5, -1.5, 1e-300, 1e-38, 1e30, 1e300, float("nan"), float("inf")]
FLOATS += [-float("inf"), 1e-5, 5e-324]
TEXTS = ["", " ", "a", "a b", "\0", "\ud800", "\udfff\ud800", "\u202e", "\ufeff", "x" * 3000]
TEXTS += ["\U0010ffff", "e\u0301" * 40, "../../etc/passwd", "/dev/zero", "C:\\x", "model", "{}"]
TEXTS += ["1e999", "NaN", "None", "'; --", "%s%n", "{0.__class__}", "<|im_end|>", "\n" * 50]
OTHERS = [None, True, False, [], {}, [1], ["a"], [None], [[]], {"content": "the"}, {"a": 2**32 - 1}]
ODD = [*NUMBERS, *FLOATS, *TEXTS, *OTHERS]


def nested(levels: int, rng):
    """A value inside so many lists or tables, as JSON text."""
    if rng.random() < 0.5:
        return "[" * levels + "]" * levels
    return '{"a":' * levels + "1" + "}" * levels


def damaged_bytes(data: bytes, rng) -> bytes:
    """Some bytes flipped, put in, taken out, cut off, or copied from elsewhere."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        at = place(len(data), rng)
        n = min(rng.choice([1, 1, 2, 4, 8, 33, 256]), len(data))
        rng.choice([_flip, _set, _number, _insert, _delete, _truncate, _splice])(data, at, n, rng)
    return bytes(data)


def place(n: int, rng) -> int:
    """Somewhere in n bytes, more often near the start, where lengths and counts stand."""
    return int(n * rng.random() ** rng.choice([1, 1, 3, 8])) if n else 0


def _flip(data, at, n, rng):
    if at < len(data):
        data[at] ^= 1 << rng.randrange(8)


def _set(data, at, n, rng):
    value = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    data[at : at + n] = bytes([value]) * min(n, len(data) - at)


def _number(data, at, n, rng):
    form = rng.choice(["<I", "<Q", "<f", "<H"])
    size = struct.calcsize(form)
    number = rng.choice(FLOATS[:9]) if form == "<f" else rng.choice(NUMBERS) % (1 << 8 * size)
    data[at : at + size] = struct.pack(form, min(number, 3e38))[: len(data) - at]


def _insert(data, at, n, rng):
    data[at:at] = rng.randbytes(n)


def _delete(data, at, n, rng):
    del data[at : at + n]


def _truncate(data, at, n, rng):
    del data[at if rng.random() < 0.8 else -n :]


def _splice(data, at, n, rng):
    start = rng.randrange(len(data) + 1)
    data[at : at + rng.choice([0, n])] = data[start : start + n]


def damaged_json(text: str, rng) -> bytes:
    """A JSON document with some of its nodes or some of its text changed."""
    if rng.random() < 0.15:
        return damaged_bytes(text.encode(), rng)
    value = json.loads(text)
    for _ in range(rng.choice([1, 1, 2, 3])):
        _change_node(value, rng)
    out = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.15:
        out = _changed_text(out, rng)
    return out.encode("utf-8", "surrogatepass")


def _change_node(value, rng):
    """One node replaced, left out, doubled, moved, put into another, or a little off."""
    places, node = [], value
    while isinstance(node, (dict, list)) and node and (not places or rng.random() < 0.75):
        key = rng.choice([*node]) if isinstance(node, dict) else rng.randrange(len(node))
        places.append((node, key))
        node = node[key]
    if not places:
        return
    (parent, key), how = places[-1], rng.random()
    if how < 0.4:
        parent[key] = rng.choice(ODD)
    elif how < 0.6:
        parent[key] = nearly(node, rng)
    elif how < 0.75:
        del parent[key]
    elif how < 0.8:
        parent[key] = rng.choice([[node], {"a": node}, {str(key): node}, [node, node], str(node)])
    elif isinstance(parent, list):
        parent.insert(rng.randrange(len(parent) + 1), rng.choice([node, *parent]))
    else:
        other = rng.choice([*parent, *TEXTS])
        parent[other], parent[key] = node, parent.get(other)


def nearly(value, rng):
    """Something of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([-value, value + 1, value - 1, value * 2, value // 2, *NUMBERS])
    if isinstance(value, float):
        return rng.choice([-value, value * 2, 1 / value if value else 1.0, *FLOATS])
    if isinstance(value, str):
        return rng.choice([value + "x", value[:-1], value.upper(), value * 2, *TEXTS])
    if isinstance(value, list):
        return rng.choice([value[:-1], value * 2, value[::-1], value[:1] * 50, value + [None]])
    return value and {**value, rng.choice([*value]): rng.choice(ODD)}


def _changed_text(text, rng):
    """What a JSON library would never write."""
    how = rng.randrange(7)
    if how == 0:
        return text.replace("{", '{"vocab_size":5,"a":1,"a":2,', 1)
    if how == 1:  # a key of it once more
        start = text.find('"')
        return text[:start] + text[start : text.find(",", start) + 1] + text[start:]
    if how == 2:
        return text.replace(
            ":", ":" + nested(rng.choice([3, 50, 900, 5000, 100_000]), rng) + ",", 1
        )
    if how == 3:
        return "\ufeff" + text
    if how == 4:
        return text + rng.choice(["{}", "\0", "//", " " * 5000, "]"])
    if how == 5:
        return text.replace(
            ": ", rng.choice([":1e999,", ":-", ":0x", ":'", ": +", ":9" + "9" * 5000]), 1
        )
    at = text.find(":", rng.randrange(len(text)))
    return text[: at + 1] + nested(rng.choice([1, 40, 2000]), rng) + text[at + 1 :]
