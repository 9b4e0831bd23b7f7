"""Leaves out a part of a text, as a reader with faults would."""

import random

DAMAGES = ("words", "lines", "pages")
SHARE = 0.15


def damaged(text: str, what: str) -> str:
    """Return a text without 15 % of its words, lines or pages, at least one; whole if `what` is empty."""
    if not text or not what:
        return text
    separator = {"words": " ", "lines": "\n", "pages": "\f"}[what]
    pieces = text.split(separator) if what != "words" else text.split()
    chance = random.Random(f"28 {what} {len(pieces)}")
    left_out = set(chance.sample(range(len(pieces)), max(1, round(SHARE * len(pieces)))))
    return separator.join(piece for number, piece in enumerate(pieces) if number not in left_out)
