"""Texts side by side: how many tokens each becomes, and what they cost in this model."""

import streamlit as st

from core.analyse import compared, lookup, source
from core.text.display import show_text
from pages.parts import charts, explanation, html, inputs, lesson, run, session, words
from pages.parts.html import Token
from pages.parts.views import Shown
from pages.parts.words import text

HERE = "tokens.compare"
EXAMPLES = ("english", "chinese", "code")
OWN = ("first", "second")
MOST_CHIPS, MOST_SHOWN = 200, 300  # tokens and characters of a text that are shown
LENGTHS = ("characters", "bytes", "tokens", "tokens_per_character", "bytes_per_token")
COSTS = ("context", "cache", "cells", "products")
SOURCE = source.of(
    compared.measured,
    compared.cost,
    compared.cache_bytes,
    compared.seen_cells,
    compared.multiply_adds,
    compared.block_weights,
)


def view(trace, position: int) -> Shown:
    """The view; the chosen token does not matter to it."""
    found = run.compute(_measured, trace, _texts())
    named = {name: each for name, (each, _) in found.items()}
    answer = {"fits": _fits(named, trace.config.context)}
    return Shown(lambda: _draw(trace, found), {}, lambda: answer, SOURCE)


def _texts():
    """The texts by name: the reader's two, or the examples."""
    second = session.typed("ask")
    if second is None:
        return {name: text(f"{HERE}.example_{name}") for name in EXAMPLES}
    return dict(zip(OWN, (session.prompt(), second), strict=True))


def _measured(trace, texts):
    """Each text with its cost, by name."""
    model, control = trace.model, trace.spec.control
    each = {name: compared.measured(model, said, control) for name, said in texts.items()}
    return {name: (one, compared.cost(model, one.n_tokens)) for name, one in each.items()}


def _fits(named, context):
    """How often each text would fit into the context, as one line."""
    counts = {name: compared.fitting(context, one.n_tokens) for name, one in named.items()}
    return " · ".join(
        f"{_name(name)}: {'–' if n is None else f'{n:,}'}" for name, n in counts.items()
    )


def _name(name):
    return text(f"{HERE}.{name}")


def _ratio(value):
    return "–" if value is None else f"{value:.2f}"


def _draw(trace, found):
    _choice()
    if "second" in found:
        label = text(f"{HERE}.box")
        inputs.box("ask", label, key="compare_ask", longest=session.LONGEST_LINKED, height=80)
    for name, (one, _) in found.items():
        html.show(_text(name, one))
    for name, measures in (("lengths", LENGTHS), ("costs", COSTS)):
        words.heading(f"{HERE}.{name}")
        if name == "costs":
            words.caption(f"{HERE}.what_costs")
        html.show(_table(found, name, measures))
    html.show(f'<p class="tw-caption">{_sentence(trace, found)}</p>')
    for sentence in _lost(trace, found):
        run.notice(sentence)
    _save(found)
    with st.expander(text(f"{HERE}.formulas")):
        html.show(_formulas(trace))
        html.show(_check(trace))


def _choice():
    """The examples, or the reader's own two texts; what was typed is kept."""

    def chosen(which):
        if which == "own":
            typed = session.get("compare_typed") or text(f"{HERE}.example_second")
            session.put(ask=typed, reveal=False)
        else:
            session.put(ask=None, compare_typed=session.get("ask"), reveal=False)

    inputs.switch(
        ("examples", "own"),
        "own" if session.get("ask") else "examples",
        key="compare_which",
        label=text(f"{HERE}.which"),
        name=_name,
        pick=chosen,
    )


def _text(name, one):
    """A text as it is written, and its tokens below, each in a box of its own."""
    shown = show_text(one.text[:MOST_SHOWN]) + "…" * (len(one.text) > MOST_SHOWN)
    chips = "".join(_chip(n, chip) for n, chip in enumerate(one.chips[:MOST_CHIPS]))
    if (more := one.n_tokens - MOST_CHIPS) > 0:
        chips += f'<span class="tw-hint">{words.html(f"{HERE}.more", n=f"{more:,}")}</span>'
    head = words.html(f"{HERE}.head", name=_name(name), n=f"{one.n_tokens:,}")
    said = f'<bdi class="tw-said">{html.escape(shown)}</bdi>'
    boxes = html.scroll(chips, text(f"{HERE}.tokens"), "tw-boxes")
    return f'<p class="tw-panel-name">{head}</p>{said}{boxes}'


def _chip(n, chip):
    title = html.escape(text(f"{HERE}.chip", id=chip.id, hex=chip.hex), quote=True)
    kind = f"{chip.kind} {'odd' if n % 2 else 'even'}"
    return f'<bdi class="tw-box {kind}" title="{title}">{html.escape(chip.text)}</bdi>'


