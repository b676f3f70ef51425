"""One run at a glance: what the pictures of the first page are made of. Reads a trace."""

from dataclasses import dataclass

from core.decode.generate import next_logits

from .heads import Attention, attention, n_sinks, sharpest, sink_share
from .lens import Lens, lens
from .output import Guess, guess


@dataclass(frozen=True)
class Overview:
    """Attributes:
    attention: every head. framed: (layer, head) to read first. key, weight: where its last row
    looks hardest,
        the first token left out. n_sinks, sink_share: heads that give token 0 more than half, and
        its mean share.
    guess: the ranking after the last token. lens: the first candidate's rank through the layers.
    next_text: the token that one more round of the loop adds after the first, visible; "" at an
    end.
    appended: what the first candidate adds to a plain prompt; None where that is no text (an end
        token, half a character) or the prompt was not plain.
    """

    attention: Attention
    framed: tuple[int, int]
    key: int
    weight: float
    n_sinks: int
    sink_share: float
    guess: Guess
    lens: Lens
    next_text: str
    appended: str | None


def overview(trace, framed: tuple[int, int] | None = None) -> Overview:
    """Everything the first page shows of a run. framed: a head to show, else the sharpest one is
    chosen. Raises TokenwalkError where the scores are not finite numbers.
    """
    heads, best = attention(trace), guess(trace)
    layer, head, key = sharpest(heads.last)
    if framed is not None:
        layer, head = framed
        key = int(heads.last[layer, head, 1:].argmax()) + 1 if len(trace.ids) > 1 else 0
    return Overview(
        attention=heads,
        framed=(layer, head),
        key=key,
        weight=float(heads.last[layer, head, key]),
        n_sinks=n_sinks(heads.last),
        sink_share=sink_share(heads.last),
        guess=best,
        lens=lens(trace, best.top[0].id),
        next_text=_one_more(trace, best.top[0].id),
        appended=_appended(trace, best.top[0].id),
    )


def _one_more(trace, id):
    """What the next round of the loop adds: one token run against the trace's keys and values."""
    if len(trace.ids) >= trace.config.context or id in trace.model.tokenizer.end_ids:
        return ""
    logits = next_logits(trace.model, [id], trace.cache.copy(1), trace.spec.edits)
    return trace.model.tokenizer.display(int(logits.argmax()))


def _appended(trace, id):
    """The text of a token, if a plain prompt with it behind is read as the same ids and it."""
    words, prompt = trace.model.tokenizer, trace.spec.prompt
    if prompt is None or id in words.special.values():
        return None
    text = words.token_bytes(id).decode("utf-8", "replace")  # `decode` may drop a first space
    before, longer = (words.encode(t, trace.spec.control) for t in (prompt, prompt + text))
    return text if longer == [*before, id] else None
