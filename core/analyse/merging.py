"""How a prompt became its ids: the pieces it was cut into, and the merges inside each. Reads a
tokenizer; no figures.
"""

from dataclasses import dataclass

from core.text.display import show_bytes, show_text
from core.text.spelling import whole

from .derived import kept

MOST_SYMBOLS = 120  # of a long piece: what a page has room for
PER_SYMBOL = 400  # bytes: a symbol, its place and a merge


@dataclass(frozen=True)
class Symbol:
    """What merging begins with: a byte or a character, with the characters of the text it touches.
    hex: its bytes.
    """

    text: str
    hex: str
    start: int
    stop: int


@dataclass(frozen=True)
class Step:
    """One merge: symbols[start:middle] with symbols[middle:stop].

    left, right, joined: visible forms. hex: the bytes of the joined token. id: its id. rank: its
    place in the merge table from 0, None where tokens have scores; then its score.
    """

    start: int
    middle: int
    stop: int
    left: str
    right: str
    joined: str
    hex: str
    id: int
    rank: int | None
    score: float | None


@dataclass(frozen=True)
class Leaf:
    """A token that is left at the end: symbols[start:stop], with its place in the prompt."""

    start: int
    stop: int
    text: str
    hex: str
    id: int
    position: int


@dataclass(frozen=True)
class Player:
    """How one piece became tokens, or its beginning up to the end of a token where it is long.

    Attributes:
        piece: which of the pieces. text: its visible form. start, stop: characters of the text.
        symbols, steps, tokens: those of the shown part. dropped: bytes (hex) without a token.
        whole: taken as one token, nothing was merged.
        n_symbols, n_steps, n_tokens: of the whole piece.
    """

    piece: int
    text: str
    start: int
    stop: int
    symbols: tuple[Symbol, ...]
    steps: tuple[Step, ...]
    tokens: tuple[Leaf, ...]
    dropped: tuple[str, ...]
    whole: bool
    n_symbols: int
    n_steps: int
    n_tokens: int


@dataclass(frozen=True)
class Piece:
    """A piece of the text. start, stop: its characters. first: the position of its first token in
    the prompt. n_tokens: 0 where all its bytes vanish. whole: one token without merging.
    """

    text: str
    start: int
    stop: int
    first: int
    n_tokens: int
    whole: bool


@dataclass(frozen=True)
class Way:
    """From the text of a prompt to its ids.

    Attributes:
        text: the prompt, or what the chat template made of the messages. normal: what the
            vocabulary makes of it before it cuts it.
        pieces: what it was cut into. spans: for each id, the characters of the text it touches.
        ids: as the merges make them, without BOS. first: the position of the first of them (1 after
            BOS). equal: whether they are the encoder's ids. by_library: whether that encoder is the
            `tokenizers` library, and so another than the code of these merges.
    """

    text: str
    normal: str
    pieces: tuple[Piece, ...]
    spans: tuple[tuple[int, int], ...]
    ids: tuple[int, ...]
    first: int
    equal: bool
    by_library: bool


def replayable(trace) -> bool:
    """Whether a run has a text, and its vocabulary is one whose merges can be replayed."""
    return trace.spec.ids is None and trace.model.tokenizer.replayable


def way(trace) -> Way:
    """How the prompt of a run became its ids. ValueError where `replayable` says no."""
    words, spec = trace.model.tokenizer, trace.spec
    text, histories = _read(trace)
    ids = tuple(id for history in histories for id in history.ids)
    first = _before(words, spec, ids)
    return Way(
        text=text,
        normal=words.normalized(text),
        pieces=tuple(_pieces(words, text, histories, first)),
        spans=tuple(span for history in histories for span in history.spans),
        ids=ids,
        first=first,
        equal=tuple(trace.ids[first:]) == ids,
        by_library=words.library is not None,
    )


def player(trace, piece: int) -> Player:
    """The merges of one piece of the prompt of a run. IndexError outside of `Way.pieces`."""
    words = trace.model.tokenizer
    text, histories = _read(trace)
    this = histories[piece]
    before = [id for history in histories[:piece] for id in history.ids]
    first = len(before) + _before(words, trace.spec, before or this.ids)
    shown = _beginning(this)
    return Player(
        piece=piece,
        text=_shown(words, text, this),
        start=this.start,
        stop=this.stop,
        symbols=tuple(_symbols(words, shown)),
        steps=tuple(_steps(words, shown)),
        tokens=tuple(_leaves(words, shown, first)),
        dropped=tuple(f"{b:02X}" for b in this.dropped),
        whole=this.whole,
        n_symbols=len(this.symbols),
        n_steps=len(this.merges),
        n_tokens=len(this.ids),
    )


def _before(words, spec, ids):
    """How many ids stand before those of the text."""
    return int(spec.prompt is not None and words.add_bos and bool(ids))


def _read(trace):
    """The text that was read, and the history of each of its pieces."""
    spec = trace.spec
    what = "merges", spec.prompt, spec.messages, spec.control
    return kept(trace, what, lambda: _make(trace.model.tokenizer, spec), _size)


def _make(words, spec):
    if spec.ids is not None:
        raise ValueError("a run on ids has no text")
    if spec.messages is not None:
        text = words.chat_text(spec.messages, spec.control)
        return text, words.chat_histories(spec.messages, spec.control)
    return whole(spec.prompt), words.histories(spec.prompt, spec.control)


def _size(read):
    text, histories = read
    symbols = sum(len(history.symbols) for history in histories)
    return 4 * len(text) + 600 * len(histories) + PER_SYMBOL * symbols


def _pieces(words, text, histories, first):
    for history in histories:
        n, shown = len(history.ids), _shown(words, text, history)
        yield Piece(shown, history.start, history.stop, first, n, history.whole)
        first += n


def _shown(words, text, history):
    """The visible form of a piece as the vocabulary gets it; of its text where all bytes vanish."""
    if history.whole:
        return words.display(history.ids[0])
    data = b"".join(map(words.spell, history.symbols))
    return show_bytes(data) if data else show_text(text[history.start : history.stop])


def _beginning(history):
    """As many tokens from the first on as have MOST_SYMBOLS together, one at least."""
    if len(history.symbols) <= MOST_SYMBOLS:
        return history
    return history.tokens(0, max(1, sum(end <= MOST_SYMBOLS for end in history.ends)))


def _symbols(words, history):
    for symbol, place in zip(history.symbols, history.places, strict=True):
        data = symbol.encode() if history.whole else words.spell(symbol)
        yield Symbol(show_bytes(data), _hex(data), *place)


def _steps(words, history):
    now = {at: show_bytes(words.spell(symbol)) for at, symbol in enumerate(history.symbols)}
    for m in history.merges:
        left, right, joined = now[m.start], now[m.middle], words.display(m.id)
        now[m.start] = joined
        data = _hex(words.token_bytes(m.id))
        yield Step(m.start, m.middle, m.stop, left, right, joined, data, m.id, m.rank, m.score)


def _leaves(words, history, first):
    start = 0
    for n, (id, end) in enumerate(zip(history.ids, history.ends, strict=True)):
        text, data = words.display(id), _hex(words.token_bytes(id))
        yield Leaf(start, end, text, data, id, first + n)
        start = end


def _hex(data):
    return data.hex(" ").upper()
