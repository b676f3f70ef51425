"""One score per token becomes one token. Knows logits only; no model, no text.

Order as in Hugging Face transformers: repetition penalty, temperature, top-k, top-p, min-p,
softmax, draw.
"""

import numpy as np


def log_softmax(x):  # [vocab] -> [vocab]
    """Logarithm of the softmax, safe for large scores."""
    x = x - np.max(x)
    return x - np.log(np.sum(np.exp(x)))


def log_prob(logits, id) -> float:  # [vocab]
    """Log-probability of one token, in nat; the sum is made in float64."""
    x = logits - np.max(logits)
    return float(x[id] - np.log(np.exp(x).sum(dtype=np.float64)))


def penalize(logits, seen, penalty):  # [vocab] -> [vocab]
    """Divide the positive scores of tokens already seen, multiply the negative ones (Keskar et al.
    2019).
    """
    out = logits.copy()
    seen = np.unique(np.asarray(seen, np.int64))
    out[seen] = np.where(logits[seen] > 0, logits[seen] / penalty, logits[seen] * penalty)
    return out


def keep_top_k(logits, k):  # [vocab] -> [vocab]
    """Minus infinity below the k-th largest score; ties with it stay. 0 means all."""
    if not 0 < k < len(logits):
        return logits
    return _keep(logits, logits >= np.partition(logits, -k)[-k])


def keep_top_p(logits, p):  # [vocab] -> [vocab]
    """The smallest set of most probable tokens whose probability reaches p, never empty (Holtzman
    2020).
    """
    if p >= 1:
        return logits
    order = np.argsort(-logits, kind="stable")
    probs = np.exp(log_softmax(logits.astype(np.float64)))[order]
    before = np.cumsum(probs) - probs
    kept = np.zeros(len(logits), bool)
    kept[order[(before < p) | (np.arange(len(order)) == 0)]] = True
    return _keep(logits, kept)


def keep_min_p(logits, p):  # [vocab] -> [vocab]
    """Tokens at least p times as probable as the most probable one."""
    return logits if p <= 0 else _keep(logits, logits >= np.max(logits) + np.log(p))


def _keep(logits, kept):
    return np.where(kept, logits, np.float32(-np.inf))


def choose(logits, seen, spec, step: int) -> int:
    """The next token: the largest score at temperature 0, else a draw that `spec.seed` and the step
    decide.

    logits: [vocab], finite; seen: ids of prompt and continuation; spec: a RunSpec.
    """
    if spec.repetition_penalty != 1:
        logits = penalize(logits, seen, np.float32(spec.repetition_penalty))
    if spec.temperature == 0:
        return int(np.argmax(logits))
    logits = logits.astype(np.float64)  # a temperature of 1e-6 overflows nothing, only float32
    with np.errstate(over="ignore"):  # a temperature near 0 leaves the largest alone
        logits = (logits - np.max(logits)) / spec.temperature
    logits = keep_min_p(keep_top_p(keep_top_k(logits, spec.top_k), spec.top_p), spec.min_p)
    cumulative = np.cumsum(np.exp(log_softmax(logits)))
    u = np.random.default_rng([spec.seed, step]).random() * cumulative[-1]
    return int(np.searchsorted(cumulative, u, side="right"))
