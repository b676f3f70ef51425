"""Word arithmetic: rows of the table added and taken away, and which rows lie near the result."""

import streamlit as st

from core.analyse import near, source
from pages.parts import charts, html, inputs, models, run, session, words
from pages.parts.html import Token, number
from pages.parts.terms import in_brackets
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.embedding import products
from viz import plane

FIRST = 10  # results that are shown
LONGEST = 120  # characters of an expression
EXAMPLES = (1, 2, 3, 4, 5)
HERE = "embedding.arithmetic"


def view(trace, position: int) -> Shown:
    """What the reader's expression comes to, or the first example."""
    examples = _examples(trace)
    asked = _expression(examples)
    terms, expected = _read(trace.model.tokenizer, asked)
    total = _total(trace.model, terms)
    return Shown(
        lambda: _draw(trace.model, examples, asked, terms, expected, total),
        {"expression": Token(asked or "–")},
        lambda: run.compute(_answer, trace.model, total),
        source.of(near.word, near.parse, near.add_up, near.cosines, near.nearest),
    )


# ---- the expression ------------------------------------------------------------------------------


def _examples(trace) -> list[str]:
    """Sums that show something on the chosen model. Where its vocabulary lacks their words, one of
    three words of the text; none where there are no three.
    """
    of, tokenizer = models.presets(session.get("model"))[0].of, trace.model.tokenizer
    offered = [text(f"{HERE}.{of}.example_{n}") for n in EXAMPLES]
    if known := [each for each in offered if run.compute(near.readable, tokenizer, each)]:
        return known
    own = run.compute(near.own_words, tokenizer, trace.ids)[:3]
    example = "{} - {} + {}".format(*own) if len(own) == 3 else ""
    return [example] if 0 < len(example) <= LONGEST else []


def _expression(examples):
    """What the reader typed, or the first example; None of none."""
    return session.typed("ask", LONGEST) or next(iter(examples), None)


def _read(tokenizer, asked):
    """The words with their signs, and the expected one (None where there is none); no words where
    it is no sum.
    """
    try:
        terms, expected = near.parse(asked or "")
    except ValueError:
        return (), None
    read = tuple((sign, run.compute(near.word, tokenizer, word)) for sign, word in terms)
    return read, expected and run.compute(near.word, tokenizer, expected)


def _total(model, terms):
    """The sum; None where a word has no row."""
    if not terms or any(word.id is None for _, word in terms):
        return None
    signs, ids = [sign for sign, _ in terms], [word.id for _, word in terms]
    return run.compute(near.add_up, model, signs, ids)


def _box(examples, asked):
    """The box for an expression, and the examples."""
    label, key = text(f"{HERE}.ask", most=near.MOST_WORDS), "arithmetic_ask"
    inputs.box("ask", label, key=key, longest=LONGEST, shown=asked or "", cell=None)
    with st.container(horizontal=True, gap="small", key="arithmetic_examples"):
        for n, example in enumerate(examples, 1):
            put = {"ask": example, "cell": None}
            st.button(example, key=f"sum_{n}", on_click=session.put, kwargs=put)


# ---- what came out -------------------------------------------------------------------------------


def _named(model, id):
    return Token(model.tokenizer.display(id))


def _answer(model, total):
    """Of the best row that was not put in: where it stood among the first word's neighbours."""
    best = near.nearest(total.cosines, 1, total.ids) if total else []
    if not best:
        return dict.fromkeys(("result", "cosine", "word", "before", "rank_before"), "–")
    id, value = best[0]
    word = next((id for sign, id in zip(total.signs, total.ids, strict=True) if sign > 0), None)
    word = total.ids[0] if word is None else word
    before = near.cosines(model, model.weights.embed[word])
    return {
        "result": _named(model, id),
        "cosine": number(value),
        "word": _named(model, word),
        "before": number(float(before[id])),
        "rank_before": f"{near.rank(before, id, total.ids):,}",
    }


def _draw(model, examples, asked, terms, expected, total):
    _box(examples, asked)
    if asked is None:
        return run.notice(words.html(f"{HERE}.no_words"))
    if not terms:
        return run.notice(words.html(f"{HERE}.no_sum", most=near.MOST_WORDS), "error")
    lacking = [word for _, word in terms if word.id is None]
    if lacking:
        return run.notice("<br>".join(_no_row(model, word) for word in lacking), "error")
    every = near.nearest(total.cosines, FIRST)
    others = near.nearest(total.cosines, FIRST, total.ids)
    if not others:
        return run.notice(words.html(f"{HERE}.no_direction"), "error")
    _made(model, terms, total)
    _verdict(model, expected, total, every, others)
    chosen = _chosen(every, others)
    with st.container(key="near_pair_rules"):
        columns = st.columns(2, gap="medium")
    lists = [_listed(model, total, best) for best in (every, others)]
    left = plane.room([name for names in lists for name in names])
    for column, best, names, rule in zip(columns, (every, others), lists, RULES, strict=True):
        with column:
            _bars(model, best, names, chosen, rule, left)
    with st.container(key="near_pair_sums"):
        _explained(model, terms, total, chosen, *st.columns(2, gap="medium"))


