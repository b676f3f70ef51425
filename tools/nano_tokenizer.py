"""Nano's tokenizer: byte-pair merges learned from the world's list of words, not from texts.

Common words become one token; a few rarer ones stay two or three pieces, and a plural keeps its own
"s". Knows the words and the format of tokenizer.json; no model.
"""

from collections import Counter
from itertools import pairwise

from tools import nano_world as world

SPACE, UNKNOWN, BOS, EOS = "▁", "<unk>", "<s>", "</s>"
SPECIAL = (UNKNOWN, BOS, EOS)
VOCAB = 207
# How much a word counts when merges are chosen: the first word on a reader's lips, and a few that
# may stay in pieces.
WEIGHTS = {"a": 2, "When": 1.6, "France": 1.6, "green": 0.6, "Italy": 0.6, "Peru": 0.6}


def merges(n_tokens: int) -> tuple[list[str], list[tuple[str, str]]]:
    """The ordinary tokens, in the order of their ids, and the merges that make them.

    Each merge joins the pair that most words have; of equal pairs the last in the alphabet.
    """
    pieces = {word: [SPACE, *word] for word in world.words()}
    tokens = sorted({*"0123456789.,s", *(c for word in pieces.values() for c in word)})
    pairs = []
    while len(tokens) < n_tokens:
        pair = _most_frequent(pieces)
        pairs.append(pair)
        tokens.append("".join(pair))
        pieces = {word: joined(cut, pair) for word, cut in pieces.items()}
    return tokens, pairs


def _most_frequent(pieces):
    counts = Counter()
    for word, cut in pieces.items():
        for pair in pairwise(cut):
            counts[pair] += WEIGHTS.get(word, 1)
    return max(counts, key=lambda pair: (counts[pair], pair))


def joined(cut: list[str], pair: tuple[str, str]) -> list[str]:
    """The pieces of a word with every such pair made one."""
    out = []
    for piece in cut:
        if out and (out[-1], piece) == pair:
            out[-1] += piece
        else:
            out.append(piece)
    return out


def tokenizer_json() -> dict:
    """The contents of tokenizer.json: BOS comes first, a space before the first word."""
    tokens, pairs = merges(VOCAB - len(SPECIAL))
    metaspace = {
        "type": "Metaspace",
        "replacement": SPACE,
        "prepend_scheme": "always",
        "split": True,
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added(n, token) for n, token in enumerate(SPECIAL)],
        "normalizer": None,
        "pre_tokenizer": metaspace,
        "post_processor": _bos_first(),
        "decoder": metaspace,
        "model": _bpe({token: n for n, token in enumerate((*SPECIAL, *tokens))}, pairs),
    }


def _added(id, token):
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {"id": id, "content": token, **flags, "special": True}


def _bos_first():
    bos = {"SpecialToken": {"id": BOS, "type_id": 0}}
    texts = [{"Sequence": {"id": name, "type_id": n}} for n, name in enumerate("AB")]
    return {
        "type": "TemplateProcessing",
        "single": [bos, texts[0]],
        "pair": [bos, *texts],
        "special_tokens": {BOS: {"id": BOS, "ids": [SPECIAL.index(BOS)], "tokens": [BOS]}},
    }


def _bpe(vocabulary, pairs):
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": UNKNOWN,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": False,
        "byte_fallback": False,
        "ignore_merges": False,
        "vocab": vocabulary,
        "merges": [list(pair) for pair in pairs],
    }


def tokenizer_config() -> dict:
    """The contents of tokenizer_config.json, which names the special tokens."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOS,
        "eos_token": EOS,
        "unk_token": UNKNOWN,
        "add_bos_token": True,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 128,
    }
