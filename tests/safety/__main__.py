"""`python -m tests.safety [--show]`: the danger rules' accuracy, and with `--show` their errors.

The held-out half of round 1 isn't shown, so that the rules aren't fitted to it.
"""

import argparse
from dataclasses import fields

from tests.safety.measure import (
    HELD_OUT,
    measure,
    measure_unseen,
    read_sentences,
    table_of,
    table_of_set,
)
from tests.safety.sets import HELD_OUT as HELD_OUT_SETS
from tests.safety.sets import LEARNT


def main() -> None:
    """Print the figures, and what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.safety", description=__doc__)
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    is_shown = parser.parse_args().show
    sentences = read_sentences()
    print(table_of(sentences))  # noqa: T201 - its output
    for name, found in measure_unseen().items():
        values = ", ".join(f"{field.name} {getattr(found, field.name)}" for field in fields(found))
        print(f"\nNever seen, {name}: {values}")  # noqa: T201 - for whoever runs it
    for folder in (*LEARNT, *HELD_OUT_SETS):
        print(f"\n{folder.name}\n{table_of_set(folder)}")  # noqa: T201 - for whoever runs it
    if not is_shown:
        return
    wrong = measure(row for row in sentences if row.part != HELD_OUT)
    for name, rows in (
        ("Missed", wrong.missed),
        ("False alarms", wrong.alarmed),
        ("Level", wrong.other_level),
    ):
        print(f"\n{name}")  # noqa: T201 - for whoever runs it
        for row in rows:
            print(f"  {row.expected} → {row.found}  [{row.kind}] {row.words}")  # noqa: T201 - for whoever runs it


if __name__ == "__main__":
    main()
