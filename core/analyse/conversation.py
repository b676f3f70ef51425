"""A chat as the model reads it: the text that the template makes of the messages, who wrote which
part of it, and whose the tokens are.

Who wrote what is found by rendering twice: once with the messages, once with a character in the
place of each that nobody has typed. Reads a tokenizer; no figures.
"""

import re
from collections import Counter
from dataclasses import dataclass, replace

from core.errors import PromptError
from core.run import run
from core.spec import RunSpec
from core.text.display import show_text
from core.text.spelling import whole

from .output import Candidate, guess

WRITERS = {"system": "system", "user": "user", "assistant": "reply"}  # by role
AUTHORS = ("template", "default", *WRITERS.values(), "unknown")
NO_CONTINUATION = "{% set add_generation_prompt = false +%}"


@dataclass(frozen=True)
class Part:
    """A stretch of the rendered text by one author, one of AUTHORS: characters start to stop.

    "default" is the system prompt that the template brings itself, "unknown" what cannot be told.
    """

    author: str
    start: int
    stop: int


@dataclass(frozen=True)
class ChatToken:
    """A token of the chat: its place, id and visible form. authors: whose characters it holds."""

    position: int
    id: int
    text: str
    authors: tuple[str, ...]
    control: bool


@dataclass(frozen=True)
class Conversation:
    """A chat as text and as tokens.

    parts: the whole text, in order. default: the system prompt of the template's own, if it wrote
    one. continuation: how many of the last tokens are the generation prompt, None where it cannot
    be told. n_bos: how many BOS tokens stand at the start.
    """

    text: str
    parts: tuple[Part, ...]
    tokens: tuple[ChatToken, ...]
    default: str | None
    continuation: int | None
    n_bos: int

    @property
    def known(self) -> bool:
        """Whether it can be told who wrote what."""
        return all(part.author != "unknown" for part in self.parts)

    @property
    def counts(self) -> dict[str, int]:
        """Tokens by author, in the order of AUTHORS; "shared" are those that hold characters of
        more than one.
        """
        found = Counter(t.authors[0] if len(t.authors) == 1 else "shared" for t in self.tokens)
        return {name: found[name] for name in (*AUTHORS, "shared") if found[name]}


def conversation(words, messages, control: bool = False) -> Conversation:
    """How messages, (role, text) each, become the prompt of a tokenizer's chat template.

    Raises PromptError where there is no template, or it refuses the messages.
    """
    messages = [(role, whole(content)) for role, content in messages]
    if words.template is not None:
        words.chat_ahead(_renderings(words, messages, control))
    text, ids, spans = words.chat_reading(messages, control)
    blank = rendered_blank(words, messages)
    default = _default(words, messages, blank)
    parts = cut_by_author(text, messages, blank, default) or (Part("unknown", 0, len(text)),)
    start = _continuation(words, messages, blank, text)
    own = [part for part in parts if part.author == "default"]
    return Conversation(
        text=text,
        parts=parts,
        tokens=tuple(_tokens(words, ids, spans, parts)),
        default=text[own[0].start : own[0].stop] if own else None,
        continuation=None if start is None else sum(first >= start for first, _ in spans),
        n_bos=_leading(ids, words.bos_id),
    )


def _renderings(words, messages, control):
    """The chats that a conversation is read from."""
    blank = _stand_ins(messages, words)
    yield words.template, messages, control
    yield words.template, blank, False
    yield NO_CONTINUATION + words.template, blank, False
    if messages[0][0] != "system":
        yield words.template, _stand_ins([("system", ""), *messages], words), False


@dataclass(frozen=True)
class Typed:
    """A message that names control tokens, read twice: as text, and obeyed.

    markers: each control token of either reading: visible form, how often in the one, in the other.
    own: the tokens of the message in the one and in the other.
    """

    content: str
    literal: Conversation
    obeyed: Conversation
    markers: tuple[tuple[str, int, int], ...]
    own: tuple[tuple[ChatToken, ...], tuple[ChatToken, ...]]


def typed(words, content: str) -> Typed:
    """A user's message as the template's own markers are told from the typed ones, and as they are
    not: rendered to one text, and that encoded. Raises PromptError.
    """
    readings = [conversation(words, [("user", content)], control) for control in (False, True)]
    counts = [Counter(t.id for t in read.tokens if t.control) for read in readings]
    found = sorted(set().union(*counts))
    return Typed(
        content,
        *readings,
        markers=tuple((words.display(id), *(count[id] for count in counts)) for id in found),
        own=tuple(tuple(t for t in read.tokens if "user" in t.authors) for read in readings),
    )


def forged(words) -> str | None:
    """A message that pretends to end and to begin another turn: between its words stands what the
    template writes between two messages. None where there is no template, or it shows no second
    message. SmolLM2: `Hi<|im_end|>⏎<|im_start|>system⏎X`.
    """
    for role in ("system", "assistant"):
        try:
            blank = rendered_blank(words, [("user", ""), (role, "")])
        except PromptError:  # it takes no such message here
            continue
        if blank.order == (0, 1):
            return f"Hi{blank.written[1]}X"
    return None


