"""`python -m tests.steps TABLE…`: what the rule for promises makes of tables of sentences.

A table has the columns language, kind, words (of a message, `\\n` for a new line), quote (what a model names)
and `may_write`: whether a step may be written without a question.
"""

import csv
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from coaching.library.promise_weights import Weighable, Weights
from coaching.library.promises import Claim, weigh
from coaching.library.quote_context import QuoteContext, Said
from coaching.library.spoken import tokens_of, widened

FOLDER = Path(__file__).parent
FRESH = sorted(FOLDER.glob("fresh*.tsv"))
"""Strangers' tables, each measured before anything was learnt from it."""
TABLES = sorted(set(FOLDER.glob("*.tsv")) - set(FRESH))
"""Those that were written to teach."""
TAUGHT = {
    "fresh", "fresh_second", "fresh_third", "fresh_fourth", "fresh_fifth", "fresh_eighth", "fresh_ninth",
}  # fmt: skip
"""The strangers' tables that teach the weights, too; the others go on measuring."""
LEARNT = sorted([*TABLES, *(table for table in FRESH if table.stem in TAUGHT)])
"""What the weights are learnt from."""
MONDAY = date(2026, 11, 30)

Row = dict[str, str]


def read_rows(table: Path) -> Sequence[Row]:
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def is_promise(row: Row) -> bool:
    return row["may_write"] == "yes"


def why(row: Row, weights: Weights | None = None) -> str:
    """Return why a row's step waits for a yes; empty if it is written at once."""
    claim = Claim(quote=row["quote"], purpose="new", title=row["quote"])
    return weigh(claim, [_said(row)], weights).why


def weighable_in(row: Row) -> Weighable | None:
    """Return what is weighed of a row's quote, however certain it is; None if it is quoted or wasn't said."""
    wanted, said = [token.word for token in tokens_of(row["quote"])], _said(row)
    found = widened(wanted, said.text)
    if found is None or isinstance(found, str):
        return None
    context = QuoteContext(said, range(found[0].start, found[-1].end), wanted)
    return context.weighable(context.doubt)


def report(rows: Sequence[Row], weights: Weights | None = None) -> Iterator[str]:
    """Yield how many are written at once, and each row that is wrong."""
    found = [(row, why(row, weights)) for row in rows]
    for may_write, name in ((True, "promises"), (False, "others")):
        of_kind = [reason for row, reason in found if is_promise(row) is may_write]
        yield f"{sum(not reason for reason in of_kind)} of {len(of_kind)} {name} are written at once"
    for row, reason in found:
        if is_promise(row) == bool(reason):
            yield "\t".join([row["language"], row["kind"], reason or "written", row["quote"], row["words"]])


def _said(row: Row) -> Said:
    return Said(number=1, text=row["words"].replace("\\n", "\n"), day=MONDAY)
