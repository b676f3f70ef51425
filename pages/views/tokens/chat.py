"""The chat template: messages in, the exact prompt and its ids out, by who wrote which part."""

from dataclasses import dataclass

import streamlit as st

from core.analyse import conversation as chats
from core.analyse import source
from core.analyse.output import guess
from core.analyse.pieces import holds_marker
from core.errors import PromptError
from pages.parts import charts, html, inputs, run, session, strip, unknown, words
from pages.parts.html import Token, percent, token
from pages.parts.views import Shown
from pages.parts.words import text

MOST = 600  # tokens drawn
HERE = "tokens.chat"


@dataclass(frozen=True)
class Refused:
    """The template takes no such messages: its error."""

    error: PromptError


def view(trace, position: int) -> Shown:
    """The view; the chosen token plays no part."""
    tokenizer = trace.model.tokenizer
    if tokenizer.template is None:
        return Shown(lambda: _without_template(trace, position), {}, lambda: _own_guess(trace))
    read = run.compute(_read, tokenizer, _messages(), bool(session.get("control")))
    code = source.of(chats.conversation, chats.rendered_blank, chats.cut_by_author)
    return Shown(lambda: _draw(tokenizer, read), {}, lambda: _answer(read), code)


def _messages():
    """What the boxes say, as (role, text)."""
    said = ("system", session.typed("system")), ("user", session.prompt())
    said += ("assistant", session.typed("reply")), ("user", session.typed("follow"))
    return [(role, content) for role, content in said if content]


def _read(tokenizer, messages, control):
    try:
        return chats.conversation(tokenizer, messages, control)
    except PromptError as error:
        return Refused(error)


def _answer(read):
    """What the model would write first, without the generation prompt and with it."""
    if isinstance(read, Refused):
        return _opening(None, None, "why_refused")
    if len(read.tokens) > run.LONGEST:
        return _opening(None, None, "why_long")
    both = run.compute(chats.openings, run.model_name(), read)
    return _opening(*both, "why_no_prompt" if read.continuation is None else None)


def _own_guess(trace):
    """Of a model without a template: its guess after the text, which is the same twice."""
    best = run.compute(guess, trace, -1, 1).top[0]
    return _opening(best, best, "why_none")


def _opening(silent, asked, why):
    """The values of the answer. silent, asked: candidates, None where there are none."""
    values = {"why": text(f"{HERE}.{why}") if why else ""}
    for name, found in (("silent", silent), ("asked", asked)):
        values[name] = Token(found.text) if found else "–"
        values[f"{name}_p"] = percent(found.prob) if found else "–"
    return values


def _without_template(trace, position):
    """What a model without a template gets instead: the text as it is."""
    run.notice(words.html(f"{HERE}.none"))
    words.heading(f"{HERE}.instead", n=len(trace.ids))
    strip.show(trace, position, key="chat_strip")


def _draw(tokenizer, read):
    for sentence in unknown.sentences(tokenizer):
        run.notice(sentence)
    _boxes()
    if isinstance(read, Refused):
        run.notice(words.error(read.error), "error")
    else:
        _prompt(read)
        _tokens(tokenizer, read)
    with st.expander(text(f"{HERE}.template")):
        html.show(_text(html.escape(tokenizer.template), "template"))
    box = st.expander(text(f"{HERE}.typed"), key="chat_typed", on_change="rerun")
    if box.open:
        with box:
            _typed(tokenizer)


# ---- what is said


def _boxes():
    """The system prompt, and what comes after the reader's message."""
    _box("system")
    html.show(f'<p class="tw-hint">{words.html(f"{HERE}.where")}</p>')
    goes_on = bool(session.get("reply") or session.get("follow"))
    with st.expander(text(f"{HERE}.more"), expanded=goes_on):
        _box("reply")
        _box("follow")


def _box(name):
    label = text(f"{HERE}.{name}")
    inputs.box(name, label, key=f"chat_{name}", longest=session.LONGEST_LINKED, height=68)


# ---- the prompt as text and as tokens


def _prompt(read):
    """The text by authors, each with its count of tokens."""
    words.heading(f"{HERE}.text")
    if not read.known:
        run.notice(words.html(f"{HERE}.unknown"))
    items = "".join(
        f'<span><span class="{_class((name,))}">{_by(name)}</span> {_counted(n)}</span>'
        for name, n in read.counts.items()
    )
    html.show(f'<p class="tw-authors">{items}</p>')
    parts = "".join(_part(part, read.text) for part in read.parts)
    html.show(_text(parts, "text"))


