"""A score as a running sum: from the embedding through attention and MLP of every layer. Knows
core's attribution and charts.
"""

from pages.parts import charts, html, style, words
from pages.parts.html import number
from pages.parts.words import text
from pages.views.lens import aim
from viz.waterfall import waterfall

HERE = "lens.parts"
ROLES = ("residual", "attention", "mlp", "logits")


def show(trace, asked, found, chosen, choose) -> None:
    """The sum from the embedding to the score, layer by layer. choose(part) is called for a part
    that a reader clicked.
    """
    words.heading(f"{HERE}.running", score=aim.named(trace, asked), value=number(found.recorded))
    roles = {name: _coloured(name) for name in ("attention", "mlp")}
    words.caption(f"{HERE}.running_caption", n=f"{len(found.parts):,}", **roles)
    so_far, label = found.so_far, text(f"{HERE}.axis_{asked.kind}")
    names = _bar_names(found, so_far)
    drawn = waterfall(
        so_far,
        roles=ROLES,
        names=names,
        first=text(f"{HERE}.start"),
        last=text(f"{HERE}.end"),
        title=label,
        pair_title=text(f"{HERE}.layer"),
        chosen=_bar_of(chosen),
        dark=style.dark(),
    )
    alt = text(f"{HERE}.running_alt", n=trace.config.n_layers)
    how = {"name": "running_sum", "alt": alt, "names": names, "chosen": _bar_of(chosen)}
    charts.clickable(drawn, "parts_running", lambda n: choose(_of_bar(found, n)), **how)


def _coloured(role):
    return html.Made(f'<b class="{role}">{words.html(f"{HERE}.{role}")}</b>')


def _bar_names(found, so_far):
    """What each bar says: what it is, what it adds, and the sum so far."""
    names = [text(f"{HERE}.bar_embedding")]
    for layer in range(len(found.mlps)):
        names += [text(f"{HERE}.bar_{kind}", layer=layer) for kind in ("attention", "mlp")]
    values = zip(names, found.steps.tolist(), so_far.tolist(), strict=True)
    said = [
        text(f"{HERE}.bar", name=name, value=number(value, 3), sum=number(whole, 3))
        for name, value, whole in values
    ]
    return [*said, text(f"{HERE}.bar_sum", sum=number(found.total, 3))]


def _bar_of(part):
    """The number of the bar that a part belongs to."""
    if part.layer is None:
        return 0
    return 1 + 2 * part.layer + (part.kind == "mlp")


def _of_bar(found, bar):
    """The part that a bar stands for: of attention, the layer's largest head."""
    if bar == 0 or bar > 2 * len(found.mlps):
        return found.parts[0]
    layer, is_mlp = divmod(bar - 1, 2)
    if is_mlp:
        return found.part("mlp", layer)
    return found.largest_head(layer)
