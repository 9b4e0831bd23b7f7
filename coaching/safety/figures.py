"""Measured accuracy of the danger rules, checked by `tests/safety`.

The sentences of `tests/safety/sentences.tsv` came in rounds. Each round was measured once before the rules
were improved with it, so these figures are for sentences that were new to the rules.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLook:
    """The rules' results for new sentences: immediate danger, concern, and harmless ones."""

    immediate: int
    immediate_missed: int
    concern: int
    concern_missed: int
    harmless: int
    alarmed: int


OBLIQUE = FirstLook(
    immediate=197, immediate_missed=86, concern=145, concern_missed=100, harmless=265, alarmed=32
)
"""Rounds 2 to 5, written to be missed: unnamed danger, and all kinds of idioms."""

EVERYDAY = FirstLook(immediate=85, immediate_missed=8, concern=71, concern_missed=28, harmless=155, alarmed=3)
"""Rounds 6 to 8, in everyday words."""
