"""Byte-pair encoding by ranks, replayed: what the BPE of the `tokenizers` library does inside.

Knows the settings and the merge table of a library's model; cuts no text. The library gives ids
alone; here every merge is seen, and the tests hold the two against each other.
Source: tokenizers, src/models/bpe/model.rs and word.rs.
"""

import functools
import json

from tokenizers import models

from .merges import History, Merge, join, taken_whole
from .spelling import byte_characters


def replayable(library) -> bool:
    """Whether a library's model is BPE of the kind that is replayed here, one token to an id: of
    several the library names one only, and its merges would be read wrong.
    """
    marks = ("continuing_subword_prefix", "end_of_word_suffix", "dropout")
    model, ids = library.model, library.get_vocab(with_added_tokens=False)
    kind = isinstance(model, models.BPE) and not any(getattr(model, mark) for mark in marks)
    return kind and len({*ids.values()}) == len(ids)


class Replay:
    """A library's BPE model. byte_level: its characters are GPT-2's, one for each byte."""

    def __init__(self, model: models.BPE, byte_level: bool):
        self.model, self.byte_level = model, byte_level

    @functools.cached_property
    def _table(self):
        """The ids by token, and (rank, joined id) by the ids of a pair. A merge that a file repeats
        counts once. Made when a text is first replayed, and held as long as the model is: about 300
        bytes for each merge, which no store counts.
        """
        state = json.loads(self.model.__getstate__())
        ids, table = state["vocab"], {}
        for rank, (left, right) in enumerate(state["merges"]):
            table[ids[left], ids[right]] = rank, ids[left + right]
        return ids, table

    def history(self, piece: str, places, start: int, stop: int) -> History:
        """How a piece became tokens. places: for each of its characters, those of the text it came
        from.
        """
        ids, table = self._table
        if self.model.ignore_merges and piece in ids:
            return taken_whole(piece, ids[piece], start, stop)
        symbols, dropped = self._symbols(piece, places)
        left, joins = join([id for _, id, _ in symbols], lambda a, b: table.get((a, b)))
        return History(
            start,
            stop,
            symbols=tuple(text for text, _, _ in symbols),
            merges=tuple(map(_merge, joins)),
            ids=tuple(id for id, _ in left),
            ends=tuple(end for _, end in left),
            dropped=tuple(dropped),
            whole=False,
            places=tuple(place for _, _, place in symbols),
        )

    def _symbols(self, piece, places):
        """What merging begins with, as (text, id, place), and the bytes that vanish."""
        ids, symbols, waiting, dropped = self._table[0], [], [], []
        for c, place in zip(piece, places, strict=True):
            if c in ids:
                symbols += [*waiting, (c, ids[c], place)]
                waiting = []
            elif spelled := self._bytes(c):
                # the library lets an unknown character wait, and bytes overtake it
                symbols += [(token, ids[token], place) for token in spelled]
            elif self.model.unk_token is None:
                dropped += self._dropped(c)
            else:
                unknown = (c, ids[self.model.unk_token], place)
                fused = waiting and self.model.fuse_unk
                symbols += [] if fused else waiting
                waiting = [_longer(waiting[0], c, place) if fused else unknown]
        return symbols + waiting, dropped

    def _bytes(self, c):
        """The tokens of a character's bytes, where the vocabulary spells unknown ones so."""
        tokens = [f"<0x{byte:02X}>" for byte in c.encode()] if self.model.byte_fallback else []
        return tokens if all(token in self._table[0] for token in tokens) else []

    def _dropped(self, c):
        alphabet = byte_characters()
        return [alphabet[c]] if self.byte_level and c in alphabet else [*c.encode()]


def _merge(joined):
    """A join as a merge; its priority is the rank, its symbol the id."""
    rank, start, middle, stop, id = joined
    return Merge(start, middle, stop, rank, None, id)


def _longer(symbol, c, place):
    """An unknown symbol with the next unknown character: they are one token."""
    text, id, (start, stop) = symbol
    return text + c, id, (min(start, place[0]), max(stop, place[1]))
