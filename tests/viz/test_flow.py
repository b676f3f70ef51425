"""The diagram's places come from the graph: one block worked by hand, others by property."""

import numpy as np
import pytest

from viz.flow import flow, layout
from viz.payload import unpack
from viz.theme import lut

BLOCK = {
    "resid_pre": [],
    "attn_norm": ["resid_pre"],
    "attn.q": ["attn_norm"],
    "attn.k": ["attn_norm"],
    "attn.v": ["attn_norm"],
    "attn.q_rot": ["attn.q"],
    "attn.k_rot": ["attn.k"],
    "attn.scores": ["attn.q_rot", "attn.k_rot"],
    "attn.masked": ["attn.scores"],
    "attn.weights": ["attn.masked"],
    "attn.mix": ["attn.weights", "attn.v"],
    "attn.out": ["attn.mix"],
    "resid_mid": ["resid_pre", "attn.out"],
    "mlp_norm": ["resid_mid"],
    "mlp.gate": ["mlp_norm"],
    "mlp.up": ["mlp_norm"],
    "mlp.act": ["mlp.gate"],
    "mlp.hidden": ["mlp.act", "mlp.up"],
    "mlp.out": ["mlp.hidden"],
    "resid_post": ["resid_mid", "mlp.out"],
}
# Attention and MLP side by side, an MLP without a gate, and norms of q and k.
PARALLEL = {
    "resid_pre": [],
    "attn_norm": ["resid_pre"],
    "mlp_norm": ["resid_pre"],
    "q": ["attn_norm"],
    "k": ["attn_norm"],
    "v": ["attn_norm"],
    "q_norm": ["q"],
    "k_norm": ["k"],
    "scores": ["q_norm", "k_norm"],
    "mix": ["scores", "v"],
    "up": ["mlp_norm"],
    "act": ["up"],
    "resid_post": ["resid_pre", "mix", "act"],
}
# Two merges of the same pair would stand on the same spot.
TWINS = {
    "in": [],
    "a": ["in"],
    "b": ["in"],
    "sum": ["a", "b"],
    "product": ["a", "b"],
    "out": ["in", "sum", "product"],
}
LABELS = {
    "aria": "flow",
    "node": "{id} ({label}): {state}",
    "current": "now",
    "input": "read now",
    "done": "done",
    "later": "to come",
}
GRAPHS = pytest.mark.parametrize("graph", [BLOCK, PARALLEL, TWINS], ids=["one", "side", "twins"])


def edges_of(graph):
    return [(source, op) for op, sources in graph.items() for source in sources]


def nodes_of(graph):
    return [{"id": op, "label": op, "role": "residual"} for op in graph]


def payload(**changes):
    given = {
        "current": "attn.scores",
        "inputs": ["attn.q_rot", "attn.k_rot"],
        "done": ["resid_pre"],
        "labels": LABELS,
    }
    nodes = changes.pop("nodes", nodes_of(BLOCK))
    return flow(nodes, edges_of(BLOCK), **(given | changes))


def test_the_block_worked_by_hand():
    places = layout(BLOCK)
    assert places == {
        "resid_pre": (0, 3), "attn_norm": (1, 1),
        "attn.q": (2, 0), "attn.k": (2, 1), "attn.v": (2, 2),
        "attn.q_rot": (3, 0), "attn.k_rot": (3, 1),
        "attn.scores": (4, 0.5), "attn.masked": (5, 0.5), "attn.weights": (6, 0.5),
        "attn.mix": (7, 1.25), "attn.out": (8, 1.25), "resid_mid": (9, 3),
        "mlp_norm": (10, 1), "mlp.gate": (11, 0.5), "mlp.up": (11, 1.5), "mlp.act": (12, 0.5),
        "mlp.hidden": (13, 1), "mlp.out": (14, 1), "resid_post": (15, 3),
    }  # fmt: skip


@GRAPHS
def test_places_do_not_depend_on_names(graph):
    renamed = {op: f"op{i}" for i, op in enumerate(graph)}
    other = layout({renamed[op]: [renamed[s] for s in sources] for op, sources in graph.items()})
    assert list(other.values()) == list(layout(graph).values())


@GRAPHS
def test_edges_run_to_the_right(graph):
    places = layout(graph)
    assert all(places[a][0] < places[b][0] for a, b in edges_of(graph))


@GRAPHS
def test_no_two_nodes_overlap(graph):
    places = list(layout(graph).values())
    for i, (column, lane) in enumerate(places):
        assert all(c != column or abs(y - lane) >= 1 for c, y in places[:i])


@GRAPHS
def test_no_edge_runs_through_a_node(graph):
    """An edge keeps its source's lane until the column before its target."""
    places = layout(graph)
    for a, b in edges_of(graph):
        between = [y for c, y in places.values() if places[a][0] < c < places[b][0]]
        assert all(abs(y - places[a][1]) >= 0.75 for y in between), (a, b)


