"""The door to the tokenizers: what a file or folder says becomes a `Tokenizer`."""

from .from_folder import from_folder
from .from_gguf import from_gguf
from .spelling import byte_characters
from .vocabulary import END_NAMES, Tokenizer

__all__ = ["END_NAMES", "Tokenizer", "byte_characters", "from_folder", "from_gguf"]