RULES = ("all", "left_out")


def _no_row(model, word):
    """The sentence about a word that has no row of its own."""
    pieces = " ".join(html.token(model.tokenizer.display(id)) for id in word.ids)
    key = "many" if len(word.ids) > 1 else "none"
    return f"{words.html(f'{HERE}.{key}', word=Token(word.text), n=len(word.ids))} {pieces}"


def _chosen(every, others):
    """The result that is explained: the one that was clicked, else the first that was not put
    in.
    """
    if session.get("cell") not in {id for id, _ in (*every, *others)}:
        session.settle(cell=None)
        return others[0][0]
    return session.get("cell")


def _signed(model, terms):
    """The words with their signs, as HTML."""
    return [f"{'−' if sign < 0 else '+'} {html.token(_named(model, w.id))}" for sign, w in terms]


def _made(model, terms, total):
    """Which rows are added, in one line."""
    summed = " ".join(_signed(model, terms)).removeprefix("+ ")
    html.show(f'<div class="tw-said-sum">{summed}</div>')
    words.caption(f"{HERE}.made", norm=number(total.norm), n=f"{len(total.vector):,}")


def _verdict(model, expected, total, every, others):
    """Whether an input is nearest, and where the expected word stands under both rules."""
    first, other = _named(model, every[0][0]), _named(model, others[0][0])
    key = "input_first" if every[0][0] in total.ids else "new_first"
    sentences = [words.html(f"{HERE}.{key}", first=first, other=other)]
    if expected and expected.id is None:
        sentences.append(_no_row(model, expected))
    elif expected:
        ranks = [near.rank(total.cosines, expected.id, left) for left in ((), total.ids)]
        key = "expected_input" if expected.id in total.ids else "expected"
        values = {"all": f"{ranks[0]:,}", "left_out": f"{ranks[1]:,}"}
        sentences.append(words.html(f"{HERE}.{key}", word=_named(model, expected.id), **values))
    run.notice(html.paragraphs("\n\n".join(sentences)))


def _listed(model, total, best):
    """What the bars are called; those that were put in are marked."""
    display, mark = model.tokenizer.display, text(f"{HERE}.input")
    return [charts.short(display(id)) + mark * (id in total.ids) for id, _ in best]


def _bars(model, best, marked, chosen, rule, left):
    """The nearest rows under one rule; a click explains one. left: pixels for the names."""
    words.heading(f"{HERE}.{rule}_bars", n=len(best))
    ids = [id for id, _ in best]
    charts.bars(
        ids,
        marked,
        [value for _, value in best],
        key=f"sum_bars_{rule}",
        chosen=chosen,
        role_name="residual",
        title=text(f"{HERE}.axis"),
        digits=".4f",
        upper=1.18,
        left=left,
        name=f"sum_{rule}",
        alt=text(f"{HERE}.{rule}_alt", n=len(ids)),
    )
    names = [model.tokenizer.display(id) for id in ids]
    rows = [(n, names[n - 1], *pair) for n, pair in enumerate(best, 1)]
    charts.save(f"sum_{rule}", ("rank", "token", "id", "cosine"), rows)


def _explained(model, terms, total, chosen, left, right):
    """The cosine of one result (right), and where the numbers of the sum come from (left)."""
    value, row = float(total.cosines[chosen]), model.weights.embed[chosen]
    made = run.compute(near.cosine, total.vector, row, value)
    with right:
        names = (words.html(f"{HERE}.sum"), html.token(_named(model, chosen)))
        products.cosine(made, names)
    with left:
        _summands(model, terms, total, made.dot.top(products.FEW))


def _summands(model, terms, total, listed):
    """How the sum's numbers of the dimensions that are listed beside it are added up."""
    words.heading(f"{HERE}.summands")
    names = (html.token(_named(model, word.id)) for _, word in terms)
    head = [words.html("axes.embedding"), *names, f"= {words.html(f'{HERE}.sum')}"]
    added = near.summands(total, model, [dim for dim, *_ in listed]).T.tolist()
    rows = [
        [str(dim), *_added(total.signs, values), f"<b>{number(whole, 3)}</b>"]
        for (dim, whole, *_), values in zip(listed, added, strict=True)
    ]
    html.show(html.scroll(html.table(head, rows, "mono"), text(f"{HERE}.summands")))
    words.caption(f"{HERE}.rule")


def _added(signs, values):
    """The rows' own numbers, each behind the sign with which it is added, as HTML."""
    signs = ["−" if sign < 0 else "+" for sign in signs]
    shown = [f"{s} {in_brackets(s, value, 3)}" for s, value in zip(signs, values, strict=True)]
    if signs[0] == "+":
        shown[0] = number(values[0], 3)
    return [f'<span class="tw-nowrap">{each}</span>' for each in shown]
