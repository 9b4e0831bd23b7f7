"""How well the words of danger are noticed: the figures that `tests/safety` holds.

The sentences of `tests/safety/sentences.tsv` came in rounds. Each was measured once before the rules had seen
any of it; only then were the rules mended with it. So these figures are of words that were new to the rules.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLook:
    """What the rules made of new sentences: those of immediate danger, of concern, and harmless ones."""

    immediate: int
    immediate_missed: int
    concern: int
    concern_missed: int
    harmless: int
    alarmed: int


OBLIQUE = FirstLook(
    immediate=197, immediate_missed=86, concern=145, concern_missed=100, harmless=265, alarmed=32
)
"""Rounds 2 to 5, written to be missed: danger that nobody names, and idioms in their full number."""

EVERYDAY = FirstLook(immediate=85, immediate_missed=8, concern=71, concern_missed=28, harmless=155, alarmed=3)
"""Rounds 6 to 8, in words that people often use."""
