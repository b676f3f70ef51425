"""One head over several texts of the reader's: where it looks, and what muting it does, in each.
Knows core's muting and the session.
"""

import dataclasses

import streamlit as st

from core import run as run_spec
from core.analyse import muting
from pages.parts import charts, html, inputs, listing, models, run, session, words
from pages.parts.html import number, percent
from pages.parts.words import text

HERE = "atlas.effect"
MOST, LONGEST, SIGNS = 8, 64, 2000  # texts; tokens of one; characters of all
COLUMNS = ("text", "most", "first", "muted", "direct")


def draw(trace, place) -> None:
    """The box with the texts, a line about each, and what they say together."""
    words.caption(f"{HERE}.several_caption", most=MOST, longest=LONGEST, **_named(place))
    label = text(f"{HERE}.texts")
    inputs.box("ask", label, key="effect_ask", longest=SIGNS, height=190, shown=_examples())
    lines, n_left_out = _lines(trace)
    if n_left_out:
        words.caption(f"{HERE}.left_out", n=n_left_out, most=MOST, longest=LONGEST)
    if not lines:
        return run.notice(words.html(f"{HERE}.none"))
    found = _run(trace, place, lines)
    _together([sample for _, sample in found], place)
    _table(lines, found)
    _save(lines, found, place)


def _named(place):
    return {"layer": place[0], "head": place[1]}


def _examples():
    """Texts to begin with, from the world of the model."""
    return text(f"{HERE}.example_{models.presets(session.get('model'))[0].of}")


def _lines(trace):
    """The texts, and how many lines are left out: too many, or too long."""
    asked = session.typed("ask", SIGNS) or _examples()
    lines = [line for line in asked.splitlines() if line.strip()]
    encode, control = trace.model.tokenizer.encode, trace.spec.control
    fit = [each for each in lines[:MOST] if 0 < len(encode(each, control)) <= LONGEST]
    return fit, len(lines) - len(fit)


def _run(trace, place, lines):
    """The run of every text with what the head does there; a bar says how far it is."""
    found, bar = [], st.progress(0.0)
    for n, line in enumerate(lines):
        bar.progress(n / len(lines), text(f"{HERE}.running", n=n + 1, of=len(lines)))
        own = run.compute(run_spec, _spec(trace, line))
        found.append((own, run.compute(muting.sample, own, *place)))
    bar.empty()
    return found


def _spec(trace, line):
    """The run of another text in the same way: plain, or in the template of a chat."""
    if trace.spec.messages is not None:
        return dataclasses.replace(trace.spec, messages=(("user", line),))
    return dataclasses.replace(trace.spec, prompt=line, ids=None)


def _together(samples, place):
    """In how many texts muting lowers the first candidate; that one text is not enough."""
    counts = {name: sum(each.raised == sign for each in samples) for name, sign in SIGN.items()}
    counts |= {"n": len(samples), "changed": sum(each.changed for each in samples)}
    counts["helps"] = sum(each.direct > 0 for each in samples)
    html.show(f'<p class="tw-mute-said">{words.html(f"{HERE}.counts", **counts)}</p>')
    words.caption(f"{HERE}.{'one_text' if len(samples) == 1 else 'no_role'}", **_named(place))


SIGN = {"lower": -1, "higher": 1}


def _table(lines, found):
    """A row for each text; choosing one looks at it closely."""
    rows = [_row(line, *each) for line, each in zip(lines, found, strict=True)]
    head = [words.html(f"{HERE}.col_{name}") for name in COLUMNS]
    listing.show("sample", head, rows, range(len(rows)), None, text(f"{HERE}.samples_label"))
    listing.listen("sample", lambda n: _open(lines[n]))
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


def _save(lines, found, place):
    head = ("text", "last token", "looks at", "weight", "besides the first", "weight besides")
    head += ("first choice", "probability", "probability muted", "writes towards it")
    rows = []
    for line, (trace, each) in zip(lines, found, strict=True):
        other = None if each.other is None else trace.tokens[each.other]
        rows.append(
            (line, trace.tokens[-1], trace.tokens[each.key], each.weight, other)
            + (each.other_weight, trace.model.tokenizer.display(each.token))
            + (each.before, each.after, each.direct)
        )
    charts.save(f"texts_layer{place[0]}_head{place[1]}", head, rows)
