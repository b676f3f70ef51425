"""Word arithmetic: rows of the table added and taken away, and which rows lie near the result."""

import streamlit as st

from core.analyse import near, source
from pages.parts import charts, html, models, run, session, style, words
from pages.parts.html import Token, number
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.embedding import products
from viz import figure

FIRST = 10  # results that are shown
LONGEST = 120  # characters of an expression
EXAMPLES = (1, 2, 3, 4, 5)
ME = "embedding.arithmetic"


def view(trace, position: int) -> Shown:
    """What the reader's expression comes to, or the first example."""
    asked = _expression()
    terms, expected = _read(trace.model.tokenizer, asked)
    total = _total(trace.model, terms)
    return Shown(
        lambda: _draw(trace.model, asked, terms, expected, total),
        {"expression": Token(asked)},
        lambda: run.compute(_answer, trace.model, total),
        source.of(near.word, near.parse, near.add_up, near.cosines, near.nearest),
    )


# ---- the expression ------------------------------------------------------------------------------


def _examples() -> list[str]:
    """Sums that show something on the chosen model."""
    of = models.presets(session.get("model"))[0].of
    return [text(f"{ME}.{of}.example_{n}") for n in EXAMPLES]


def _expression():
    asked = session.get("ask") or _examples()[0]
    if len(asked) > LONGEST:
        asked = asked[:LONGEST]
        session.settle(ask=asked)
    return asked


def _read(tokenizer, asked):
    """The words with their signs, and the expected one (None where there is none); no words where
    it is no sum.
    """
    try:
        terms, expected = near.parse(asked)
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


def _box(asked):
    """The box for an expression, and the examples."""

    def typed():
        session.put(ask=st.session_state["arithmetic_ask"] or None, cell=None)

    st.session_state["arithmetic_ask"] = asked
    label = text(f"{ME}.ask", most=near.MOST_WORDS)
    st.text_input(label, key="arithmetic_ask", max_chars=LONGEST, on_change=typed)
    with st.container(horizontal=True, gap="small", key="arithmetic_examples"):
        for n, example in enumerate(_examples(), 1):
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


def _draw(model, asked, terms, expected, total):
    _box(asked)
    if not terms:
        return run.notice(words.html(f"{ME}.no_sum", most=near.MOST_WORDS), "error")
    lacking = [word for _, word in terms if word.id is None]
    if lacking:
        return run.notice("<br>".join(_no_row(model, word) for word in lacking), "error")
    every = near.nearest(total.cosines, FIRST)
    others = near.nearest(total.cosines, FIRST, total.ids)
    if not others:
        return run.notice(words.html(f"{ME}.no_direction"), "error")
    _made(model, terms, total)
    _verdict(model, expected, total, every, others)
    chosen = _chosen(every, others)
    with st.container(key="near_pair_rules"):
        columns = st.columns(2, gap="medium")
    for column, best, rule in zip(columns, (every, others), RULES, strict=True):
        with column:
            _bars(model, total, best, chosen, rule)
    with st.container(key="near_pair_sums"):
        left, right = st.columns(2, gap="medium")
    _explained(model, terms, total, chosen, left, right)


RULES = ("all", "left_out")


def _no_row(model, word):
    """The sentence about a word that has no row of its own."""
    pieces = " ".join(html.token(model.tokenizer.display(id)) for id in word.ids)
    key = "many" if len(word.ids) > 1 else "none"
    return f"{words.html(f'{ME}.{key}', word=Token(word.text), n=len(word.ids))} {pieces}"


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
    made = words.html(f"{ME}.made", norm=number(total.norm), n=f"{len(total.vector):,}")
    html.show(f'<div class="tw-said-sum">{summed}</div><p class="tw-caption">{made}</p>')


def _verdict(model, expected, total, every, others):
    """Whether an input is nearest, and where the expected word stands under both rules."""
    first, other = _named(model, every[0][0]), _named(model, others[0][0])
    key = "input_first" if every[0][0] in total.ids else "new_first"
    sentences = [words.html(f"{ME}.{key}", first=first, other=other)]
    if expected and expected.id is None:
        sentences.append(_no_row(model, expected))
    elif expected:
        ranks = [near.rank(total.cosines, expected.id, left) for left in ((), total.ids)]
        key = "expected_input" if expected.id in total.ids else "expected"
        values = {"all": f"{ranks[0]:,}", "left_out": f"{ranks[1]:,}"}
        sentences.append(words.html(f"{ME}.{key}", word=_named(model, expected.id), **values))
    run.notice(html.paragraphs("\n\n".join(sentences)))


def _bars(model, total, best, chosen, rule):
    """The nearest rows under one rule; a click explains one."""
    html.show(f'<p class="tw-panel-name">{words.html(f"{ME}.{rule}_bars", n=len(best))}</p>')
    ids, key = [id for id, _ in best], f"sum_bars_{rule}"
    names = [model.tokenizer.display(id) for id in ids]
    marked = [f"{name} {text(f'{ME}.input')}" if id in total.ids else name
              for id, name in zip(ids, names, strict=True)]  # fmt: skip
    drawn = figure.bars(
        marked,
        [value for _, value in best],
        role_name="residual",
        title=text(f"{ME}.axis"),
        digits=".4f",
        chosen=ids.index(chosen) if chosen in ids else None,
        dark=style.dark(),
        upper=1.18,
    )

    def on_select():
        points = st.session_state[key]["selection"]["point_indices"]
        if points:
            session.put(cell=ids[points[0]])

    settings, alt = figure.saving(f"sum_{rule}"), text(f"{ME}.{rule}_alt", n=len(ids))
    picks = {"on_select": on_select, "selection_mode": "points"}
    st.plotly_chart(drawn, key=key, config=settings, alt=alt, **picks)
    rows = [(n, names[n - 1], *pair) for n, pair in enumerate(best, 1)]
    charts.save(f"sum_{rule}", ("rank", "token", "id", "cosine"), rows)


def _explained(model, terms, total, chosen, left, right):
    """The cosine of one result (right), and where the numbers of the sum come from (left)."""
    value, row = float(total.cosines[chosen]), model.weights.embed[chosen]
    made = run.compute(near.cosine, total.vector, row, value)
    with right:
        names = (words.html(f"{ME}.sum"), html.token(_named(model, chosen)))
        products.cosine(made, names)
    with left:
        _summands(model, terms, total, made.dot.top(products.FEW))


def _summands(model, terms, total, listed):
    """How the sum's numbers of the dimensions that are listed beside it are added up."""
    html.show(f'<p class="tw-panel-name">{words.html(f"{ME}.summands")}</p>')
    head = [words.html("axes.embedding"), *_signed(model, terms), f"= {words.html(f'{ME}.sum')}"]
    added = near.summands(total, model, [dim for dim, *_ in listed]).T.tolist()
    rows = [
        [str(dim), *(number(value, 3) for value in parts), f"<b>{number(whole, 3)}</b>"]
        for (dim, whole, *_), parts in zip(listed, added, strict=True)
    ]
    html.show(f'<div class="tw-scroll">{html.table(head, rows, "mono")}</div>')
    html.show(f'<p class="tw-caption">{words.html(f"{ME}.rule")}</p>')
