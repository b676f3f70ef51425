"""The whole vocabulary: search it, and lists of what is remarkable in it."""

from collections import Counter

import streamlit as st

from core.analyse import lookup, source
from pages.parts import charts, html, inputs, lesson, run, session, style, words
from pages.parts.views import Shown
from pages.parts.words import text
from viz import figure
from viz.tally import tally

HERE = "tokens.vocabulary"
LISTS = ("search", "longest", "half", "control", "scripts", "none")  # by number in a link
LONGEST = 200  # characters of a search
MOST_SHOWN, MOST_BYTES, MOST_PARTS = 100, 16, 40  # rows, bytes in a row, tokens of a text
SOURCE = source.of(lookup.asked, lookup.search, lookup.script, lookup.scripts, lookup.with_space)


def view(trace, position: int) -> Shown:
    """The view; a search begins with the token at the chosen position."""
    listing = run.compute(lookup.listing, trace.model)
    which = _which(listing)
    return Shown(
        lambda: _draw(trace, position, listing, which), {}, lambda: _answer(listing), SOURCE
    )


def _which(listing):
    """The chosen list; the search where a link names none that there is."""
    number = session.below("cell", len(LISTS)) or 0
    if LISTS[number] not in _offered(listing):
        session.settle(cell=None)
        return LISTS[0]
    return LISTS[number]


def _offered(listing):
    """Rows without a token are a list of their own only where there are some."""
    return LISTS if "none" in listing.kinds else LISTS[:-1]


def _asked(listing, id):
    """What is searched for: what was typed, else the chosen token."""
    return session.typed("ask", LONGEST) or lookup.written(listing, id)


def _answer(listing):
    """How many entries begin with a space, and of how many the rest is an entry, too."""
    spaced, both = lookup.with_space(listing)
    share = html.percent(spaced / len(listing.data))
    return {"n_spaced": f"{spaced:,}", "share": share, "n_both": f"{both:,}"}


def _draw(trace, position, listing, which):
    _choice(listing, which)
    {
        "search": lambda: _search(trace, listing, trace.ids[position]),
        "longest": lambda: _longest(trace, listing),
        "half": lambda: _of_kind(trace, listing, "half", n_same=f"{lookup.same_mark(listing):,}"),
        "control": lambda: _of_kind(trace, listing, "control", "unknown"),
        "none": lambda: _of_kind(trace, listing, "none"),
        "scripts": lambda: _scripts(trace, listing),
    }[which]()
    html.show(f'<p class="tw-caption">{_kinds(listing)}</p>')


def _choice(listing, which):
    inputs.switch(
        _offered(listing),
        which,
        key="vocabulary_list",
        label=text(f"{HERE}.which"),
        name=lambda name: text(f"{HERE}.list_{name}"),
        pick=lambda name: session.put(cell=LISTS.index(name) or None),
    )


def _search(trace, listing, id):
    """A box, and what it finds."""
    asked = _asked(listing, id)
    _search_box(listing, asked, id)
    _found(trace, listing, asked)


def _search_box(listing, asked, id):
    label = text(f"{HERE}.box")
    inputs.box("ask", label, key="vocabulary_ask", longest=LONGEST, shown=asked)
    values = {"id": f"#{id}", "hex": f"0x{_hex(listing.data[id][:4], MOST_BYTES)}"}
    html.show(f'<p class="tw-hint">{words.html(f"{HERE}.hint", **values)}</p>')


def _found(trace, listing, asked):
    """What a search finds; where that is nothing, the tokens that such a text becomes."""
    kind, wanted = lookup.asked(asked)
    ids = run.compute(lookup.search, listing, asked)
    _entries(trace, listing, ids, f"found_{kind}")
    if not ids and kind == "text":
        parts = run.compute(trace.model.tokenizer.encode, wanted.decode())
        shown = " ".join(html.token(trace.model.tokenizer.display(id)) for id in parts[:MOST_PARTS])
        sentence = words.html(f"{HERE}.becomes", n=len(parts))
        html.show(f"<p>{sentence}</p><p>{shown}{' …' * (len(parts) > MOST_PARTS)}</p>")


