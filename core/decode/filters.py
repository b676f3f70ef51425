"""What may be done to the scores before a token is drawn: small pure functions, [vocab] -> [vocab].

A token that is cut gets the score minus infinity. A filter whose setting is neutral returns the
very array it was given; none changes it. Filters follow Hugging Face transformers in what they
keep; where that leaves ties to chance, the smaller id goes first. Scores are logits in nat. Knows
no spec, model or text.
"""

import numpy as np

SOME = 512  # tokens: they nearly always hold enough, and are found without sorting the others


def log_softmax(x):  # [vocab] -> [vocab]
    """Logarithm of the softmax, safe for large scores."""
    x = x - np.max(x)
    return x - np.log(np.sum(np.exp(x)))


def softmax(scores):  # [vocab] -> [vocab]
    """Probabilities: exp(l) over the sum of all exp(l), in float64."""
    grown = np.exp(np.asarray(scores, np.float64) - np.max(scores))
    grown /= grown.sum()
    return grown


def descending(scores, n=None):  # [vocab] -> [kept]
    """Ids of the tokens that are not cut, the most probable first, equal scores by the smaller id:
    the order in which every draw walks. n: only the first n of them, which is faster.
    """
    among = scores > -np.inf
    if n is not None and n < np.count_nonzero(among):
        among = scores >= kth_largest(scores, n)
    kept = np.flatnonzero(among)
    order = kept[np.argsort(-scores[kept])]  # twice as fast as a stable sort, but mixes up equals:
    ordered = scores[order]
    first = np.flatnonzero(ordered[1:] == ordered[:-1])
    places = np.union1d(first, first + 1)  # of all that have an equal
    ids = order[places]
    order[places] = ids[np.lexsort((ids, -scores[ids]))]
    return order[:n]


def walk(scores, probs, mass):  # [vocab], [vocab], number -> [n], [n + 1]
    """`descending` as far as the tokens together hold more than `mass`, or all of it, and the
    running sum of their probabilities, from 0. Sums are made one after the other, so that those of
    the first tokens are the same bits however many follow.
    """
    for n in (SOME, None):
        ids = descending(scores, n)
        held = np.append(0.0, np.cumsum(probs[ids]))
        if held[-1] > mass:
            break
    return ids, held


def penalize(scores, seen, penalty):  # [vocab] -> [vocab]
    """Repetition penalty r, once for each distinct token of `seen` (prompt and continuation):
    l / r where l > 0, else l * r (Keskar et al. 2019, CTRL, with the sign put right as
    transformers and llama.cpp do). 1 is neutral.
    """
    if penalty == 1 or not len(seen):
        return scores
    out, ids = scores.copy(), np.unique(np.asarray(seen, np.int64))
    out[ids] = np.where(scores[ids] > 0, scores[ids] / penalty, scores[ids] * penalty)
    return out


def presence(scores, seen, penalty):  # [vocab] -> [vocab]
    """l - penalty for each distinct token of `seen` (OpenAI API, llama.cpp). 0 is neutral.

    Counted over all ids so far, the prompt included, as llama.cpp does (within its window).
    """
    if penalty == 0 or not len(seen):
        return scores
    return scores - penalty * (counts(seen, len(scores)) > 0)


def frequency(scores, seen, penalty):  # [vocab] -> [vocab]
    """l - count * penalty, count: how often the token is in `seen`, counted as for `presence`. 0 is
    neutral.
    """
    if penalty == 0 or not len(seen):
        return scores
    return scores - penalty * counts(seen, len(scores))


def counts(seen, n_vocab):  # [seq] -> [vocab]
    """How often each token occurs in `seen`."""
    return np.bincount(np.asarray(seen, np.int64), minlength=n_vocab)


def temper(scores, temperature):  # [vocab] -> [vocab]
    """l / T. 1 is neutral. T = 0 is the limit: the largest alone, of equals the one with the
    smallest id, with the score it had (as llama.cpp; transformers refuses 0).
    """
    if temperature == 1:
        return scores
    if temperature == 0:
        return _keep(scores, np.arange(len(scores)) == np.argmax(scores))
    with np.errstate(over="ignore"):
        tempered = scores / temperature
        if np.isfinite(np.max(tempered)):
            return tempered
        return (scores - np.max(scores)) / temperature  # the same probabilities, no overflow


def keep_top_k(scores, k):  # [vocab] -> [vocab]
    """The tokens with at least the k-th largest score: ties with it stay (Fan et al. 2018). 0, and
    k from the size of the vocabulary on, are neutral.
    """
    if not 0 < k < len(scores):
        return scores
    return _keep(scores, scores >= kth_largest(scores, k))


def kth_largest(scores, k):  # [vocab] -> number
    """The score a token must reach to be among the k best."""
    return np.partition(scores, -k)[-k]


def keep_top_p(scores, p):  # [vocab] -> [vocab]
    """The smallest set of most probable tokens that holds at least p of the probability: a token
    stays if those before it hold less than p; the first always stays, so 0 keeps it alone
    (nucleus sampling, Holtzman et al. 2020). 1 is neutral.
    """
    if p >= 1:
        return scores
    ids, held = walk(scores, softmax(scores), p)
    return _keep_ids(scores, ids[: max(1, np.count_nonzero(held[:-1] < p))])


def mass_before(scores):  # [vocab] -> [kept], [kept]
    """Ids from the most probable to the least, and the probability that those before each hold."""
    ids = descending(scores)
    probs = softmax(scores)[ids]
    return ids, np.append(0.0, np.cumsum(probs)[:-1])


def keep_min_p(scores, p):  # [vocab] -> [vocab]
    """Tokens at least p times as probable as the most probable one: l >= max(l) + ln p (Nguyen et
    al. 2024). 0 is neutral.
    """
    return scores if p <= 0 else _keep(scores, scores >= least_score(scores, p))


def least_score(scores, p):  # [vocab] -> number
    """The score a token must reach to be at least p times as probable as the best."""
    return np.max(scores) + np.log(p)


def keep_typical(scores, mass):  # [vocab] -> [vocab]
    """Tokens whose surprise -ln p is closest to the entropy, until they hold `mass`; ties with the
    last of them stay (locally typical sampling, Meister et al. 2023). 1 is neutral.
    """
    if mass >= 1:
        return scores
    away = from_entropy(scores)
    nearest, held = walk(-away, softmax(scores), mass)
    last = min(np.count_nonzero(held[1:] < mass), len(nearest) - 1)
    return _keep(scores, away <= away[nearest[last]])


def from_entropy(scores):  # [vocab] -> [vocab]
    """How far the surprise of each token is from the mean surprise, the entropy, in nat:
    abs(-ln p - H); infinite for a token that was cut.
    """
    log_probs = log_softmax(np.asarray(scores, np.float64))
    return np.abs(-log_probs - _mean_surprise(log_probs))


def entropy(scores):  # [vocab] -> number
    """The mean surprise, sum of -p ln p, in nat: 0 where one token has everything."""
    return _mean_surprise(log_softmax(np.asarray(scores, np.float64)))


def _mean_surprise(log_probs):
    probs = np.exp(log_probs)
    return -np.sum(probs * np.where(probs > 0, log_probs, 0))


def _keep(scores, kept):
    return np.where(kept, scores, scores.dtype.type(-np.inf))


def _keep_ids(scores, ids):
    out = np.full_like(scores, -np.inf)
    out[ids] = scores[ids]
    return out
