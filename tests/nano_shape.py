"""A random model of Nano's shape with 200 words, for tests of what a small model shows."""

import json
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers

from tests.families import build_folder

SHAPE = dict(hidden_size=48, intermediate_size=128, num_hidden_layers=3, vocab_size=200)
SHAPE |= {"tie_word_embeddings": True}
PROMPT = "w5 w17 w5 w99 w42"


def build(path) -> Path:
    """Write it into a new folder, return that. Word n is called wn, and has the id n."""
    folder = Path(build_folder(path, "llama", **SHAPE))
    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(200)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    (folder / "tokenizer.json").write_text(json.dumps(json.loads(words.to_str())))
    return folder
