"""`python -m tests.safety [--show tuned|held-out|all]`: the figures of the danger rules, and what they got wrong.

Whoever tunes the rules looks at the tuned half only.
"""

import argparse

from tests.safety.measure import measure, read_sentences, table_of


def main() -> None:
    """Print the figures, and the wrong ones of one half."""
    parser = argparse.ArgumentParser(prog="python -m tests.safety", description=__doc__)
    parser.add_argument("--show", choices=("tuned", "held-out", "all"), help="print what was wrong there")
    chosen = parser.parse_args().show
    sentences = read_sentences()
    print(table_of(sentences))  # noqa: T201
    if not chosen:
        return
    wrong = measure(row for row in sentences if chosen in ("all", row.half.replace(" ", "-")))
    for name, rows in (("Missed", wrong.missed), ("False alarms", wrong.alarmed), ("Level", wrong.other_level)):
        print(f"\n{name}")  # noqa: T201
        for row in rows:
            print(f"  {row.expected} → {row.found}  [{row.kind}] {row.words}")  # noqa: T201


if __name__ == "__main__":
    main()
