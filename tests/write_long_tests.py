"""Writes the table of long tests from a run of the whole suite.

  SAGE_TEST_FILES=all uv run pytest --junitxml FILE
  uv run python -m tests.write_long_tests FILE

Turns take the same time, and the tests of a file have one turn: they may share a server.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

from tests.long_tests import DAILY, TABLE, TESTS, TURNS
from tests.tiers import Tier, tier_of

LONG_SECONDS: Mapping[Tier, float] = {"pure": 0.2, "db": 0.7}
"""With two others on two cores, where a test takes about twice its CPU time."""
EVERY_DAY = (
    "architecture/test_children",
    "architecture/test_connections",
    "architecture/test_docs",
    "architecture/test_imports",
    "architecture/test_requirements",
    "architecture/test_scoping",
    "architecture/test_to",
    "browser/test_conversation",
    "browser/test_newcomer",
    "bundles/",
    "context/test_requests",
    "languages/",
    "patterns/",
    "sage/test_squashed",
    "sockets/test_tenants",
)
"""How the names of tests begin that check all code: new code is most likely to fail these."""


def main() -> None:
    """Write the table."""
    seconds: dict[str, float] = defaultdict(float)
    longest: dict[str, float] = defaultdict(float)
    for name, taken in _measured(Path(sys.argv[1])):
        seconds[name] += taken
        longest[name] = max(longest[name], taken)
    by_file: dict[str, dict[str, float]] = defaultdict(dict)
    for name, taken in seconds.items():
        file = name.partition("::")[0]
        limit = LONG_SECONDS.get(tier_of(TESTS / file))
        if limit is None:
            by_file[file][file] = by_file[file].get(file, 0.0) + taken
        elif longest[name] >= limit:
            by_file[file][name] = taken
    TABLE.write_text("".join(f"{line}\n" for line in _lines(by_file)))


def _measured(report: Path) -> Iterator[tuple[str, float]]:
    for case in ElementTree.parse(report).iter("testcase"):
        module, *classes = _module_of(case.get("classname", ""))
        name = "::".join([module, *classes, case.get("name", "").partition("[")[0]])
        if (TESTS / module).is_file():
            yield name, float(case.get("time", 0))


def _module_of(classname: str) -> list[str]:
    """Return a file below `tests/`, and the classes in it."""
    parts = classname.split(".")[1:]
    length = next((n for n in range(len(parts), 0, -1) if (TESTS / _path(parts[:n])).is_file()), len(parts))
    return [_path(parts[:length]), *parts[length:]]


def _path(parts: list[str]) -> str:
    return f"{'/'.join(parts)}.py"


def _lines(by_file: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield the lines of the table: the tests of a file have one turn, and the longest files choose first."""
    loads = dict.fromkeys(map(str, range(TURNS)), 0.0)
    turns: dict[str, str] = {}
    for file, tests in sorted(by_file.items(), key=lambda each: -sum(each[1].values())):
        for name, taken in tests.items():
            if name.startswith(EVERY_DAY):
                turns[name] = DAILY
                continue
            turn = turns.setdefault(file, min(loads, key=lambda each: loads[each]))
            turns[name] = turn
            loads[turn] += taken
    for _, tests in sorted(by_file.items()):
        yield from (f"{turns[name]} {name}" for name in sorted(tests))


if __name__ == "__main__":
    main()
