"""Which tests take long, and on which of seven days each of them runs: the table `long_tests.txt`.

`tests.write_long_tests` writes it. A line is a turn and a test, or a whole file where every test needs a
server or a browser. What isn't listed runs every day, and so do tests that check all code.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

TURNS = 7
"""Days until each long test has run."""
DAILY = "*"
TESTS = Path(__file__).parent
TABLE = TESTS / "long_tests.txt"


@cache
def listed() -> Mapping[str, str]:
    """Return the turns of files and tests, by their ids below `tests/`, without parameters."""
    lines = (line.split(maxsplit=1) for line in TABLE.read_text().splitlines())
    return {name: turn for turn, name in lines}


def turn_of(name: str) -> str:
    """Return the turn of a test, `DAILY` for one that runs every day."""
    return listed().get(name) or listed().get(name.partition("::")[0], DAILY)


def runs_today(name: str, *, day: int) -> bool:
    """Say whether a test is among those of a day."""
    return turn_of(name) in (DAILY, str(day % TURNS))


def is_long(name: str) -> bool:
    """Say whether a test is listed by itself: it takes too long for the tiers `pure` and `db`."""
    return name in listed()
