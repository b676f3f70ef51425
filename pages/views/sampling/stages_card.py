"""One stage as a card: the first tokens before and after it, how many it kept, who fell and why.

Knows a stage and core's reasons for it; no maths.
"""

import streamlit as st

from core.decode import reasons
from pages.parts import charts, html, run, session, style, words
from pages.parts.html import percent, token
from pages.parts.words import text
from pages.views.sampling import stages_lines
from pages.views.sampling.tokens import token_of
from viz import stages as figure

HERE = "sampling.stages"
FIRST = 12  # bars of a card
FEW = 5  # tokens that fell, and tokens whose score changed, by name
SHARE = 0.9
SETTINGS = {
    "repetition": "repetition_penalty",
    "presence": "presence_penalty",
    "frequency": "frequency_penalty",
    "typical": "typical_p",
}


def setting(stage, spec) -> float:
    """What the stage's setting is."""
    return getattr(spec, SETTINGS.get(stage.name, stage.name))


def _setting(stage, spec):
    return f"{setting(stage, spec):g}".replace("-", "−")


def name(stage, spec) -> str:
    """What a stage is called, with its setting: as HTML."""
    value = words.html(f"{HERE}.set_{stage.name}", value=_setting(stage, spec))
    return f"{words.html(f'{HERE}.name_{stage.name}')} · {value}"


def rows(stage, id):
    """The bars of a card; the followed token's is one of them."""
    return reasons.rows(stage, FIRST, id)


def card(number: int, key: str, title: str):
    """A box with its number and its name (HTML)."""
    box = st.container(border=True, key=f"stage_card_{key}")
    badge = f'<span class="tw-badge logits">{number}</span>'
    box.html(f'<p class="tw-card">{badge}<span>{title}</span></p>')
    return box


def pair(key: str):
    """A figure and what is said of it: beside each other, or below."""
    with st.container(key=f"stage_pair_{key}"):
        return st.columns([3, 2], gap="medium")


def show(trace, number: int, stage, spec, seen, id: int) -> None:
    """A stage that does something."""
    found = run.compute(reasons.rule, stage, spec)
    fate = reasons.fate(stage, found, seen, id)
    with card(number, stage.name, name(stage, spec)):
        left, right = pair(stage.name)
        with left:
            bars(trace, id, rows(stage, id), stage.name)
        with right:
            html.show(_kept(stage, spec, found))
            html.show(stages_lines.show(stage, spec, found, fate, token_of(trace, id)))
            if stage.name in stages_lines.PENALTIES:
                html.show(_moved(trace, stage, seen))
            elif stage.n_cut and found:
                html.show(_fallen(trace, stage, found))


def bars(trace, id, shown, key: str) -> None:
    """The tokens of the rows, before and after; a click on one follows it. key: "last" for bars
    with nothing before them.
    """
    ids = [row.id for row in shown]
    drawn = figure.stages(
        [charts.short(trace.model.tokenizer.display(each)) for each in ids],
        [row.before for row in shown],
        [row.after for row in shown],
        [row.cut for row in shown],
        names=(text(f"{HERE}.before"), text(f"{HERE}.after")),
        shown=[_beside(row, key == "last") for row in shown],
        title=text(f"{HERE}.axis"),
        chosen=ids.index(id) if id in ids else None,
        single=key == "last",
        dark=style.dark(),
    )
    alt = text(f"{HERE}.{'last_alt' if key == 'last' else 'alt'}", n=len(ids))
    pick = {"name": f"sampling_{key}", "alt": alt}
    charts.clickable(drawn, f"stages_bars_{key}", lambda n: session.put(cell=ids[n]), **pick)


def _beside(row, alone):
    """What is written beside a bar."""
    if alone:
        return percent(row.after)
    return f"{percent(row.before)} → {text(f'{HERE}.cut') if row.cut else percent(row.after)}"


# ---- what is said of a stage ---------------------------------------------------------------------


def _kept(stage, spec, found):
    """How many it kept, what they held, and by which rule."""
    said = [_rule(stage, spec, found)]
    if stage.n_cut:
        values = {"n": f"{stage.n_kept:,}", "of": f"{stage.n_kept + stage.n_cut:,}"}
        said.insert(0, words.html(f"{HERE}.kept", mass=percent(stage.mass_kept), **values))
    elif found:
        said.insert(0, words.html(f"{HERE}.kept_all", of=f"{stage.n_kept:,}"))
    if stage.name == "top_k" and (n := reasons.beyond(stage, spec.top_k)):
        said.append(words.html(f"{HERE}.ties_top_k", n=f"{n:,}"))
    if reasons.overflows(stage, spec):
        said.append(words.html(f"{HERE}.overflows"))
    return "".join(f"<p>{line}</p>" for line in said)


def _rule(stage, spec, found):
    if stage.name == "temperature":
        return _tempered(stage, spec)
    values = {"setting": _setting(stage, spec)}
    if found:
        values |= {"bound": html.number(found.bound)}
    if stage.name == "typical":
        values |= {"entropy": html.number(found.aside)}
    return words.html(f"{HERE}.rule_{stage.name}", **values)


def _tempered(stage, spec):
    """What the temperature does to the first token, and to how many share the probability."""
    if spec.temperature == 0:
        return words.html(f"{HERE}.rule_zero")
    first = reasons.rows(stage, 1)[0]
    values = {"before": percent(first.before), "after": percent(first.after)}
    values |= {
        "n_before": f"{stage.n_held_before(SHARE):,}",
        "n_after": f"{stage.n_holding(SHARE):,}",
    }
    return words.html(f"{HERE}.rule_{'hot' if spec.temperature > 1 else 'cold'}", **values)


def _fallen(trace, stage, found):
    """The most probable that were cut, below the last that stays."""
    measure = words.html(f"{HERE}.measure_{stage.name}")
    head = [words.html(f"{HERE}.fallen"), words.html(f"{HERE}.prob"), measure]
    ids = stage.cut(FEW).tolist()
    lines = [_line(trace, stage, found, id) for id in ids]
    if stage.name != "typical":
        last = _line(trace, stage, found, int(stage.kept()[-1]))
        last[0] = words.html(f"{HERE}.last", token=html.Made(last[0]))
        lines.insert(0, last)
    faint = [""] * len(lines)
    if stage.name != "typical":
        faint[0] = ' class="tw-faint"'
    rest = stage.n_cut - len(ids)
    more = f'<p class="tw-caption">{words.html(f"{HERE}.fallen_more", n=f"{rest:,}")}</p>'
    return html.table(head, lines, marks=faint) + more * bool(rest)


def _line(trace, stage, found, id):
    fate = reasons.fate(stage, found, (), id)
    return [
        token(token_of(trace, id)),
        percent(fate.prob),
        stages_lines.measure(stage, fate.measure),
    ]


def _moved(trace, stage, seen):
    """The most probable of the tokens whose score changed, with how often the text has them."""
    head = [words.html(f"{HERE}.moved_{name}") for name in ("token", "count", "score")]
    moved, lines = stage.moved().tolist(), []
    for id in moved[:FEW]:
        fate = reasons.fate(stage, None, seen, id)
        change = f"{html.number(fate.before, 2)} → {html.number(fate.after, 2)}"
        lines.append([token(token_of(trace, id)), f"{fate.count:,}", change])
    values = {"n": f"{len(moved):,}", "shown": len(lines)}
    said = f'<p class="tw-caption">{words.html(f"{HERE}.moved", **values)}</p>'
    return said + html.table(head, lines)
