"""What heads do and rollout, a second time: from the attentions that transformers itself returns,
with torch in double precision, each definition written out row by row. Knows nothing of core.
"""

import torch


def attentions(model, ids) -> torch.Tensor:
    """Every map of one pass, [layer, head, query, key]; the model has to attend eagerly."""
    with torch.no_grad():
        out = model(torch.tensor([list(ids)]), output_attentions=True, use_cache=False)
    return torch.cat(out.attentions).double()


def measures(maps, ids) -> dict:
    """The measures of core.analyse.roles by the same names, [layer, head] as NumPy arrays, for a
    model without windows.
    """
    rows, ids = range(len(ids)), list(ids)
    twins = {i: [j for j in range(i) if ids[j] == ids[i]] for i in rows}
    twins = {i: earlier for i, earlier in twins.items() if earlier}
    found = {
        "previous": mean(maps[..., i, i - 1] for i in rows[1:]),
        "current": mean(maps[..., i, i] for i in rows),
        "first": mean(maps[..., i, 0] for i in rows[1:]),
        "duplicate": mean(maps[..., i, twins[i]].sum(-1) for i in twins),
        "entropy": mean(torch.special.entr(maps[..., i, :]).sum(-1) for i in rows),
        "distance": distance(maps, rows),
        "distance_rest": distance(maps[..., 1:], rows[1:]),
    }
    return {name: each.numpy() for name, each in found.items()}


def induction(maps, period: int):
    """The induction score on words said twice, [layer, head]: what stands behind the same word."""
    n = maps.shape[-1]
    second = range(n - period, n)
    return mean(maps[..., i, i - period + 1] for i in second).numpy()


def rollouts(maps, kind: str):
    """The rollout of the last layer, [query, key]: as defined, or in a variant of ours."""
    n = maps.shape[-1]
    whole = torch.eye(n, dtype=torch.float64)
    for mean_map in maps.mean(dim=1):
        if kind == "rest":
            mean_map = mean_map[1:, 1:] / mean_map[1:, 1:].sum(dim=1, keepdim=True)
            mean_map = torch.block_diag(torch.ones(1, 1, dtype=torch.float64), mean_map)
        attended = mean_map + torch.eye(n, dtype=torch.float64)
        whole = torch.linalg.multi_dot([attended / attended.sum(dim=1, keepdim=True), whole])
    return whole.numpy()


def mean(rows) -> torch.Tensor:
    """The mean over rows, each [layer, head]."""
    return torch.stack(list(rows)).mean(dim=0)


def distance(maps, places) -> torch.Tensor:
    """How far back attention goes to the keys at these places, in the mean."""
    queries = torch.arange(maps.shape[-2], dtype=torch.float64)[:, None]
    ago = queries - torch.tensor(list(places), dtype=torch.float64)
    return (maps * ago).sum(dim=(-2, -1)) / maps.sum(dim=(-2, -1))