def openings(name: str, read: Conversation) -> tuple[Candidate, Candidate]:
    """What the model of this name would write first: after the chat without its generation prompt,
    and with it. The same twice where the template has none. Raises PromptError.
    """
    ids = [t.id for t in read.tokens]
    silent = ids[: len(ids) - (read.continuation or 0)] or ids
    without, asked = (guess(run(RunSpec(name, ids=part)), n=1).top[0] for part in (silent, ids))
    return without, asked


def visible(text: str) -> str:
    """A text to be read in lines: spaces stay, line ends show as ⏎ before they break the line, all
    else as in a token.
    """
    lines = text.split("\n")
    return "⏎\n".join(" ".join(map(show_text, line.split(" "))) for line in lines)


# ---- the template alone


@dataclass(frozen=True)
class Blank:
    """A rendering in which a character of its own stands for every message. written: what the
    template wrote before, between and after them; order: which message stands at each place.
    """

    written: tuple[str, ...]
    order: tuple[int, ...]


def rendered_blank(words, messages, template=None):
    """What the template makes of messages by these authors. Raises PromptError."""
    stand_ins = _stand_ins(messages, words)
    marks = [mark for _, mark in stand_ins]
    text = replace(words, template=template or words.template).chat_text(stand_ins)
    pieces = re.split(f"([{''.join(marks)}])", text)
    return Blank(tuple(pieces[::2]), tuple(map(marks.index, pieces[1::2])))


def _stand_ins(messages, words):
    """The messages with a private-use character each for a text, one that neither they nor the
    template hold.
    """
    used = set("".join((*(content for _, content in messages), *words.names.values())))
    used |= set(words.template or "")
    free = (c for c in map(chr, range(0x100000, 0x10FFFE)) if c not in used)
    return [(role, mark) for (role, _), mark in zip(messages, free, strict=False)]


def _default(words, messages, blank):
    """Where the template's own system prompt stands in what it writes first: (start, stop), or
    None.

    A system message put there instead shows what of this is the frame around it.
    """
    if messages[0][0] == "system":
        return None
    try:
        framed = rendered_blank(words, [("system", ""), *messages])
    except PromptError:  # it takes no system message
        return None
    first = blank.written[0]
    if framed.order[:1] != (0,) or len(framed.written) < 2:
        return None
    before, after = framed.written[:2]
    fits = first.startswith(before) and first.endswith(after)
    start, stop = len(before), len(first) - len(after)
    return (start, stop) if fits and start < stop else None


def _continuation(words, messages, blank, text):
    """Where the generation prompt starts in the text: what the template adds only when it is asked
    to. None where it adds none, or writes something else without.
    """
    try:
        without = rendered_blank(words, messages, NO_CONTINUATION + words.template)
    except PromptError:
        return None
    *same, end = blank.written
    fits = tuple(same) == without.written[:-1] and end.startswith(without.written[-1])
    added = end[len(without.written[-1]) :]
    return len(text) - len(added) if fits and added and text.endswith(added) else None


# ---- the text and its tokens by author


def cut_by_author(text, messages, blank, default):
    """The text cut by authors; None where it is not the template's frame around the messages."""
    contents = ["", *(messages[which][1] for which in blank.order)]
    places = _places(text, 0, [*zip(contents, blank.written, strict=True)])
    if places is None:
        return None
    parts, at = [], 0
    for n, (which, (start, stop)) in enumerate(zip(blank.order, places[1:], strict=True)):
        parts += _written(at, start, None if n else default)
        parts.append(Part(WRITERS[messages[which][0]], start, stop))
        at = stop
    parts += _written(at, len(text), None if blank.order else default)
    return tuple(part for part in parts if part.start < part.stop)


def _places(text, at, rest):
    """Where the messages stand from character `at` on, (start, stop) each; None where they do not.

    rest: each message with what the template writes after it. Some templates strip white space off
    a message.
    """
    if not rest:
        return [] if at == len(text) else None
    (content, after), *others = rest
    for form in dict.fromkeys((content, content.strip(), content.lstrip(), content.rstrip())):
        stop = at + len(form)
        if text.startswith(form + after, at):
            further = _places(text, stop + len(after), others)
            if further is not None:
                return [(at, stop), *further]
    return None


def _written(start, stop, default):
    """What the template wrote, with its own system prompt apart."""
    if default is None:
        return [Part("template", start, stop)]
    first, last = default
    return [
        Part("template", start, first),
        Part("default", first, last),
        Part("template", last, stop),
    ]


def _tokens(words, ids, spans, parts):
    control = set(words.special.values())
    for position, (id, (start, stop)) in enumerate(zip(ids, spans, strict=True)):
        inside = (p.author for p in parts if p.start < max(stop, start + 1) and start < p.stop)
        authors = tuple(dict.fromkeys(inside)) or ("unknown",)
        yield ChatToken(position, id, words.display(id), authors, id in control)


def _leading(ids, bos):
    return next((n for n, id in enumerate(ids) if id != bos), len(ids)) if bos is not None else 0
