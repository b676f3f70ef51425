"""Stage by stage: the scores after a position, and what each stage of sampling makes of them."""

from dataclasses import replace

import streamlit as st

from core.analyse import sampled, source
from core.decode import filters, sampling
from pages.parts import charts, html, run, session, settings, strip, words
from pages.parts.html import percent
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.sampling import stages_card, stages_controls, stages_last
from pages.views.sampling.tokens import token_of

HERE = "sampling.stages"
HOT = 1.5  # the temperature that the question asks about
SHARE = 0.9


def view(trace, position: int) -> Shown:
    """The stages behind the chosen position, with the reader's settings."""
    spec = settings.spec(trace.spec)
    found = run.compute(sampled.stages, trace, position, spec)
    top = int(found[0].kept(1)[0])
    values = {"top": token_of(trace, top), "top_p": percent(found[0].probs[top]), "hot": f"{HOT:g}"}
    return Shown(
        lambda: _draw(trace, position, spec, found, top),
        values | {"n_90": f"{found[0].n_holding(SHARE):,}"},
        lambda: run.compute(_answer, trace, position, top),
        _code(),
        lambda: {f"{n}_{each.name}": each.scores for n, each in enumerate(_cards(found))},
    )


def _code():
    steps = (filters.penalize, filters.presence, filters.frequency, filters.temper)
    cuts = (filters.keep_top_k, filters.keep_top_p, filters.keep_min_p, filters.keep_typical)
    return source.joined(source.of(sampling.stages), source.of(*steps, *cuts, filters.softmax))


def _answer(trace, position, top):
    """What a higher temperature alone leaves of the first token, and how many it takes then."""
    hot = replace(trace.spec, temperature=HOT)
    last = sampled.stages(trace, position, hot)[-1]
    return {"hot_p": percent(last.probs[top]), "hot_90": f"{last.n_holding(SHARE):,}"}


def _cards(found):
    """The scores, and the stages that do anything."""
    return [stage for stage in found if stage.active]


def _chosen(found, top):
    """The token that is followed: the one that was clicked, else the most probable."""
    chosen = session.below("cell", len(found[0].scores))
    return top if chosen is None else chosen


# ---- figures -------------------------------------------------------------------------------------


def _draw(trace, position, spec, found, top):
    strip.show(trace, position, key="stages_tokens")
    stages_controls.show()
    id, (first, *active) = _chosen(found, top), _cards(found)
    _off(found, spec)
    _given(first)
    _follow(trace, first, id)
    for number, stage in enumerate(active, 1):
        seen = sampled.seen(trace, position)
        stages_card.show(trace, number, stage, spec, seen, id)
    stages_last.show(trace, position, spec, found, id, len(active) + 1)
    _save(trace, [first, *active], id)


def _off(found, spec):
    """What does nothing, in one line, and the order in which the others work."""
    names = [text(f"{HERE}.name_{stage.name}") for stage in found if not stage.active]
    values = {"names": text("settings.between").join(names), "order": spec.order}
    on = len(found) - 1 - len(names)
    key = ("off" if names else "all_on") if on else "all_are_off"
    words.caption(f"{HERE}.{key}", **values)
    vocab = len(found[0].scores)
    if spec.top_k >= vocab:
        words.caption(f"{HERE}.no_k", k=f"{spec.top_k:,}", vocab=f"{vocab:,}")


def _given(first):
    """The scores as the model gave them: what the first stage reads."""
    n, vocab = first.n_holding(SHARE), len(first.scores)
    words.caption(f"{HERE}.given", n=f"{n:,}", vocab=f"{vocab:,}")


def _follow(trace, first, id):
    """The list of the first tokens: the one that every card puts into its formula."""
    ids, key = first.kept(stages_card.FIRST).tolist(), "stages_follow"
    st.session_state[key] = id
    st.selectbox(
        text(f"{HERE}.follow"),
        [*ids, *[id] * (id not in ids)],
        format_func=trace.model.tokenizer.display,
        key=key,
        on_change=lambda: session.put(cell=st.session_state[key]),
        help=text(f"{HERE}.follow_help"),
        width=240,
    )


def _save(trace, cards, id):
    """Every bar of every card as CSV."""
    head = ("stage", "kept", "mass_kept", "id", "token", "score_before", "score", "before", "after")
    display, made = trace.model.tokenizer.display, []
    for stage in cards:
        for row in stages_card.rows(stage, id):
            scores = float(stage.before[row.id]), float(stage.scores[row.id])
            same = (stage.name, stage.n_kept, stage.mass_kept, row.id, display(row.id))
            made.append((*same, *scores, row.before, row.after))
    charts.save("sampling_stages", head, made)
    html.show(f'<p class="tw-caption">{words.html(f"{HERE}.save", n=stages_card.FIRST)}</p>')
