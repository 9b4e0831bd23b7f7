"""Danger inside grief: the wish to join the dead, or not to go on without them (`words/grief-danger.txt`).

Each half is harmless alone: people mourn without danger, and "I want to be with her" may be about a holiday.
A message that has both gets a card. Pure.
"""

import re
from functools import cache

from coaching.safety.tables import read_table

MAX_CHARACTERS = 3_000

_TABLE = read_table("grief-danger")


def is_danger_in_grief(letters: str) -> bool:
    """Return whether plain letters wish for death because of somebody's."""
    plain = letters[:MAX_CHARACTERS]
    if not _pattern("mourns").search(plain) or not _pattern("wishes").search(plain):
        return False
    return not _pattern("harmless").search(plain)


@cache
def _pattern(section: str) -> re.Pattern[str]:
    lines = "|".join(_TABLE[section]).replace("<who>", f"(?:{'|'.join(_TABLE['who'])})")
    return re.compile(rf"(?<!\w)(?:{lines})(?!\w)")
