"""Finds the regular expressions in our scripts. Python's engine reads them: its cost is of the same order."""

import re
from collections.abc import Iterator

from tests.patterns.found import ROOT

FOLDER = ROOT / "static" / "js"
_LITERAL = re.compile(
    r"(?:^|[=(,:;!&|?\[])\s*/(?P<pattern>(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+)/(?P<flags>[dgimsuvy]*)"
)
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}


def script_patterns() -> Iterator[tuple[str, str, re.Pattern[str]]]:
    """Yield each pattern's file, how it is written, and the pattern."""
    for path in sorted(FOLDER.rglob("*.js")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.lstrip().startswith(("//", "*", "/*")):
                continue
            for found in _LITERAL.finditer(line):
                flags = sum(_FLAGS.get(flag, 0) for flag in found["flags"])
                pattern = found["pattern"].replace("[-`", r"\[-`")
                yield (
                    str(path.relative_to(ROOT)),
                    f"/{found['pattern']}/{found['flags']}",
                    re.compile(pattern, flags),
                )
