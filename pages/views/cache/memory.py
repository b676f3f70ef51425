"""What the cache takes: the formula with this model's numbers, checked on the arrays, and as it
would be otherwise; that old rows never change; and what is often believed.
"""

from core.analyse.agreement import compare
from core.analyse.cachesize import as_held, cache_size, sizes
from pages.parts import charts, explanation, html, run, words
from pages.parts.words import text
from pages.views.cache import units

HERE = "cache.grow"
BELIEFS = ("queries", "rotated", "room")


def show(trace, growth) -> None:
    """All of it, below the strips."""
    _formula(trace, growth)
    _table(trace, growth)
    _unchanged(growth)
    _beliefs(trace)


def _formula(trace, growth):
    """The factors with their names, then times the positions, beside what the arrays hold."""
    size, n = cache_size(trace.config), len(growth.ids)
    factors = [f"{each:,} {text(f'{HERE}.factors.{name}')}" for name, each in size.factors]
    words.heading(f"{HERE}.formula")
    line = f"{' × '.join(factors)} = {size.per_token:,} {text(f'{HERE}.factors.per_token')}"
    html.show(f'<p class="tw-formula"><code>{html.escape(line)}</code></p>')
    lines = [
        (words.html(f"{HERE}.by_formula", n=n, per=f"{size.per_token:,}"), f"{size.of(n):,}"),
        (words.html(f"{HERE}.by_arrays"), f"<b>{growth.cache.nbytes:,}</b>"),
    ]
    explanation.agreed(run.compute(as_held, size, growth.cache), lines)


def _table(trace, growth):
    """Bytes here, in float16, with a key and value for every query head; and by windows."""
    n, context = len(growth.ids), trace.config.context
    rows = [_row(name, each, n, context) for name, each in sizes(trace.config).items()]
    here = cache_size(trace.config)
    if here.windowed(context) != here.of(context):
        part = [here.per_layer, here.per_token, here.windowed(n), here.windowed(context)]
        rows.append(("windowed", here, part))
    names = [text(f"{HERE}.sizes.{name}") for name, _, _ in rows]
    put = {"n": n, "context": f"{context:,}"}
    head = [words.html(f"{HERE}.columns.{name}", **put) for name in COLUMNS]
    body = [
        [html.escape(name), *(str(s) for s in (size.n_kv_heads, size.n_bytes)), *map(_bytes, part)]
        for name, (_, size, part) in zip(names, rows, strict=True)
    ]
    words.heading(f"{HERE}.sizes.title")
    html.show(html.scroll(html.table(head, body, "tw-tall"), text(f"{HERE}.sizes.title")))
    if trace.config.group == 1:
        words.caption(f"{HERE}.no_group")
    saved = [(name, size.n_kv_heads, size.n_bytes, *part) for name, size, part in rows]
    charts.save("cache_sizes", COLUMNS, saved, text(f"{HERE}.sizes.title"))


COLUMNS = ("cache", "kv_heads", "number", "per_layer", "per_token", "text", "context")


def _row(name, size, n, context):
    return name, size, [size.per_layer, size.per_token, size.of(n), size.of(context)]


def _bytes(n):
    return f'<span class="tw-nowrap" title="{n:,} B">{units.size(n)}</span>'


def _unchanged(growth):
    """The numbers that the prompt left, before and after the text grew."""
    lines = [
        (words.html(f"{HERE}.before", n=growth.n_prompt), f"{growth.n_before:,}"),
        (words.html(f"{HERE}.same", n=len(growth.ids) - growth.n_prompt), f"{growth.n_same:,}"),
    ]
    words.heading(f"{HERE}.unchanged")
    explanation.agreed(compare(growth.n_same, growth.n_before), lines)


def _beliefs(trace):
    """What is easily got wrong about a cache."""
    beliefs = [f"{HERE}.{name}" for name in BELIEFS]
    if not any(trace.config.ropes):
        beliefs[1] = f"{HERE}.unrotated"
    words.heading(f"{HERE}.beliefs")
    lines = "".join(f"<li>{words.html(each)}</li>" for each in beliefs)
    html.show(f'<ul class="tw-beliefs">{lines}</ul>')
