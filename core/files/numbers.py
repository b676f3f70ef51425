"""Stored numbers of every kind become float32, a part at a time. Knows number formats; no model.

Sources: ggml's block formats by way of gguf's own reader; OCP 8-bit floating point (E4M3, E5M2);
bfloat16 is the upper half of a float32.
"""

import numpy as np
from gguf.constants import GGML_QUANT_SIZES
from gguf.quants import dequantize

PART = 1 << 17  # numbers at a time: what is in between stays in the processor's cache
FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2"}


def from_blocks(raw, kind) -> np.ndarray:  # uint8 [bytes] -> [numbers]
    """The numbers of a GGUF tensor. NotImplementedError where gguf cannot take it apart."""
    per_block, block_bytes = GGML_QUANT_SIZES[kind]
    step = max(PART // per_block, 1) * block_bytes
    out = np.empty(len(raw) // block_bytes * per_block, np.float32)
    with np.errstate(all="ignore"):  # a damaged scale may be infinite; the pass finds it
        for at in range(0, len(raw), step):
            numbers = dequantize(raw[None, at : at + step], kind)
            first = at // block_bytes * per_block
            out[first : first + numbers.size] = numbers[0]
    return out


def from_floats(raw, dtype: str) -> np.ndarray:  # uint8 [bytes] -> [numbers]
    """The numbers of a safetensors tensor. Raises NotImplementedError for what is no float."""
    if dtype not in (*FLOATS, *SMALL):
        raise NotImplementedError(dtype)
    if dtype in SMALL:
        return SMALL[dtype](raw)
    with np.errstate(all="ignore"):  # float64 beyond float32 becomes infinite; the pass finds it
        return raw.view(FLOATS[dtype]).astype(np.float32)


def _bf16(raw):
    whole = raw.view("<u2").astype(np.uint32)
    whole <<= 16
    return whole.view(np.float32)


def _e5m2(raw):
    """The upper half of a float16."""
    return (raw.astype(np.uint16) << 8).view(np.float16).astype(np.float32)


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
SMALL = {"BF16": _bf16, "F8_E5M2": _e5m2, "F8_E4M3": _e4m3}
