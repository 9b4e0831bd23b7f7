"""Finds texts that are almost the same: the share of word pairs that two texts have in common. Pure.

A fingerprint keeps the pairs with the smallest hashes. Texts that are almost the same share most of these
(https://en.wikipedia.org/wiki/MinHash), so that only the texts that share one need comparing.
"""

import hashlib
import re
from heapq import nsmallest
from itertools import pairwise

KEPT = 16
MAX_WORDS = 50_000
_WORD = re.compile(r"[^\W_]+")

Pairs = frozenset[tuple[str, str]]


def word_pairs(text: str) -> Pairs:
    """Return the pairs of neighbouring words in the first `MAX_WORDS` words of a text."""
    return frozenset(pairwise(_WORD.findall(text.casefold())[:MAX_WORDS]))


def fingerprint(pairs: Pairs) -> list[int]:
    """Return the fingerprint of a text's pairs, sorted; empty for a text without two words."""
    return nsmallest(KEPT, {_hash(f"{one} {other}") for one, other in pairs})


def similarity(one: Pairs, other: Pairs) -> float:
    """Return the share of all pairs that two texts have in common, 0 to 1."""
    return len(one & other) / (len(one | other) or 1)


def _hash(pair: str) -> int:
    return int.from_bytes(hashlib.blake2b(pair.encode("utf-8", "replace"), digest_size=6).digest(), "big")
