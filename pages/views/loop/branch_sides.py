"""A text and its branch under each other: their tokens, their sums, their ends. Knows core's sides
and viz; the session only to choose a place.
"""

from dataclasses import dataclass
from functools import cached_property

from core.analyse import written as told
from core.decode import background
from core.spec import RunSpec
from pages.parts import charts, html, run, session, style, words, writing
from pages.parts.html import Token, number, percent
from pages.parts.words import text
from viz.curves import Line
from viz.series import series

HERE = "loop.branch"


@dataclass(frozen=True)
class Both:
    """A text and its branch.

    Attributes:
        found: the text; token `at` of it is exchanged for `other`. wanted: how many tokens of each
            the page wants to show, from the prompt on. shut: why nothing can follow the other
            token, "end" or "context", or None. after: what follows the other token, and after_spec
            what it is written by; None where nothing does. growing: which of the two, "found" and
            "after", had not all of that before its tokens were read here.
    """

    spec: RunSpec
    found: background.Continuation
    at: int
    other: int
    wanted: int
    shut: str | None = None
    after_spec: RunSpec | None = None
    after: background.Continuation | None = None
    growing: frozenset = frozenset()

    @property
    def further(self) -> int:
        """Tokens wanted behind the fork."""
        return self.wanted - self.at - 1

    @property
    def ended(self) -> bool:
        """Whether neither can go on behind what is shown."""
        if self.after is None:
            return bool(self.shut) and _ended(self.found, self.wanted)
        return _ended(self.found, self.wanted) and _ended(self.after, self.further)

    @property
    def n_shown(self) -> int:
        """Tokens of the longer one, from the prompt on."""
        after = len(self.after.tokens) if self.after else 0
        return min(self.wanted, max(len(self.found.tokens), self.at + 1 + after))

    @property
    def n_stopped(self) -> int:
        """Tokens that a stop leaves, from the prompt on: those of the shorter one under way."""
        under_way = [] if self.found.has(self.wanted) else [len(self.found.tokens)]
        if self.after and not self.after.has(self.further):
            under_way.append(self.at + 1 + len(self.after.tokens))
        return max(min(under_way, default=self.n_shown), self.at + 2)

    @cached_property
    def original(self) -> told.Side:
        """The text from the fork on."""
        return told.original(self.found, self.at, self.wanted)

    @cached_property
    def branch(self) -> told.Side:
        """The branch."""
        tokens = self.after.tokens[: self.further] if self.after else ()
        return told.branch(self.found, self.at, self.other, tokens)


def _ended(text, n):
    return text.ended and len(text.tokens) <= n


def texts(trace, both: Both) -> None:
    """Both texts; a click on a token of the first one moves the fork there."""
    shown = trace.model.tokenizer.display
    now = Token(shown(both.found.tokens[both.at].id))
    words.heading(f"{HERE}.original")
    n = min(both.wanted, len(both.found.tokens))
    writing.text_strip(
        trace.model.tokenizer,
        both.found,
        n,
        key="branch_original",
        pick=lambda at: session.put(at=at, target=None),
        selected=both.at,
        forked=both.at,
        scale=False,
        wanted=(both.spec, both.wanted, n) if "found" in both.growing else None,
    )
    words.heading(f"{HERE}.branched", other=Token(shown(both.other)), token=now)
    _branch(trace, both)


def before_the_fork(trace, spec, found, at: int) -> None:
    """The text while it has not come to the place of the fork."""
    n = min(at + 1, len(found.tokens))
    writing.text_strip(
        trace.model.tokenizer,
        found,
        n,
        key="branch_original",
        pick=lambda at: session.put(at=at, target=None),
        selected=None,
        wanted=(spec, at + 1, n),
    )


