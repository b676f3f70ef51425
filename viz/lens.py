"""The logit lens as a grid: a row per point of the stream, a column per position, in each cell the
token that is first; as a payload for the canvas component.

Knows arrays, display texts and translated labels. Knows no model or page, and draws nothing:
pages/canvas/lens.js does.
"""

import math
from collections.abc import Sequence

import numpy as np

from viz.payload import pack
from viz.theme import luts

PROBS = ("answer", "target", "first")  # probabilities: of the column's last token, of a chosen one,
BY = (*PROBS, "rank", "entropy", "divergence")  # of the cell's own; what colours the cells
LABELS = frozenset({"tooltip", "selected", "aria", "scale", "target", "save_png", "save_csv"})
MOST_CELLS = 4_000


def lens(
    texts: Sequence[Sequence[str]],
    *,
    answer: np.ndarray,
    target: np.ndarray,
    first: np.ndarray,
    ranks: np.ndarray,
    entropy: np.ndarray,
    divergence: np.ndarray,
    decided: np.ndarray,
    by: str,
    vocab: int,
    rows: Sequence[str],
    columns: Sequence[str],
    row_title: str,
    column_title: str,
    first_column: int = 0,
    selected: Sequence[int] | None = None,
    labels: dict[str, str],
    name: str = "lens",
) -> bytes:
    """The payload of a grid [row, column].

    texts       the token that is first in each cell, as display text
    answer      the probability of the token that is first in the column's last row; target: of one
                that the labels name; first: of the cell's own. ranks: of the one that the labels
                name, 1 = first. entropy and divergence: in nats, not negative
    decided     whether the token is that of the last row: drawn bold, with a bar
    by          which of BY colours the cells: a probability from 0 to 1, the rank on a
                logarithmic scale from the last of `vocab` (no colour) to the first (full), the
                entropy from 0 to that of `vocab` equal tokens, the divergence
                likewise, and full beyond
    labels      the translated strings named in LABELS; "tooltip" and "selected" may use {row}
                {column} {position} {token} {answer} {target}, their probabilities {first_prob}
                {answer_prob} {target_prob}, {rank} {entropy} {divergence}, and a line break starts
                a new line; "scale" says what colours, "target" is the token that is ranked

    ValueError: shapes or counts that do not fit, more than MOST_CELLS, a `by` that is not in BY, a
    missing label, a selected cell outside.
    """
    measures = {"answer": answer, "target": target, "first": first, "rank": ranks}
    measures |= {"entropy": entropy, "divergence": divergence}
    measures = {key: np.asarray(each, np.float64) for key, each in measures.items()}
    _check(texts, measures, decided, by, rows, columns, selected, labels)
    amounts, low, high = _scale(measures[by], by, vocab)
    meta = {
        "texts": [list(line) for line in texts],
        "rows": list(rows),
        "columns": list(columns),
        "row_title": row_title,
        "column_title": column_title,
        "first_column": int(first_column),
        "selected": None if selected is None else [int(i) for i in selected],
        "low": low,
        "high": high,
        "labels": labels,
        "name": name,
    }
    arrays = {key: each.astype(np.float32) for key, each in measures.items()}
    codes = np.rint(255 * np.clip(amounts, 0, 1)).astype(np.uint8)
    return pack(
        meta, codes=codes, decided=np.asarray(decided, np.uint8), **arrays, **luts("amount")
    )


def _scale(values, by, vocab):
    """Amounts of colour 0..1, and what stands at the two ends of the scale."""
    if by == "rank":
        return 1 - np.log(values) / math.log(vocab), f"#{vocab:,}", "#1"
    if by in PROBS:
        return values, "0", "1"
    limit = math.log(vocab)
    beyond = "≥ " if by == "divergence" else ""
    return values / limit, "0", f"{beyond}{limit:.1f}"


def _check(texts, measures, decided, by, rows, columns, selected, labels):
    shape = len(rows), len(columns)
    if by not in BY:
        raise ValueError(f"by is {by!r}, wanted one of {BY}")
    if [len(line) for line in texts] != [shape[1]] * shape[0] or not shape[0] * shape[1]:
        raise ValueError(f"the texts are not {shape[0]} rows of {shape[1]}, or there are none")
    if shape[0] * shape[1] > MOST_CELLS:
        raise ValueError(f"{shape[0] * shape[1]} cells, wanted at most {MOST_CELLS}")
    for name, each in {**measures, "decided": np.asarray(decided)}.items():
        if each.shape != shape:
            raise ValueError(f"{name} has shape {each.shape}, wanted {shape}")
    if selected is not None and not all(0 <= selected[i] < shape[i] for i in (0, 1)):
        raise ValueError(f"cell {tuple(selected)} is outside shape {shape}")
    if missing := LABELS - labels.keys():
        raise ValueError(f"labels lack {sorted(missing)}")
