"""The cards of the first page: each a stage of the journey, made of this run's own numbers, and a
door to its page.
"""

import streamlit as st

from pages import canvas
from pages.parts import charts, html, journey, panels, session, strip, style, words
from pages.parts.html import Token, percent, token
from pages.parts.words import text
from viz import figure
from viz.atlas import atlas


def card(number: int, name: str, role: str, door=None, **plain):
    """A bordered card with its number, its name and a door (a function that goes there)."""
    box = st.container(border=True, height="stretch", key=f"wrap_card_{name}")
    with box:
        top = st.container(horizontal=True, horizontal_alignment="distribute", key=f"top_{name}")
        badge = f'<span class="tw-badge {role}">{number}</span>'
        title = words.html(f"start.{name}.title", **plain)
        top.html(f'<p class="tw-card">{badge}<span>{title}</span></p>', width="content")
        if door and top.button(text("start.open"), key=f"open_{name}", type="tertiary"):
            door()
    return box


def _block(layer: int, op: str, head: int | None = None):
    """A door to a step of the block page."""
    place = {"at_layer": layer, "pos": None}
    place |= {} if head is None else {"at_head": head, "together": True}
    return lambda: journey.go("block", op=op, **place)


def caption(name: str, /, **values) -> None:
    """One line below a card's title."""
    html.show(f'<p class="tw-caption">{words.html(f"start.{name}", **values)}</p>')


def tokens(trace) -> None:
    """Card 1: the text as tokens with their ids."""
    with card(1, "tokens", "residual", door=lambda: journey.go("tokens")):
        caption("tokens.caption", n=len(trace.ids))
        if trace.spec.prompt is None:
            own = len(trace.model.tokenizer.encode(session.prompt(), trace.spec.control))
            caption("tokens.template", n=len(trace.ids) - own)
        strip.show(trace, None, key="start_tokens", variant="tall", pick=False)


def embedding(trace, rows) -> None:
    """Card 2: one row of numbers per token."""
    door, width = (lambda: journey.go("embedding")), trace.config.width
    with card(2, "embedding", "residual", door=door, width=width):
        caption("embedding.caption", width=trace.config.width)
        panels.thumbnail(rows, trace, key="start_embedding")


def heads(trace, seen) -> None:
    """Card 3: one head to read, then the whole field of them."""
    layer, head = seen.framed
    c = trace.config
    door = _block(layer, "attn.weights", head)
    with card(3, "heads", "attention", door=door, n_layers=c.n_layers, n_heads=c.n_heads):
        tokens = trace.tokens
        values = {"layer": layer, "head": head, "weight": f"{seen.weight:.2f}"}
        values |= {"last": Token(tokens[-1]), "key": Token(tokens[seen.key])}
        one, field = st.columns([1.9, 2], gap="small")
        with one:
            caption("heads.one", **values)
            if seen.attention.block > 1:
                caption("heads.block", block=seen.attention.block)
            canvas.matrix(_map(seen, tokens), key="start_map")
        with field:
            caption("heads.field", n_heads=c.n_layers * c.n_heads)
            labels = words.table(
                "atlas", "tooltip", "selected", "layer", "head", "aria", "reduced", "save_png"
            )
            canvas.atlas(
                atlas(seen.attention.maps, framed=seen.framed, labels=labels),
                key="start_atlas",
                on_head=_framed,
            )
            _sink(trace, seen)


def _sink(trace, seen):
    """How many heads park on the first token; alone, a token has nothing else to look at."""
    if len(trace.tokens) == 1:
        return caption("heads.alone")
    n_heads = trace.config.n_layers * trace.config.n_heads
    values = {"n_heads": n_heads, "first": Token(trace.tokens[0])}
    if seen.n_sinks:
        caption("heads.sink", n=seen.n_sinks, **values)
    else:
        caption("heads.no_sink", **values)


def _framed():
    """The map that was chosen in the field is the one to read."""
    session.put(frame=tuple(st.session_state["start_atlas"]["head"]))


def _map(seen, tokens):
    layer, head = seen.framed
    block = seen.attention.block
    return panels.head_map(
        seen.attention.maps[layer, head],
        list(tokens[::block]),
        window=seen.attention.windows[layer],
        selected=[len(tokens) - 1, seen.key] if block == 1 else None,
        column_step=block,
        aria=text("start.heads.aria"),
        name="attention",
    )


def lens(trace, seen) -> None:
    """Card 4: the place of the answer if the model stopped after each layer."""
    best = seen.guess.top[0]
    door = _block(seen.lens.first_layer, "resid_post")
    with card(4, "lens", "mlp", door=door):
        caption("lens.caption", token=Token(best.text), vocab=f"{trace.config.vocab:,}")
        drawn = figure.ranks(
            seen.lens.ranks,
            seen.lens.probs,
            role_name="mlp",
            layer_title=text("axes.layer"),
            rank_title=text("start.lens.rank"),
            hover=text("start.lens.hover"),
            dark=style.dark(),
        )
        settings = figure.saving("rank_by_layer")
        st.plotly_chart(drawn, key="start_lens", config=settings, alt=text("start.lens.alt"))
        rows = zip(seen.lens.ranks.tolist(), seen.lens.probs.tolist(), strict=True)
        table = [(layer, *row) for layer, row in enumerate(rows)]
        charts.save("rank_by_layer", ("layer", "rank", "probability"), table)
        caption("lens.first", layer=seen.lens.first_layer, token=Token(best.text))


def scores(trace, seen) -> None:
    """Card 5: the first candidates and their probabilities."""
    with card(
        5,
        "scores",
        "logits",
        door=lambda: journey.go("output"),
        vocab=f"{trace.config.vocab:,}",
    ):
        caption("scores.caption")
        rows = []
        for c in seen.guess.top[:6]:
            css = f"width:{100 * c.prob:.1f}%;background:var(--tw-logits)"
            bar = f'<span class="tw-bar" style="{css}"></span>'
            rows.append([token(c.text), bar, percent(c.prob)])
        html.show(html.table([], rows, "bars"))
        caption("scores.held", n=f"{seen.guess.n_for_90:,}")


def loop(trace, seen) -> None:
    """Card 6: the choice joins the text, and round again."""
    with card(6, "loop", "key"):
        best = seen.guess.top[0]
        dots = "… " if len(trace.tokens) > 5 else ""
        tail = " ".join(token(t) for t in trace.tokens[-5:])
        html.show(f'<p class="tw-loop">{dots}{tail} <b>{token(best.text, "logits")}</b></p>')
        caption("loop.caption")
        if seen.next_text:
            after = words.html("start.loop.next", token=Token(seen.next_text))
            html.show(f'<p class="tw-loop">⟲ {after}</p>')
        if seen.appended is not None:
            st.button(
                text("start.loop.append"), key="append", on_click=_append, args=(seen.appended,)
            )


def _append(added: str) -> None:
    """The chosen token joins the prompt: one more round, all of it shown again."""
    session.set_prompt(session.prompt() + added)


def covered(number: int, name: str, role: str, **plain) -> None:
    """A card whose answer stays hidden until the reader has guessed."""
    with card(number, name, role, **plain):
        caption("covered")