def _longest(trace, listing):
    _entries(trace, listing, lookup.longest(listing), "found_longest")
    longest = int(listing.lengths.max())
    words.heading(f"{HERE}.lengths", longest=longest)
    counts = listing.counts
    drawn = tally(
        counts,
        role_name="residual",
        title=text(f"{HERE}.length_axis"),
        count_title=text(f"{HERE}.count_axis"),
        hover=text(f"{HERE}.length_hover", x="%{x}", y="%{y:,}"),
        dark=style.dark(),
    )
    st.plotly_chart(
        drawn,
        key="lengths",
        config=figure.saving("lengths"),
        alt=text(f"{HERE}.lengths_alt"),
    )
    charts.save("lengths", ("bytes", "entries"), list(enumerate(counts.tolist())))


def _of_kind(trace, listing, *kinds, **values):
    _entries(trace, listing, listing.of_kind(*kinds), f"found_{kinds[0]}", **values)


def _entries(trace, listing, ids, caption, **values):
    """A table of the first of these entries; the file has all of them."""
    values |= {"n": f"{len(ids):,}", "vocab": f"{len(listing.data):,}"}
    said = words.html(f"{HERE}.{caption}", **values)
    if len(ids) > MOST_SHOWN:
        said = lesson.joined(said, words.html(f"{HERE}.first", n=MOST_SHOWN))
    html.show(f'<p class="tw-panel-name">{said}</p>')
    if not ids:
        return
    head = [words.html(f"{HERE}.{name}") for name in ("id", "text", "bytes", "kind")]
    rows = [_row(trace.model.tokenizer, listing, id) for id in ids[:MOST_SHOWN]]
    table = html.table(head, rows, "left tw-entries")
    html.show(html.scroll(table, text(f"{HERE}.which"), "tw-listing"))
    _save(trace, listing, ids)


def _row(words_of, listing, id):
    data = listing.data[id]
    shown = [str(id), html.token(words_of.display(id))]
    shown.append(f"<code>{_hex(data, MOST_BYTES)}</code> ({len(data)})")
    return [*shown, words.html(f"{HERE}.kind_{listing.kinds[id]}")]


def _hex(data, most):
    return data[:most].hex(" ").upper() + " …" * (len(data) > most)


def _save(trace, listing, ids):
    """All of them as CSV, made when it is asked for."""
    display, head = trace.model.tokenizer.display, ("id", "text", "bytes", "kind")

    def made():
        rows = ((id, display(id), listing.data[id].hex(), listing.kinds[id]) for id in ids)
        return figure.table(head, rows)

    st.download_button(
        text("matrix.save_csv"),
        made,
        file_name="vocabulary.csv",
        mime="text/csv",
        key="save_vocabulary",
        on_click="ignore",
        type="tertiary",
    )


def _scripts(trace, listing):
    """How many entries hold characters of which script."""
    found = run.compute(lambda: listing.scripts)
    words.heading(f"{HERE}.scripts")
    head = ("script", "n_entries", "share", "examples")
    head = [words.html(f"{HERE}.{name}") for name in head]
    rows = [_script(trace.model.tokenizer, listing, script, found[0].n) for script in found]
    table = html.table(head, rows, "left tw-scripts")
    html.show(html.scroll(table, text(f"{HERE}.scripts")))
    words.caption(f"{HERE}.scripts_note")
    charts.save("scripts", ("script", "entries"), [(script.name, script.n) for script in found])


def _script(words_of, listing, script, largest):
    width = f"{script.n / largest:.1%}"
    meter = f'<span class="tw-meter"><i style="width:{width}"></i></span>'
    shown = " ".join(html.token(words_of.display(id)) for id in script.first)
    name = words.html(f"{HERE}.script_{script.name}")
    return [name, f"{script.n:,}{meter}", html.percent(script.n / len(listing.data)), shown]


def _kinds(listing):
    """How many entries there are of each kind."""
    counts = Counter(listing.kinds)
    there = [
        f"{words.html(f'{HERE}.kind_{kind}')} <b>{counts[kind]:,}</b>"
        for kind in lookup.KINDS
        if counts[kind]
    ]
    whole = words.html(f"{HERE}.kinds", vocab=f"{len(listing.data):,}")
    return lesson.joined(whole, " · ".join(there))
