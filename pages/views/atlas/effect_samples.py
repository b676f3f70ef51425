"""One head over several texts of the reader's: where it looks, and what muting it does, in each.
Knows core's muting and the session.
"""

import dataclasses

import streamlit as st

from core import run as run_spec
from core.analyse import muting
from core.analyse.finite import check_stream
from core.errors import TokenwalkError
from pages.parts import charts, html, inputs, listing, models, run, session, words
from pages.parts.html import Token, number, percent
from pages.parts.words import text

HERE = "atlas.effect"
MOST, LONGEST, SIGNS = 8, 64, 2000  # texts; tokens of one; characters of all
SHORT = 40  # characters of a text in a sentence
COLUMNS = ("text", "most", "first", "muted", "direct")


def draw(trace, place) -> None:
    """The box with the texts, a line about each, and what they say together."""
    words.caption(f"{HERE}.several_caption", most=MOST, longest=LONGEST, **_named(place))
    label = text(f"{HERE}.texts")
    inputs.box("ask", label, key="effect_ask", longest=SIGNS, height=190, shown=_proposed(trace))
    lines, n_left_out = _lines(trace)
    if n_left_out:
        words.caption(f"{HERE}.left_out", n=n_left_out, most=MOST, longest=LONGEST)
    if not lines:
        return run.notice(words.html(f"{HERE}.none"))
    found, refused = _run(trace, place, lines)
    if found:
        _together([sample for *_, sample in found], place)
        _table(found)
        _save(found, place)
    _refused(refused)


def _named(place):
    return {"layer": place[0], "head": place[1]}


def _proposed(trace):
    """Texts to begin with: the reader's own, where it is a line that fits, then some from the world
    of the model.
    """
    own, examples = (
        session.prompt(),
        text(f"{HERE}.example_{models.presets(session.get('model'))[0].of}"),
    )
    others = [line for line in examples.splitlines() if line not in ("", own)]
    return "\n".join([own] * (len(own.splitlines()) == 1 and _fits(trace, own)) + others)


def _fits(trace, line):
    return 0 < len(trace.model.tokenizer.encode(line, trace.spec.control)) <= LONGEST


def _lines(trace):
    """The texts, and how many lines are left out: too many, or too long."""
    asked = session.typed("ask", SIGNS) or _proposed(trace)
    lines = [line for line in asked.splitlines() if line.strip()]
    fit = [each for each in lines[:MOST] if _fits(trace, each)]
    return fit, len(lines) - len(fit)


def _run(trace, place, lines):
    """Of every text: the line, its run and what the head does there; and the lines that the model
    refuses, each with core's error. A bar says how far it is.
    """
    found, refused, bar = [], [], st.progress(0.0)
    for n, line in enumerate(lines):
        bar.progress(n / len(lines), text(f"{HERE}.running", n=n + 1, of=len(lines)))
        try:
            with run.COMPUTE:
                own = run_spec(_spec(trace, line))
                check_stream(own)
                found.append((line, own, muting.sample(own, *place)))
        except TokenwalkError as error:
            refused.append((line, error))
    bar.empty()
    return found, refused


def _refused(refused):
    """A sentence for each text that could not be run: the page goes on without it."""
    for line, error in refused:
        why = html.Made(words.error(error))
        run.notice(words.html(f"{HERE}.refused", line=Token(_short(line)), why=why))


def _short(line):
    return line if len(line) <= SHORT else line[: SHORT - 1] + "…"


def _spec(trace, line):
    """The run of another text in the same way: plain, or in the template of a chat."""
    if trace.spec.messages is not None:
        return dataclasses.replace(trace.spec, messages=(("user", line),))
    return dataclasses.replace(trace.spec, prompt=line, ids=None)


def _together(samples, place):
    """In how many texts muting lowers the first candidate; that one text is not enough."""
    counts = muting.counted(samples)
    helps = {0: "_none", len(samples): "_all"}.get(counts["helps"], "")
    keys = ("counts", f"changed{'_none' * (not counts['changed'])}", f"helps{helps}")
    said = "".join(words.html(f"{HERE}.{key}", **counts) for key in keys)
    html.show(f'<p class="tw-mute-said">{said}</p>')
    words.caption(f"{HERE}.{'one_text' if len(samples) == 1 else 'no_role'}", **_named(place))


def _table(found):
    """A row for each text; choosing one looks at it closely."""
    rows = [_row(*each) for each in found]
    head = [words.html(f"{HERE}.col_{name}") for name in COLUMNS]
    listing.show("sample", head, rows, range(len(rows)), None, text(f"{HERE}.samples_label"))
    listing.listen("sample", lambda n: _open(found[n][0]))
    words.caption(f"{HERE}.open")


def _open(line):
    session.set_prompt(line)
    session.put(kind=None)


def _row(line, trace, sample):
    token, display = html.token, trace.model.tokenizer.display
    looks = _looks(trace, sample.key, sample.weight)
    if sample.other not in (None, sample.key):  # the first token, where there may be little to get
        looks += f" · {_looks(trace, sample.other, sample.other_weight)}"
    muted = f"{percent(sample.before)} → <b>{percent(sample.after)}</b>"
    shown = html.rich("[[line]]", line=line)
    return [
        f'<span class="tw-sample" title="{html.escape(line, quote=True)}">{shown}</span>',
        looks,
        token(display(sample.token)),
        muted,
        number(sample.direct, 3),
    ]


def _looks(trace, key, weight):
    return f"{html.token(trace.tokens[key], 'key')} {weight:.2f}"


def _save(found, place):
    head = ("text", "last token", "looks at", "weight", "besides the first", "weight besides")
    head += ("first choice", "probability", "probability muted", "writes towards it")
    rows = []
    for line, trace, each in found:
        other = None if each.other is None else trace.tokens[each.other]
        rows.append(
            (line, trace.tokens[-1], trace.tokens[each.key], each.weight, other)
            + (each.other_weight, trace.model.tokenizer.display(each.token))
            + (each.before, each.after, each.direct)
        )
    charts.save(f"texts_layer{place[0]}_head{place[1]}", head, rows, text(f"{HERE}.saved_texts"))
