"""From the text to its ids: what is cut where, and what is merged with what, step by step."""

import streamlit as st

from core.analyse import merging, pieces, source
from core.text import merges
from core.text.display import show_text
from pages import canvas
from pages.parts import charts, html, lesson, run, session, strip, unknown, words
from pages.parts.html import Token
from pages.parts.views import Shown
from pages.parts.words import text
from pages.views.tokens import player
from viz.reading import reading
from viz.tokens import token_strip

HERE = "tokens.merges"
MOST = 24  # tokens that a sentence names


def view(trace, position: int) -> Shown:
    """The view at the chosen token."""
    read = run.compute(pieces.reading, trace, session.prompt())
    way = run.compute(merging.way, trace) if merging.replayable(trace) else None
    at = _piece_at(way, position)
    piece = _piece_text(trace, way, at, position)
    counts = {"n_characters": f"{read.n_characters:,}", "n_bytes": f"{read.n_bytes:,}"}
    values = counts | {"piece": player.named(piece), "other": player.named(_other(piece))}
    return Shown(
        lambda: _draw(trace, position, read, way, at),
        values,
        lambda: _answer(trace, way, at, position, piece),
        source.of(merges.join, merges.Chain),
    )


def _piece_at(way, position):
    """The number of the piece that a token comes from; None for one that the model's rule added."""
    if way is None:
        return None
    inside = (n for n, p in enumerate(way.pieces) if p.first <= position < p.first + p.n_tokens)
    return next(inside, None)


def _piece_text(trace, way, at, position):
    """The characters of the piece, as they were typed; of a token that has none, its own."""
    if at is None:
        return trace.model.tokenizer.token_bytes(trace.ids[position]).decode("utf-8", "replace")
    return way.text[way.pieces[at].start : way.pieces[at].stop]


def _other(piece):
    """The same with a space in front, or without the one it has."""
    return piece[1:] if piece.startswith(" ") and len(piece) > 1 else " " + piece


def _answer(trace, way, at, position, piece):
    """How the piece is read here, and how it would be with or without its space."""
    own = [trace.ids[position]]
    if at is not None:
        first = way.pieces[at].first
        own = trace.ids[first : first + way.pieces[at].n_tokens]
    others = run.compute(trace.model.tokenizer.encode, _other(piece))
    return _read_as("piece", trace, own) | _read_as("other", trace, others)


def _read_as(name, trace, ids):
    """Ids and their tokens as values of the answer, the first of many."""
    rest = ["…"] * (len(ids) > MOST)
    shown = [*map(trace.model.tokenizer.display, ids[:MOST]), *rest]
    numbers = [*map(str, ids[:MOST]), *rest]
    return {f"{name}_tokens": Token(" | ".join(shown)), f"{name}_ids": ", ".join(numbers)}


def _draw(trace, position, read, way, at):
    for sentence in unknown.sentences(trace.model.tokenizer):
        run.notice(sentence)
    words.heading("tokens.strip", n_tokens=f"{len(trace.ids):,}")
    _reading(trace, position, read, way)
    _chosen(trace, read.tokens[position])
    words.heading("tokens.way")
    _way(trace, read, way, at)
    if way is None:
        run.notice(words.html(f"{HERE}.not_replayed"))
    else:
        player.show(trace, at)
        html.show(_verdict(way))
    _table(read)


# ---- the text and its tokens


def _reading(trace, position, read, way):
    """The text above its tokens; the tokens alone where it is not known what belongs to what."""
    if way is None:
        strip.show(trace, position, key="reading")
        return
    payload = reading(
        way.text,
        [token.text for token in read.tokens],
        trace.ids,
        [(0, 0)] * way.first + [*way.spans],
        hexes=[token.hex for token in read.tokens],
        shown=show_text,
        selected=position,
        special=[token.special for token in read.tokens],
        unknown=[token.unknown for token in read.tokens],
        labels={
            **words.table("strip", "aria", "token"),
            "text": text(f"{HERE}.text_row"),
            "tokens": text(f"{HERE}.tokens_row"),
            "lost": text(f"{HERE}.lost"),
        },
    )
    canvas.reading(payload, "reading", lambda: _go(way, position))