def _numbers(one, cost):
    """Every measure of a text: its number, and how it is written."""
    ratios = (one.tokens_per_character, one.bytes_per_token)
    counts = (one.n_characters, one.n_bytes, one.n_tokens)
    written = [*(f"{n:,}" for n in counts), *map(_ratio, ratios), f"{cost.context_share:.2%}"]
    costs = (cost.cache, cost.cells, cost.products)
    values = (*counts, *ratios, cost.context_share, *costs)
    written += [f"{n:,}" for n in costs]
    return dict(zip(LENGTHS + COSTS, zip(values, written, strict=True), strict=True))


def _table(found, table, measures):
    """A row per measure, a column per text; a bar is full where the number is the row's largest."""
    columns = [_numbers(one, cost) for one, cost in found.values()]
    head = ["", *(f"<b>{html.escape(_name(name))}</b>" for name in found)]
    rows = []
    for measure in measures:
        largest = max(column[measure][0] or 0 for column in columns)
        cells = (_cell(*column[measure], largest) for column in columns)
        rows.append([words.html(f"{HERE}.{measure}", coding=compared.CODING), *cells])
    return html.scroll(html.table(head, rows, "tw-beside"), text(f"{HERE}.{table}"))


def _cell(value, written, largest):
    share = (value or 0) / largest if largest else 0
    return f'{written}<span class="tw-meter"><i style="width:{share:.1%}"></i></span>'


def _sentence(trace, found):
    """What the table comes to: Chinese beside English, or the second text beside the first."""
    if "second" in found:
        first, second = (found[name][0].tokens_per_character for name in OWN)
        ratio = _ratio(compared.times(second, first))
        return words.html(f"{HERE}.own_ratio", ratio=ratio)
    english, chinese = (found[name][0] for name in EXAMPLES[:2])
    n_han = run.compute(lambda: lookup.holding(lookup.listing(trace.model), "han"))
    said = words.html(f"{HERE}.n_han", n=f"{n_han:,}", vocab=f"{trace.config.vocab:,}")
    if english.n_unknown or chinese.n_unknown:  # their numbers say nothing of the language
        return said
    ratio = _ratio(compared.times(chinese.n_tokens, english.n_tokens))
    return lesson.joined(words.html(f"{HERE}.ratio", ratio=ratio), said)


def _lost(trace, found):
    """One sentence for each text of which the model cannot know all that is written there."""
    tokenizer = trace.model.tokenizer
    for name, (one, _) in found.items():
        values = {"name": _name(name), "n": one.n_unknown, "n_tokens": one.n_tokens}
        if one.n_unknown:
            shown = Token(tokenizer.display(tokenizer.unknown_id))
            yield words.html(f"{HERE}.unknown", unknown=shown, **values)
        elif one.back != one.text:
            yield words.html(f"{HERE}.not_back", back=Token(_short(one.back)), **values)


def _short(said):
    return show_text(said[:MOST_SHOWN]) or "∅"


def _save(found):
    """The table as CSV."""
    columns = [_numbers(one, cost) for one, cost in found.values()]
    rows = [(measure, *(column[measure][0] for column in columns)) for measure in LENGTHS + COSTS]
    charts.save("compare", ("measure", *found), rows)


def _formulas(trace):
    """How each number comes about, with the sizes of this model."""
    c = trace.config
    sizes = {name: getattr(c, name) for name in ("n_layers", "n_heads", "n_kv_heads", "head_dim")}
    sizes |= {"coding": compared.CODING, "bytes": compared.NUMBER_BYTES}
    sizes |= {"context": f"{c.context:,}"}
    sizes |= {
        "each": f"{compared.cache_bytes(c, 1):,}",
        "head": f"{trace.model.weights.head.size:,}",
    }
    sizes |= {"weights": f"{compared.block_weights(trace.model):,}"}
    names = ("characters", "bytes", "tokens", "ratios", *COSTS)
    rows = (words.html(f"{HERE}.formula_{name}", **sizes) for name in names)
    notes = [words.html(f"{HERE}.windows")] if any(c.windows) else []
    if trace.model.tokenizer.add_bos:
        bos = Token(trace.model.tokenizer.display(trace.model.tokenizer.bos_id))
        notes.append(words.html(f"{HERE}.bos", bos=bos))
    items = "".join(f"<li>{row}</li>" for row in (*rows, *notes))
    return f'<ul class="tw-formulas">{items}</ul>'


def _check(trace):
    """The formula of the cache beside what this very run holds."""
    counted, held = compared.checked(trace)
    n_tokens = f"{len(trace.ids):,}"
    lines = [
        (words.html(f"{HERE}.counted", n_tokens=n_tokens), f"{counted:,}"),
        (f"<b>{words.html(f'{HERE}.held')}</b>", f"<b>{held:,}</b>"),
    ]
    return explanation.sums(lines, explanation.verdict(counted == held, counted - held, 0))
