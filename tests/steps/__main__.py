"""`python -m tests.steps TABLE…`: see `measure`."""

import sys
from pathlib import Path

from tests.steps.measure import read_rows, report


def main() -> None:
    for name in sys.argv[1:]:
        print(name, *report(read_rows(Path(name))), sep="\n")  # noqa: T201 - its output


if __name__ == "__main__":
    main()
