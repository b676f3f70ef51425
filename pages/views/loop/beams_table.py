"""The texts beside each other: those of the beams, the greedy one, and one by dice."""

from core.decode import beside
from core.decode.tree import rescored
from pages.parts import charts, html, listing, session, words
from pages.parts.html import number
from pages.parts.words import text
from pages.views.loop import beams_settings, beams_tree

HERE = "loop.beams"
COLUMNS = ("way", "text", "n", "sum", "score", "times")


def show(race, node) -> None:
    """A row for each text; one of a beam chooses its last branch. node: the chosen one, if any."""
    words.heading(f"{HERE}.texts")
    if race.finished and race.greedy.n:
        html.show(f"<p>{_verdict(race)}</p>")
    power = beams_settings.values()[1]
    rows = [_row(race, f"{n}", each, each.score) for n, each in enumerate(race.finished, 1)]
    others = {"greedy": race.greedy, "sampled": race.sampled}
    foot = [
        _row(race, text(f"{HERE}.way_{name}"), each, each.score(power))
        for name, each in others.items()
        if each.n
    ]
    numbers = [each.n * beams_tree.APART + each.place for each in race.finished]
    here = node and node.level * beams_tree.APART + node.place
    head = [words.html(f"{HERE}.head_{each}") for each in COLUMNS]
    listing.show("text", head, rows, numbers, here, text(f"{HERE}.texts"), foot)
    listing.listen("text", lambda each: session.put(cell=each))
    words.caption(f"{HERE}.texts_caption")
    _save(race, others, power)


def _row(race, way, each, score):
    times = beside.times(each.sum, race.greedy.sum) if race.greedy.n else float("nan")
    ended = text(f"{HERE}.ended" if each.is_end else f"{HERE}.cut")
    said = html.rich("[[text]]", text=each.text)
    shown = f'<span class="tw-beams-text">{said}</span><small class="tw-hint">{ended}</small>'
    exact = f'<span title="{each.sum!r}">{number(each.sum)}</span>'
    return [way, shown, str(each.n), exact, number(score), number(times, 2)]


def _verdict(race):
    """Whether the beams found a more probable text than the greedy choice."""
    best = most_probable(race)
    times = beside.times(best.sum, race.greedy.sum)
    if best.ids == race.greedy.ids:
        return words.html(f"{HERE}.same")
    key = "better" if times > 1 else "worse"
    alike = beside.n_alike(best.ids, race.greedy.ids)
    return words.html(f"{HERE}.{key}", times=number(times, 2), n=alike)


def most_probable(race):
    """The finished text with the largest sum, whatever the length penalty says."""
    return rescored(race.finished, 0)[0]


def _save(race, others, power):
    rows = [(n, each.text, each.n, each.sum, each.score) for n, each in enumerate(race.finished, 1)]
    rows += [(name, w.text, w.n, w.sum, w.score(power)) for name, w in others.items() if w.n]
    charts.save("beam_texts", ("way", "text", "tokens", "sum", "score"), rows)