def _branch(trace, both):
    tokens = both.after.tokens[: both.further] if both.after else ()
    side = run.compute(told.branch, both.found, both.at, both.other, tokens)
    writing.strip(
        trace.model.tokenizer,
        [*both.found.ids, *(token.id for token in both.found.tokens[: both.at])],
        side.ids,
        side.probs,
        key="branch_other",
        pick=lambda at: None,
        selected=0,
        first=both.at,
        forked=0,
        wanted=(both.after_spec, both.further, len(tokens)) if "after" in both.growing else None,
    )


# ---- numbers -------------------------------------------------------------------------------------


def numbers(trace, both: Both) -> None:
    """What both are worth, and how they end."""
    one, two = both.original, both.branch
    k = min(len(one.ids), len(two.ids))
    shown = trace.model.tokenizer.display
    at_fork = [f"{html.token(shown(s.ids[0]))} {percent(s.probs[0])}" for s in (one, two)]
    rows = [
        _row("at_fork", *at_fork, number=both.at + 1),
        _row("same", number(one.running[k - 1], 3), number(two.running[k - 1], 3), k=k),
        _row("length", len(one.ids), len(two.ids)),
        _row("whole", number(one.running[-1], 3), number(two.running[-1], 3)),
        _row("mean", number(one.mean, 3), number(two.mean, 3)),
        _row("end", *_ends(trace, both)),
    ]
    head = ["", words.html(f"{HERE}.head_original"), words.html(f"{HERE}.head_branch")]
    words.heading(f"{HERE}.worth")
    words.caption(f"{HERE}.worth_caption")
    html.show(html.table(head, rows, "left tw-sides"))


def _row(name, one, two, **values):
    return [words.html(f"{HERE}.{name}", **values), str(one), str(two)]


def _ends(trace, both):
    """Why each of them ends."""
    more, model = words.html(f"{HERE}.not_yet"), trace.model
    n = min(both.wanted, len(both.found.tokens))
    one = writing.why(both.found, n, model) or more
    if both.after is None:
        reason = both.shut or ("limit" if both.wanted >= writing.limit() else None)
        return one, writing.because(reason, model, both.other) if reason else more
    left = writing.limit() - both.at - 1
    n = min(both.further, len(both.after.tokens))
    return one, writing.why(both.after, n, model, left) or more


def curve(trace, both: Both) -> None:
    """The sum of log-probabilities so far, of both."""
    display = trace.model.tokenizer.display
    lines = []
    for name, side, role in (
        ("original", both.original, "residual"),
        ("branch", both.branch, "logits"),
    ):
        named = zip(side.ids, side.running, strict=True)
        said = [
            f"{n}: {display(id)} · {number(s, 2)}" for n, (id, s) in enumerate(named, both.at + 1)
        ]
        lines.append(Line(text(f"{HERE}.head_{name}"), side.running, role, said))
    words.heading(f"{HERE}.sums")
    words.caption(f"{HERE}.sums_caption")
    titles = {"title": text(f"{HERE}.sum_axis"), "step_title": text("loop.text.number")}
    drawn = series(lines, first=both.at + 1, height=250, dark=style.dark(), **titles)
    charts.clickable(
        drawn, "branch_sums", lambda n: None, name="branch_sums", alt=text(f"{HERE}.sums_alt")
    )
    charts.save("branch_sums", CSV, _rows(display, both))


CSV = ("number", "side", "token", "id", "logprob", "sum")


def _rows(display, both):
    return [
        (n, name, display(id), id, logprob, total)
        for name, side in (("original", both.original), ("branch", both.branch))
        for n, (id, logprob, total) in enumerate(
            zip(side.ids, side.logprobs, side.running, strict=True), both.at + 1
        )
    ]


def arrays(both: Both) -> dict:
    """Both from the fork on, by name."""
    sides = {"original": both.original, "branch": both.branch}
    out = {f"{name}_ids": side.ids for name, side in sides.items()}
    return (
        out | {f"{name}_logprobs": side.logprobs for name, side in sides.items()} | {"at": both.at}
    )
