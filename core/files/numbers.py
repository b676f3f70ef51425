"""Stored numbers of every kind become float32, a part at a time. Knows number formats; no model.

What is read may be an array of bytes, or bytes still in a file: a slice of it is uint8 [bytes].
Sources: ggml's block formats by way of gguf's own reader; OCP 8-bit floating point (E4M3, E5M2).
"""

import functools

import numpy as np
from gguf.constants import GGML_QUANT_SIZES
from gguf.quants import dequantize

PART = 1 << 17  # numbers at a time: what is in between stays in the processor's cache


def from_blocks(raw, kind) -> np.ndarray:  # uint8 [bytes] -> [numbers]
    """The numbers of a GGUF tensor. NotImplementedError where gguf cannot take it apart."""
    per_block, block_bytes = GGML_QUANT_SIZES[kind]
    blocks = max(PART // per_block, 1)
    return _in_parts(
        raw, blocks * block_bytes, blocks * per_block, lambda part: dequantize(part[None], kind)[0]
    )


@functools.cache
def has_blocks(kind) -> bool:
    """Whether `from_blocks` can read this type: it is tried on one block of zeros."""
    try:
        from_blocks(np.zeros(GGML_QUANT_SIZES[kind][1], np.uint8), kind)
    except NotImplementedError:
        return False
    return True


def from_floats(raw, dtype: str) -> np.ndarray:  # uint8 [bytes] -> [numbers]
    """The numbers of a safetensors tensor, of one of the types in FLOATS."""
    size, convert = FLOATS[dtype]
    return _in_parts(raw, PART * size, PART, convert)


def _in_parts(raw, step, n, convert):
    """What `convert` makes of the bytes, in one row. A part of `step` bytes holds n numbers."""
    out = np.empty(len(raw) // step * n + len(raw) % step * n // step, np.float32)
    with np.errstate(all="ignore"):  # a damaged number may be infinite or none; the pass finds it
        for index, at in enumerate(range(0, len(raw), step)):
            out[index * n : (index + 1) * n] = convert(raw[at : at + step])
    return out


def _as(dtype):
    return lambda raw: raw.view(dtype)


def bfloat16(bits):  # uint16 [...] -> float32 [...]
    """Numbers by their bits: the upper half of a float32."""
    whole = bits.astype(np.uint32)
    whole <<= 16
    return whole.view(np.float32)


def _bf16(raw):
    return bfloat16(raw.view("<u2"))


def _e5m2(raw):
    """The upper half of a float16."""
    return (raw.astype(np.uint16) << 8).view(np.float16)


def _e4m3(raw):
    return E4M3[raw]


def _all_e4m3():
    """The 256 numbers: a sign, 4 bits of exponent (bias 7), 3 of fraction; 127 is NaN."""
    code = np.arange(256)
    exponent, fraction = code >> 3 & 15, code & 7
    small = fraction / 8 * 2.0**-6
    size = np.where(exponent == 0, small, (1 + fraction / 8) * 2.0 ** (exponent - 7))
    size = np.where(code & 127 == 127, np.nan, size)
    return np.where(code < 128, size, -size).astype(np.float32)


E4M3 = _all_e4m3()
FLOATS = {  # safetensors' name of a type: bytes of a number, bytes -> numbers
    "F64": (8, _as("<f8")),
    "F32": (4, _as("<f4")),
    "F16": (2, _as("<f2")),
    "BF16": (2, _bf16),
    "F8_E5M2": (1, _e5m2),
    "F8_E4M3": (1, _e4m3),
}
