"""The data-flow diagram of one block: which op reads which.

Knows graphs: columns, lanes and the state of each node. Knows no op by name and no model; pixels
are the browser's. Columns follow the longest path, lanes follow the branches, and the ops that no
edge jumps over (the residual stream) share one straight line at the bottom. What comes before the
block and behind it stands above its ends.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import count, pairwise

import numpy as np

from viz.payload import pack
from viz.theme import BACKGROUND, PALETTES, ROLES, lut

STATES = ("current", "input", "done", "later")
LABELS = ("aria", "node", *STATES)
MODES = tuple(BACKGROUND)

Inputs = Mapping[str, Sequence[str]]
Picture = tuple[np.ndarray, float, bool]


def flow(
    nodes: Sequence[Mapping],
    edges: Collection[tuple[str, str]],
    *,
    current: str,
    inputs: Collection[str],
    done: Collection[str],
    labels: Mapping[str, str],
    before: Sequence[str] = (),
    after: Sequence[str] = (),
    pictures: Mapping[str, Picture] | None = None,
    legend: Sequence[tuple[str, str]] = (),
) -> bytes:
    """The payload of the diagram.

    nodes: {"id", "label", "role"} in the order of the pass; edges: (from, to) by id. A node may
    have "lines", told below its name; "weight": True for one that reads the file; "number", a mark;
    "door": True for one that is no step of this block and says itself, in "lines", what it is.
    `current` is filled, `inputs` are outlined, `done` ops are plain, all others fade.
    labels: "aria" names the diagram; "node" describes a node with {id}, {label} and {state}; the
    four states in words.
    before, after: chains of nodes that stand above the first op and above the last one; they are
    in `nodes`, their edges are drawn here.
    pictures: (values [row, column], the magnitude of full colour, whether they are shares) by id;
    NaN is left open.
    legend: ("weight", "picture" or "number", text) for the line below.
    ValueError: an unknown id or role, a missing label, or an edge that runs against the order.
    """
    ids, pictures = [node["id"] for node in nodes], dict(pictures or {})
    named = {current, *inputs, *done, *before, *after, *pictures}
    _check(nodes, edges, named, labels)
    inner = [op for op in ids if op not in (*before, *after)]
    core = layout({op: [a for a, b in edges if b == op] for op in inner})
    chains = [*pairwise([*before, inner[0]]), *pairwise([inner[-1], *after])]
    places, states = core | _stacked(core, before, after), {op: "later" for op in ids}
    states |= dict.fromkeys(done, "done") | dict.fromkeys(inputs, "input") | {current: "current"}
    cells, codes = _coded(pictures)
    return pack(
        {
            "nodes": [
                {
                    **_drawn(node, states[node["id"]], places[node["id"]]),
                    "title": _title(node, states[node["id"]], labels),
                    "picture": cells.get(node["id"]),
                }
                for node in nodes
            ],
            "edges": [*edges, *chains],
            "breaks": _breaks(core),
            "stream": _bottom(core),
            "aria": labels["aria"],
            "colours": ROLES,
            "legend": [list(each) for each in legend],
        },
        codes=codes,
        **{f"{name}_{mode}": lut(name, mode == "dark") for name in PALETTES for mode in MODES},
    )


def _coded(pictures: Mapping[str, Picture]) -> tuple[dict[str, dict], np.ndarray]:
    """Where the cells of each picture lie in one array of colour codes, uint8: 0 is nothing, the
    others count in the palette; 128 is about zero in a signed one.
    """
    cells, parts, first = {}, [], 0
    for op, (values, limit, amount) in pictures.items():
        share = np.clip(values / limit, 0 if amount else -1, 1)
        code = 1 + 254 * share if amount else 128 + 127 * share
        parts.append(np.rint(np.nan_to_num(code, nan=0.0)).astype(np.uint8).ravel())
        palette = "amount" if amount else "signed"
        cells[op] = {"first": first, "shape": list(values.shape), "palette": palette}
        first += parts[-1].size
    return cells, np.concatenate(parts) if parts else np.zeros(0, np.uint8)


def layout(inputs: Inputs) -> dict[str, tuple[int, float]]:
    """Where each op stands: {op: (column, lane)}, lane 0 at the top.

    `inputs` names what each op reads, in the order of the pass. Every edge runs to a later column;
    two ops in a column are at least one lane apart. ValueError: an op reads a later or unknown op.
    Example: {"a": [], "b": ["a"], "c": ["a", "b"]} -> a (0, 1), b (1, 0), c (2, 1).
    """
    columns = _columns(inputs)
    stream = _stream(inputs, columns)
    segments = [_spread(_lanes(ops, inputs), columns) for ops in _segments(inputs, columns, stream)]
    lowest = max((max(lanes.values()) for lanes in segments), default=-1)
    lanes = dict.fromkeys(stream, float(lowest + 1))
    for segment in segments:
        shift = (lowest - max(segment.values())) / 2
        lanes |= {op: lane + shift for op, lane in segment.items()}
    return {op: (columns[op], lanes[op]) for op in inputs}


def _columns(inputs: Inputs) -> dict[str, int]:
    """The number of edges on the longest path to each op."""
    columns: dict[str, int] = {}
    for op, sources in inputs.items():
        if unknown := [source for source in sources if source not in columns]:
            raise ValueError(f"{op} reads {unknown}, which no earlier op makes")
        columns[op] = 1 + max((columns[source] for source in sources), default=-1)
    return columns


def _stream(inputs: Inputs, columns: Mapping[str, int]) -> list[str]:
    """The ops that all data passes: alone in their column, and no edge jumps over it."""
    spans = [(columns[a], columns[op]) for op, sources in inputs.items() for a in sources]
    alone = [op for op in inputs if list(columns.values()).count(columns[op]) == 1]
    return [op for op in alone if not any(a < columns[op] < b for a, b in spans)]


def _segments(inputs: Inputs, columns: Mapping[str, int], stream: Sequence[str]) -> list[list[str]]:
    """The other ops, grouped by the stream op before them."""
    groups: dict[int, list[str]] = {}
    for op in inputs:
        if op not in stream:
            before = sum(columns[one] < columns[op] for one in stream)
            groups.setdefault(before, []).append(op)
    return list(groups.values())


def _lanes(ops: Sequence[str], inputs: Inputs) -> dict[str, float]:
    """One lane per branch; a merge stands between its inputs, a root between its branches."""
    sources = {op: [one for one in inputs[op] if one in ops] for op in ops}
    branches = {op: [one for one in ops if sources[one] == [op]] for op in ops}
    free, lanes = count(), {}
    for op in ops:
        if not sources[op] and len(branches[op]) > 1:
            continue
        forked = len(sources[op]) == 1 and len(branches[sources[op][0]]) > 1
        lanes[op] = next(free) if forked or not sources[op] else _mean(lanes, sources[op])
    return lanes | {op: _mean(lanes, branches[op]) for op in ops if op not in lanes}


def _mean(lanes: Mapping[str, float], ops: Sequence[str]) -> float:
    return sum(lanes[op] for op in ops) / len(ops)


def _spread(lanes: Mapping[str, float], columns: Mapping[str, int]) -> dict[str, float]:
    """The same lanes, pushed down where two ops of a column would overlap."""
    spread: dict[str, float] = {}
    lowest: dict[int, float] = {}
    for op in sorted(lanes, key=lanes.__getitem__):
        spread[op] = max(lanes[op], lowest.get(columns[op], lanes[op]))
        lowest[columns[op]] = spread[op] + 1
    return spread


def _bottom(places: Mapping[str, tuple[int, float]]) -> float:
    return max(lane for _, lane in places.values())


def _breaks(places: Mapping[str, tuple[int, float]]) -> list[int]:
    """The columns behind which a row may end: those of the stream, but for the very first."""
    return sorted(c for c, lane in places.values() if c > 0 and lane == _bottom(places))


def _stacked(places: Mapping[str, tuple[int, float]], before: Sequence[str], after: Sequence[str]):
    """The places of the chains: above the first op downwards, above the last one upwards."""
    bottom, last = _bottom(places), max(column for column, _ in places.values())
    above = {op: (0, bottom - up) for up, op in enumerate(reversed(before), 1)}
    return above | {op: (last, bottom - up) for up, op in enumerate(after, 1)}


def _drawn(node: Mapping, state: str, place: tuple[int, float]) -> dict:
    column, lane = place
    drawn = {key: node[key] for key in ("id", "label", "role")}
    marks = {key: node.get(key) for key in ("weight", "number", "door")}
    return drawn | marks | {"state": state, "column": column, "lane": lane}


def _title(node: Mapping, state: str, labels: Mapping[str, str]) -> list[str]:
    words = {"id": node["id"], "label": node["label"], "state": labels[state]}
    name = [] if node.get("door") else [labels["node"].format(**words)]
    return [*name, *node.get("lines", ())]


def _check(nodes: Sequence[Mapping], edges: Collection, named: set[str], labels: Mapping) -> None:
    ids = {node["id"] for node in nodes}
    if unknown := named.union(*edges) - ids:
        raise ValueError(f"unknown ops {sorted(unknown)}, wanted some of {sorted(ids)}")
    if unknown := {node["role"] for node in nodes} - set(ROLES):
        raise ValueError(f"unknown roles {sorted(unknown)}, wanted some of {sorted(ROLES)}")
    if missing := [name for name in LABELS if name not in labels]:
        raise ValueError(f"labels lack {missing}")
