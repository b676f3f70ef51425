"""A tiny random model in a GGUF file, so that most tests run without the download.

Knows the GGUF names and the row order of llama-type files, written here a second time on purpose:
the reader in core is tested against it. The numbers are random, the vocabulary is byte-level BPE.
"""

import numpy as np
from gguf import GGUFWriter

LAYERS, HEADS, KV_HEADS, HEAD_DIM, WIDTH, NEURONS, CONTEXT = 2, 4, 2, 8, 32, 48, 2048
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
MISSING = b"\x04\xf1"  # bytes the vocabulary lacks, as SmolLM2's lacks some
# "Ġ" is the byte of a space, "ð Ł Ļ Ĥ" are the bytes F0 9F 99 82 of a smiling face
MERGES = (
    "t h|th e|h e|Ġ t|Ġt he|i n|a n|an d|n d|Ġ a|Ġa nd|e r|o n|r e|Ġ c|a t|Ġc at|i s|Ġ is|o f|Ġ of"
    "|Ġ Ġ|ĠĠ ĠĠ|Ċ Ċ|s t|st er|u s|us er|s y|sy st|syst e|syste m|a s|as sist|i st|s ist"
    "|l l|ll o|H e|He llo|ð Ł|Ļ Ĥ"
).split("|")
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content']"
    " + '<|im_end|>' + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def alphabet() -> list[str]:
    """GPT-2's printable character for each byte, in the order of the bytes."""
    prints = [chr(b).isprintable() and b not in (0x20, 0xA0, 0xAD) for b in range(256)]
    others = iter(range(256, 512))
    return [chr(b) if prints[b] else chr(next(others)) for b in range(256)]


def vocabulary() -> list[str]:
    """Special tokens, then the bytes, then what the merges make."""
    single = [c for b, c in enumerate(alphabet()) if b not in MISSING]
    return [*SPECIAL, *single, *(merge.replace(" ", "") for merge in MERGES)]


def arrays(seed=0) -> dict[str, np.ndarray]:
    """Random weights by GGUF name, Q and K rows in the model's own order (not yet interleaved)."""
    rng = np.random.default_rng(seed)

    def matrix(*shape):
        return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    def gain():
        return (1 + 0.1 * rng.standard_normal(WIDTH)).astype(np.float32)

    out = {"token_embd.weight": matrix(len(vocabulary()), WIDTH), "output_norm.weight": gain()}
    for n in range(LAYERS):
        queries, keys = HEADS * HEAD_DIM, KV_HEADS * HEAD_DIM
        out |= {
            f"blk.{n}.attn_norm.weight": gain(),
            f"blk.{n}.attn_q.weight": matrix(queries, WIDTH) * 3,  # sharp attention maps
            f"blk.{n}.attn_k.weight": matrix(keys, WIDTH) * 3,
            f"blk.{n}.attn_v.weight": matrix(keys, WIDTH),
            f"blk.{n}.attn_output.weight": matrix(WIDTH, queries),
            f"blk.{n}.ffn_norm.weight": gain(),
            f"blk.{n}.ffn_gate.weight": matrix(NEURONS, WIDTH),
            f"blk.{n}.ffn_up.weight": matrix(NEURONS, WIDTH),
            f"blk.{n}.ffn_down.weight": matrix(WIDTH, NEURONS),
        }
    return out


def interleaved(name: str, array: np.ndarray) -> np.ndarray:
    """The row order of llama-type files: inside a head of Q and K 0, 4, 1, 5, ... (head_dim 8)."""
    if "attn_q." not in name and "attn_k." not in name:
        return array
    half = HEAD_DIM // 2
    order = [row for i in range(half) for row in (i, i + half)]
    heads = [array[start : start + HEAD_DIM][order] for start in range(0, len(array), HEAD_DIM)]
    return np.concatenate(heads)


def metadata() -> dict:
    """Keys and values of the header; a Python int becomes a u32, a float an f32."""
    tokens = vocabulary()
    return {
        "general.name": "Tiny",
        "general.license": "mit",
        "llama.block_count": LAYERS,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.feed_forward_length": NEURONS,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KV_HEADS,
        "llama.rope.freq_base": 10000.0,
        "llama.rope.dimension_count": HEAD_DIM,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3] * len(SPECIAL) + [1] * (len(tokens) - len(SPECIAL)),
        "tokenizer.ggml.merges": list(MERGES),
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.chat_template": TEMPLATE,
    }


def build(path, changed=None, tensors=None, architecture="llama"):
    """Write the model, return its path. changed: metadata to replace, or leave out (None)."""
    writer = GGUFWriter(str(path), architecture)
    for key, value in (metadata() | (changed or {})).items():
        _add(writer, key, value)
    for name, array in (arrays() if tensors is None else tensors).items():
        writer.add_tensor(name, interleaved(name, array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return str(path)


def _add(writer, key, value):
    if value is None:
        return
    adders = {
        bool: writer.add_bool,
        int: writer.add_uint32,
        float: writer.add_float32,
        str: writer.add_string,
        list: writer.add_array,
    }
    adders[type(value)](key, value)
