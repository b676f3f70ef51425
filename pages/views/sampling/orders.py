"""Two orders: the same settings in the order of transformers and in that of llama.cpp."""

from dataclasses import replace

import streamlit as st

from core.analyse import sampled, source
from core.decode import sampling, twoorders
from pages.parts import charts, html, run, session, settings, strip, style, words
from pages.parts.html import Made, number, percent, token
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.sampling import stages_card, stages_controls
from pages.views.sampling.tokens import token_of
from viz.pairs import pairs

HERE = "sampling.orders"
NAMES = "sampling.stages"  # whose names the stages have
EXAMPLE = {"temperature": 2.0, "top_p": 0.9}
FIRST = 8  # tokens in the picture
FEW = 8  # tokens of each set, by name


def view(trace, position: int) -> Shown:
    """Both orders behind the chosen position, with the reader's settings."""
    spec = settings.spec(trace.spec)
    found = run.compute(sampled.orders, trace, position, spec)
    return Shown(
        lambda: _draw(trace, spec, position, found),
        {name: f"{value:g}" for name, value in EXAMPLE.items()},
        lambda: run.compute(_answer, trace, position),
        source.joined(source.of(sampling.stages), source.of(twoorders.both)),
        lambda: _arrays(found),
    )


def _answer(trace, position):
    """How many tokens each order keeps of the example."""
    found = sampled.orders(trace, position, replace(trace.spec, **EXAMPLE))
    first, second = (each.last.n_kept for each in (found.first, found.second))
    vocab = len(found.first.last.scores)
    return {"n_first": f"{first:,}", "n_second": f"{second:,}", "of": f"{vocab:,}"}


def _arrays(found):
    """The scores behind each stage of both orders."""
    return {
        f"{each.order.replace('.', '_')}_{n}_{stage.name}": stage.scores
        for each in (found.first, found.second)
        for n, stage in enumerate((each.stages[0], *each.active))
    }


# ---- figures -------------------------------------------------------------------------------------


def _draw(trace, spec, position, found):
    strip.show(trace, position, key="orders_tokens")
    stages_controls.show(order=False)
    if found.same:
        values = {name: f"{value:g}" for name, value in EXAMPLE.items()}
        st.button(text(f"{HERE}.example", **values), key="orders_example", on_click=_example)
    run.notice(_why(trace, spec, found))
    with st.container(key="stage_pair_orders"):
        boxes = st.columns(2, gap="medium")
    for each, box in zip((found.first, found.second), boxes, strict=True):
        with box:
            _column(trace, spec, each)
    _sets(trace, found)
    _bars(trace, found)
    _save(trace, spec, found)
    words.caption(f"{HERE}.only_order")


def _example():
    settings.forget()
    settings.put(**EXAMPLE)


def _why(trace, spec, found):
    """What differs, and why; or why nothing does."""
    first, second = found.first, found.second
    values = {"temperature": f"{spec.temperature:g}"}
    values |= {"n_first": f"{first.last.n_kept:,}", "n_second": f"{second.last.n_kept:,}"}
    said = [words.html(f"{HERE}.{'same' if found.same else 'differ'}", **values)]
    if found.same and found.may_differ:
        said.append(words.html(f"{HERE}.could"))
    said.append(words.html(f"{HERE}.why_{found.why}", **values))
    key = "same_token" if first.draw.id == second.draw.id else "other_token"
    tokens = {"first": token_of(trace, first.draw.id), "second": token_of(trace, second.draw.id)}
    u = number(first.draw.u, 6) if not first.draw.greedy else ""
    said.append(words.html(f"{HERE}.{key}{'_greedy' * (not u)}", u=u, seed=spec.seed, **tokens))
    return html.paragraphs("\n\n".join(said))


def _column(trace, spec, each):
    """One order: its stages, how many each kept, and the token that comes out."""
    html.show(f'<p class="tw-panel-name">{words.html(f"{HERE}.order", order=each.order)}</p>')
    head = [words.html(f"{HERE}.{name}") for name in ("stage", "kept", "mass")]
    rows = [[words.html(f"{HERE}.logits"), f"{each.stages[0].n_kept:,}", ""]]
    for stage in each.active:
        kept = f"{stage.n_kept:,}", percent(stage.mass_kept)
        rows.append([stages_card.name(stage, spec), *kept])
    html.show(html.table(head, rows))
    drawn = {"token": token_of(trace, each.draw.id), "prob": percent(each.draw.prob)}
    words.caption(f"{HERE}.{'taken' if each.draw.greedy else 'drawn'}", **drawn)


def _sets(trace, found):
    """Who may be drawn in both orders, and who in one alone."""
    words.heading(f"{HERE}.sets")
    sets = {"shared": found.shared, "only_first": found.only_first}
    sets |= {"only_second": found.only_second}
    orders = {"first": found.first.order, "second": found.second.order}
    rows = []
    for name, ids in sets.items():
        named = " ".join(token(token_of(trace, id)) for id in ids[:FEW])
        if len(ids) > FEW:
            rest = f"{len(ids) - FEW:,}"
            named = words.html(f"{HERE}.more", tokens=Made(named), n=rest)
        rows.append([words.html(f"{HERE}.{name}", **orders), f"{len(ids):,}", named or "–"])
    head = [words.html(f"{HERE}.{name}") for name in ("set", "n", "tokens")]
    html.show(html.table(head, rows, "tw-sets"))


def _bars(trace, found):
    """The first tokens, as both orders would draw them."""
    ids = found.first.stages[0].kept(FIRST).tolist()
    probs = [each.last.probs[ids] for each in (found.first, found.second)]
    display = trace.model.tokenizer.display
    words.heading(f"{HERE}.bars", n=len(ids))
    drawn = pairs(
        [charts.short(display(id)) for id in ids],
        *probs,
        names=(found.first.order, found.second.order),
        shown=tuple([_shown(prob) for prob in each] for each in probs),
        title=text(f"{HERE}.axis"),
        chosen=ids.index(session.get("cell")) if session.get("cell") in ids else None,
        dark=style.dark(),
    )
    alt = text(f"{HERE}.alt", n=len(ids))
    charts.clickable(
        drawn, "orders_bars", lambda n: session.put(cell=ids[n]), name="orders", alt=alt
    )


def _shown(prob):
    return percent(prob) if prob else text(f"{NAMES}.cut")


def _save(trace, spec, found):
    """What stands in both tables of stages, as CSV."""
    head = ("order", "stage", "setting", "kept", "mass_kept")
    rows = [
        (each.order, stage.name, stages_card.setting(stage, spec), stage.n_kept, stage.mass_kept)
        for each in (found.first, found.second)
        for stage in each.active
    ]
    charts.save("sampling_orders", head, rows)
