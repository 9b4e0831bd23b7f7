"""Finds texts that are almost the same: the share of word pairs that two texts have in common. Pure.

A fingerprint keeps the pairs with the smallest hashes, which for long texts estimates that share
(https://en.wikipedia.org/wiki/MinHash, with one hash function).
"""

import hashlib
import re
from collections.abc import Sequence
from heapq import nsmallest
from itertools import pairwise

KEPT = 256
MOST_WORDS = 50_000
_WORD = re.compile(r"[^\W_]+")


def fingerprint(text: str) -> list[int]:
    """Return the fingerprint of a text, sorted; empty for a text without two words."""
    words = _WORD.findall(text.casefold())[:MOST_WORDS]
    return nsmallest(KEPT, {_hash(f"{one} {other}") for one, other in pairwise(words)})


def similarity(one: Sequence[int], other: Sequence[int]) -> float:
    """Return the share that two fingerprints have in common, 0 to 1."""
    in_one, in_other = set(one), set(other)
    smallest = nsmallest(KEPT, in_one | in_other)
    common = sum(number in in_one and number in in_other for number in smallest)
    return common / len(smallest) if smallest else 0.0


def _hash(pair: str) -> int:
    return int.from_bytes(hashlib.blake2b(pair.encode("utf-8", "replace"), digest_size=6).digest(), "big")