def _go(way, before):
    """To another token; the step in the merges of another piece means nothing there."""
    after = st.session_state["reading"]["position"]
    stays = _piece_at(way, before) == _piece_at(way, after)
    session.put(pos=after, cell=session.get("cell") if stays else None)


def _chosen(trace, chosen):
    """What the chosen token is."""
    values = {"token": Token(chosen.text), "id": chosen.id, "position": chosen.position}
    values |= {"vocab": lesson.of_model(trace.model)["vocab"], "hex": chosen.hex}
    html.show(words.html("tokens.chosen", n_bytes=chosen.n_bytes, **values))
    if chosen.special:
        html.show(words.html("tokens.unknown" if chosen.unknown else "tokens.special"))


# ---- from the text to pieces


def _way(trace, read, way, at):
    """The text as characters, bytes, pieces and tokens, and the pieces to choose from."""
    words.caption(f"tokens.pieces_{trace.model.tokenizer.rule}")
    if way is None:
        html.show(f'<p class="tw-loop">{" ".join(html.token(p) for p in read.pieces)}</p>')
        return
    html.show(f'<p class="tw-way">{_counts(way)}</p>')
    if way.normal != way.text:
        words.caption(f"{HERE}.normalized", text=player.named(way.normal))
    if way.first:
        words.caption(f"{HERE}.added", n=way.first)
    if any(piece.n_tokens != 1 for piece in way.pieces):
        _pieces(trace, way, at)


def _pieces(trace, way, at):
    """The pieces to choose from; where each is one token, the tokens above are these already."""
    words.heading(f"{HERE}.pieces")
    payload = token_strip(
        [piece.text for piece in way.pieces],
        [piece.n_tokens for piece in way.pieces],
        selected=at,
        labels={"aria": text(f"{HERE}.pieces"), "token": text(f"{HERE}.piece")},
    )
    canvas.tokens(payload, "pieces", lambda: _go_to_piece(way, len(trace.ids)))


def _go_to_piece(way, n_tokens):
    """To the first token of a piece; a piece without one leads to the next token there is."""
    piece = way.pieces[st.session_state["pieces"]["position"]]
    session.put(pos=min(piece.first, n_tokens - 1), cell=None)


def _counts(way):
    """One line from the characters to the tokens."""
    counts = {"characters": len(way.text)}
    counts |= {"normalized": len(way.normal)} if way.normal != way.text else {}
    counts |= {"bytes": len(way.normal.encode("utf-8", "replace"))}
    counts |= {"pieces": len(way.pieces), "tokens": len(way.ids)}
    said = [words.html(f"{HERE}.counts_{name}", n=f"{n:,}") for name, n in counts.items()]
    return " <i>→</i> ".join(f"<span>{part}</span>" for part in said)


# ---- the check, and all tokens


def _verdict(way):
    """Whether the replayed ids are those of the run, as HTML."""
    name, sign = ("equal", "✓") if way.equal else ("unequal", "✗")
    who = ("equal_library" if way.by_library else "equal_own") if way.equal else "unequal"
    said = words.html(f"{HERE}.{who}", n=f"{len(way.ids):,}")
    return f'<p class="tw-{name}" data-verdict="{name}">{sign} {said}</p>'


def _table(read):
    """Position, token, bytes and id of every token, when it is asked for."""
    box = st.expander(text(f"{HERE}.table"), key="token_table", on_change="rerun")
    if not box.open:
        return
    head = [words.html(f"tokens.{name}") for name in ("position", "text", "bytes_head", "id")]
    rows = [
        [str(t.position), html.token(t.text), html.rich("`[[hex]]`", hex=t.hex), str(t.id)]
        for t in read.tokens
    ]
    with box:
        table = html.table(head, rows)
        html.show(html.scroll(table, text(f"{HERE}.table"), "tw-all-tokens"))
        plain = [(t.position, t.text, t.hex, t.id) for t in read.tokens]
        charts.save("tokens", ("position", "token", "bytes", "id"), plain)
