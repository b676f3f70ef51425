"""Where a byte-level vocabulary cuts a text before merging: the rules that GGUF files name.

Knows, for each value of `tokenizer.ggml.pre`, what llama.cpp does for it (src/llama-vocab.cpp), as
parts of the `tokenizers` library; no vocabulary. A name that is not in the table is refused: a
wrong cut gives other tokens than the model was trained on, and nothing would show it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tokenizers import Regex, pre_tokenizers
from tokenizers.pre_tokenizers import PreTokenizer

# What llama-bpe and qwen2 share, numbers apart: contractions, a word with the sign or space before
# it, signs with a space before and line ends after, line ends, spaces.
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def _gpt2():
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def _digits_apart():
    digits = pre_tokenizers.Digits(individual_digits=True)
    return pre_tokenizers.Sequence([digits, _gpt2()])


def _words(numbers):
    split = pre_tokenizers.Split(Regex(WORDS % numbers), behavior="isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(False, use_regex=False)])


@dataclass(frozen=True)
class Rule:
    """How a text is cut. name: of the group of rules that cut alike, which the pages explain.

    ignore_merges: a piece that is a token is taken whole, whatever the merges make of it.
    add_bos: whether BOS comes first where the file does not say.
    """

    name: str
    pre_tokenizer: Callable[[], PreTokenizer]
    ignore_merges: bool = False
    add_bos: bool = False


SMOLLM = Rule("smollm", _digits_apart)
GPT2 = Rule("gpt-2", _gpt2)
LLAMA = Rule("llama-bpe", lambda: _words(r"\p{N}{1,3}"), ignore_merges=True, add_bos=True)
LLAMA_MERGED = Rule("llama-bpe", LLAMA.pre_tokenizer)
QWEN = Rule("qwen2", lambda: _words(r"\p{N}"))

GROUPS = (
    (SMOLLM, "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2"),
    (GPT2, "gpt-2 phi-2 mpt olmo jais trillion granite-docling gigachat a.x-4.0 mellum exaone4"),
    (LLAMA, "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2"),
    (LLAMA_MERGED, "smaug-bpe dbrx"),
    (QWEN, "qwen2 stablelm2 deepseek-r1-qwen megrez kormo hunyuan solar-open grok-2"),
)
RULES = {name: rule for rule, names in GROUPS for name in names.split()}