def _counted(n):
    return words.html(f"{HERE}.{'one_token' if n == 1 else 'n_tokens'}", n=n)


def _text(inside, name):
    """A text in a box that scrolls. name: the key of what the box is."""
    return html.scroll(inside, text(f"{HERE}.{name}"), "tw-chat")


def _part(part, whole):
    shown = html.escape(chats.visible(whole[part.start : part.stop]))
    named = part.author not in ("template", "unknown")
    label = f' data-by="{_said(f"by_{part.author}")}"' if named else ""
    return f'<span class="{_class((part.author,))}"{label}>{shown}</span>'


def _by(author):
    """What an author is called, as HTML."""
    return words.html(f"{HERE}.by_{author}")


def _said(key):
    """A short text inside an attribute."""
    return html.escape(text(f"{HERE}.{key}"), quote=True)


def _class(authors):
    return f"by-{authors[0]}" if len(authors) == 1 else "by-shared"


def _tokens(tokenizer, read):
    """The tokens with their ids, and what stands at the start and at the end."""
    words.heading(f"{HERE}.tokens", n=len(read.tokens))
    html.show(_chips(read.tokens))
    sentences = (f'<p class="tw-caption">{said}</p>' for said in _ends(tokenizer, read))
    html.show("".join(sentences))
    rows = [(t.position, t.id, t.text, "+".join(t.authors)) for t in read.tokens]
    charts.save("chat_tokens", ("position", "id", "token", "written_by"), rows)


def _chips(tokens):
    chips = "".join(map(_chip, tokens[:MOST]))
    more = len(tokens) - MOST
    left_out = f"<p>{words.html(f'{HERE}.left_out', n=f'{more:,}')}</p>" if more > 0 else ""
    return html.scroll(chips, text(f"{HERE}.boxes"), "tw-chips") + left_out


def _chip(t):
    """One token: what it is, its id, whose it is."""
    classes = f"tw-chip {_class(t.authors)}{' control' * t.control}"
    names = [f"by_{author}" for author in t.authors] + ["control"] * t.control
    title = ", ".join(map(_said, names))
    return f'<span class="{classes}" title="{title}">{token(t.text)}<small>{t.id}</small></span>'


def _ends(tokenizer, read):
    """BOS at the start; the template's own system prompt; what is continued."""
    if tokenizer.bos_id is not None:
        bos = Token(tokenizer.display(tokenizer.bos_id))
        yield words.html(f"{HERE}.bos", bos=bos, n=read.n_bos)
    if read.default is not None:
        yield words.html(f"{HERE}.default")
    if read.continuation is not None:
        last = read.tokens[len(read.tokens) - read.continuation :]
        shown = Token("".join(t.text for t in last))
        yield words.html(f"{HERE}.continues", n=read.continuation, last=shown)


# ---- a marker that is typed


def _typed(tokenizer):
    """One message, read as text and read as markers: the reader's own if it names some."""
    own = holds_marker(tokenizer, session.prompt())
    content = session.prompt() if own else run.compute(chats.forged, tokenizer)
    if content is None:
        return run.notice(words.html(f"{HERE}.no_example"))
    read = run.compute(chats.typed, tokenizer, content)
    said = words.html(f"{HERE}.typed_own" if own else f"{HERE}.typed_example")
    html.show(f"<p>{said}</p>")
    html.show(_text(html.escape(chats.visible(content)), "typed"))
    _readings(read)
    if not own:
        label = text(f"{HERE}.put")
        st.button(label, key="chat_put", on_click=session.set_prompt, args=(content,))


def _readings(read):
    """Both readings: the tokens of the message, and how many of each kind there are in all."""
    for name, own in zip(("literal", "obeyed"), read.own, strict=True):
        said = words.html(f"{HERE}.{name}", n=len(own))
        html.show(f'<p class="tw-panel-name">{said}</p>{_chips(own)}')
    head = [words.html(f"{HERE}.{name}") for name in ("count", "as_text", "as_markers")]
    rows = [(token(name), *counts) for name, *counts in read.markers]
    rows += [(words.html(f"{HERE}.all"), len(read.literal.tokens), len(read.obeyed.tokens))]
    html.show(html.table(head, [[str(cell) for cell in row] for row in rows]))
    forges = any(first != second for _, first, second in read.markers)
    said = words.html(f"{HERE}.forges" if forges else f"{HERE}.harmless")
    html.show(f"<p>{said}</p>")
