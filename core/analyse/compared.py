"""Texts side by side: how many tokens each becomes, and what these cost in this model.

Reads a model; runs nothing, knows no figures. A cost is counted from sizes, not measured: `checked`
lays one of them beside a run.
"""

from dataclasses import dataclass

from core.text.spelling import whole

CODING = "UTF-8"
NUMBER_BYTES = 4  # of a float32
MATRICES = ("attn_q", "attn_k", "attn_v", "attn_out", "mlp_gate", "mlp_up", "mlp_out")


@dataclass(frozen=True)
class Chip:
    """One token of a text. kind: "whole", "half" (its bytes are no whole characters) or "unknown"
    (it stands for whatever has no token).
    """

    id: int
    text: str
    hex: str
    kind: str


@dataclass(frozen=True)
class Measured:
    """A text and its tokens, without what a model puts before every text. back: the text that the
    ids give, the same one or not. Ratios are None where there is nothing to divide by.
    """

    text: str
    chips: tuple[Chip, ...]
    n_characters: int
    n_bytes: int
    tokens_per_character: float | None
    bytes_per_token: float | None
    back: str

    @property
    def n_tokens(self) -> int:
        """How many tokens."""
        return len(self.chips)

    @property
    def n_unknown(self) -> int:
        """How many of them stand for something that the vocabulary does not know."""
        return sum(chip.kind == "unknown" for chip in self.chips)


@dataclass(frozen=True)
class Cost:
    """What the tokens of a text cost. context_share: of the longest text the model was made for.
    cache: bytes of the KV cache. cells: of one attention map, those that are seen. products:
    multiply-adds of a prefill.
    """

    context_share: float
    cache: int
    cells: int
    products: int


def measured(model, text: str, control: bool = False) -> Measured:
    """A text as this model's tokenizer reads it. control: whether markers become control tokens.
    Raises PromptError where the model has no tokenizer for texts.
    """
    words, text = model.tokenizer, whole(text)
    ids, n_bytes = words.encode(text, control), len(text.encode(CODING))
    return Measured(
        text=text,
        chips=tuple(_chip(words, id) for id in ids),
        n_characters=len(text),
        n_bytes=n_bytes,
        tokens_per_character=times(len(ids), len(text)),
        bytes_per_token=times(n_bytes, len(ids)),
        back=words.decode(ids),
    )


def times(value: float | None, other: float | None) -> float | None:
    """How many times as much as another number; None where there is nothing to divide by."""
    return value / other if other and value is not None else None


def _chip(words, id):
    data = words.token_bytes(id)
    if id == words.unknown_id:
        kind = "unknown"
    else:
        kind = "whole" if is_whole(data) else "half"
    return Chip(id, words.display(id), data.hex(" ").upper(), kind)


def is_whole(data: bytes) -> bool:
    """Whether some bytes are whole characters of UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def cost(model, n: int) -> Cost:
    """What n tokens cost in this model, read at once: a prefill, with a guess after the last."""
    c = model.config
    return Cost(
        context_share=n / c.context,
        cache=cache_bytes(c, n),
        cells=max(seen_cells(n, window) for window in c.windows),
        products=multiply_adds(model, n),
    )


def fitting(context: int, n: int) -> int | None:
    """How often a text of n tokens fits into a context; None for one without tokens."""
    return context // n if n else None


def cache_bytes(c, n: int) -> int:
    """A key and a value (2) for each of n tokens, in every layer and key/value head, as float32."""
    return 2 * c.n_layers * c.n_kv_heads * c.head_dim * NUMBER_BYTES * n


def seen_cells(n: int, window: int | None = None) -> int:
    """Cells of one attention map of n tokens that are not masked: 1 + 2 + ... + n, and never more
    than `window` in a row.
    """
    full = min(n, window or n)
    return full * (full + 1) // 2 + (n - full) * full


def multiply_adds(model, n: int) -> int:
    """Multiplications with an addition in a prefill of n tokens.

    Counted: each weight of each matrix in the blocks once per token; the dot products q · k and the
    sums of values once per seen cell and dimension, in every head; the output matrix once, for the
    guess after the last token. Not counted: norms, softmax, activations, rotations.
    """
    c = model.config
    cells = sum(seen_cells(n, window) for window in c.windows)
    attention = 2 * c.n_heads * c.head_dim * cells
    return n * block_weights(model) + attention + model.weights.head.size * bool(n)


def block_weights(model) -> int:
    """How many weights the matrices of all blocks hold: what each token is multiplied by."""
    found = (getattr(layer, name) for layer in model.weights.layers for name in MATRICES)
    return sum(matrix.size for matrix in found if matrix is not None)


def checked(trace) -> tuple[int, int]:
    """Bytes of a run's own KV cache: (by the formula, as its arrays hold them)."""
    return cache_bytes(trace.config, len(trace.ids)), trace.cache.nbytes