@GRAPHS
def test_the_stream_is_one_line_below_everything(graph):
    places = layout(graph)
    stream = [op for op, sources in graph.items() if op.startswith("resid") or op in ("in", "out")]
    (bottom,) = {places[op][1] for op in stream}
    assert all(lane < bottom for op, (_, lane) in places.items() if op not in stream)


def test_rows_may_break_only_behind_the_stream():
    assert unpack(payload())[0]["breaks"] == [9, 15]


def test_each_node_has_one_state_and_the_current_one_wins():
    meta, _ = unpack(payload(done=["resid_pre", "attn.q_rot", "attn.scores"]))
    states = {node["id"]: node["state"] for node in meta["nodes"]}
    assert states["attn.scores"] == "current"
    assert states["attn.q_rot"] == states["attn.k_rot"] == "input"
    assert [op for op, state in states.items() if state == "done"] == ["resid_pre"]
    assert list(states.values()).count("later") == 16


def marked(op, **marks):
    """The nodes of the block, one with marks."""
    return [node | marks if node["id"] == op else node for node in nodes_of(BLOCK)]


def test_titles_are_whole_sentences_and_what_the_node_adds():
    nodes = marked("attn.q", lines=["from the file: W_q"], weight=True)
    meta, _ = unpack(payload(nodes=nodes))
    drawn = {node["id"]: node for node in meta["nodes"]}
    assert drawn["attn.scores"]["title"] == ["attn.scores (attn.scores): now"]
    assert drawn["attn.q"]["title"] == ["attn.q (attn.q): to come", "from the file: W_q"]
    assert [id for id, node in drawn.items() if node["weight"]] == ["attn.q"]


def test_what_comes_before_and_after_stands_above_the_ends():
    ends = [{"id": id, "label": id, "role": "residual"} for id in ("E", "P", "n", "z")]
    meta, _ = unpack(payload(nodes=ends[:2] + nodes_of(BLOCK) + ends[2:], before="EP", after="nz"))
    places = {node["id"]: (node["column"], node["lane"]) for node in meta["nodes"]}
    assert [places[id] for id in ("E", "P", "resid_pre")] == [(0, 1), (0, 2), (0, 3)]
    assert [places[id] for id in ("resid_post", "n", "z")] == [(15, 3), (15, 2), (15, 1)]
    chains = [["E", "P"], ["P", "resid_pre"], ["resid_post", "n"], ["n", "z"]]
    assert meta["edges"][-4:] == chains
    assert {op: places[op] for op in BLOCK} == layout(BLOCK)


def test_a_door_says_itself_what_it_is():
    door = {"id": "to", "label": "2", "role": "residual", "door": True, "lines": ["on to 2"]}
    meta, _ = unpack(payload(nodes=[*nodes_of(BLOCK), door], after=["to"]))
    assert meta["nodes"][-1]["title"] == ["on to 2"] and meta["nodes"][-1]["door"]


def test_pictures_become_codes_of_their_palettes():
    signed = np.array([[-2, -1, 0, 2, 9, np.nan]], np.float32)
    shares = np.array([[0, 0.5], [1, np.nan]], np.float32)
    pictures = {"attn.q": (signed, 2.0, False), "attn.weights": (shares, 1.0, True)}
    meta, arrays = unpack(payload(pictures=pictures))
    drawn = {node["id"]: node["picture"] for node in meta["nodes"] if node["picture"]}
    assert arrays["codes"].tolist() == [1, 64, 128, 255, 255, 0, 1, 128, 255, 0]
    assert drawn["attn.q"] == {"first": 0, "shape": [1, 6], "palette": "signed"}
    assert drawn["attn.weights"] == {"first": 6, "shape": [2, 2], "palette": "amount"}
    assert (arrays["signed_dark"] == lut("signed", dark=True)).all()


@pytest.mark.parametrize(
    "changes, named",
    [
        ({"current": "attn.z"}, "attn.z"),
        ({"done": ["nope"]}, "nope"),
        ({"pictures": {"nope": (np.ones((1, 1)), 1.0, False)}}, "nope"),
        ({"after": ["gone"]}, "gone"),
        ({"labels": {"aria": "flow"}}, "node"),
    ],
)
def test_unknown_names_are_refused_by_name(changes, named):
    with pytest.raises(ValueError, match=named):
        payload(**changes)


def test_an_unknown_role_is_refused():
    nodes = [{"id": "a", "label": "a", "role": "magic"}]
    with pytest.raises(ValueError, match="magic"):
        flow(nodes, [], current="a", inputs=[], done=[], labels=LABELS)


def test_an_edge_against_the_order_is_refused():
    with pytest.raises(ValueError, match="a reads"):
        layout({"a": ["b"], "b": []})
