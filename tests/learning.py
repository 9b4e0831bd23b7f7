"""Logistic regression of features that a text has or hasn't: what weights of words are learnt by.

Solved by coordinate descent in its dual (Yu, Huang, Lin: Dual coordinate descent methods for logistic
regression, 2011), in a fixed order: the same rows give the same weights.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log
from random import Random

_BISECTIONS = 30


def solve(
    rows: Sequence[Sequence[str]],
    signs: Sequence[int],
    costs: Sequence[float],
    *,
    rounds: int,
    min_rows: int = 2,
) -> Mapping[str, float]:
    """Return the weights of the features that `min_rows` rows have.

    `signs` are 1 for rows that a weight speaks for and -1 for others, `costs` what an error at each costs.
    """
    counts = Counter(feature for row in rows for feature in row)
    numbers = {feature: number for number, feature in enumerate(f for f in counts if counts[f] >= min_rows)}
    known = [[numbers[feature] for feature in row if feature in numbers] for row in rows]
    shares = [cost / 1000 for cost in costs]
    weights = [0.0] * len(numbers)
    for row, sign, share in zip(known, signs, shares, strict=True):
        for feature in row:
            weights[feature] += sign * share
    order = list(range(len(known)))
    random = Random(0)
    for _ in range(rounds):
        random.shuffle(order)
        for number in order:
            row, sign = known[number], signs[number]
            margin = sign * sum(weights[feature] for feature in row)
            share = _best_share(shares[number], costs[number], margin, len(row))
            change = sign * (share - shares[number])
            shares[number] = share
            for feature in row:
                weights[feature] += change
    return dict(zip(numbers, weights, strict=True))


def rounded(weights: Mapping[str, float], *, least: int, always: str) -> Mapping[str, int]:
    """Return weights in hundredths, without those below `least`; the one of `always` stays."""
    hundredths = {feature: round(100 * weight) for feature, weight in weights.items()}
    return {f: weight for f, weight in hundredths.items() if abs(weight) >= least or f == always}


def _best_share(share: float, cost: float, margin: float, square: int) -> float:
    """Return the share of a row that minimises the dual, the others being as they are."""
    low, high = 0.0, cost
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        slope = square * (middle - share) + margin + log(middle / (cost - middle))
        low, high = (low, middle) if slope > 0 else (middle, high)
    return (low + high) / 2
