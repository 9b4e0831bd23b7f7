"""Sentences by writers who saw no word list: the `dev` sets were used to improve the rules, those in
`HELD_OUT` never were. Weights are learnt from `LEARNT`, which has the `grief` sets and `written`, too.

Their files are described in README.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent
DEV, DEV_2, DEV_3 = (_FOLDER / name for name in ("dev", "dev_2", "dev_3"))
LEARNT = (
    *(DEV, DEV_2, DEV_3),
    *(_FOLDER / f"dev_{number}" for number in range(4, 33)),
    *(
        _FOLDER / name
        for name in (
            *("grief_one", "grief_two", "grief_three", "grief_four"),
            *("grief_five", "grief_six", "grief_seven"),
            *("denials_one", "talk_one", "talk_two", "plans_one"),
            *("written", "written_two", "written_three", "written_four"),
        )
    ),
)
"""What weights are learnt from."""
STEPS = tuple(
    _FOLDER.parents[1] / "steps" / f"{name}.tsv"
    for name in ("fresh", "promises", "promises_first", "promises_second")
)
"""Promises and what resembles them: ordinary talk but for the kind `harm`."""
PROMISES = tuple(
    file
    for file in sorted((_FOLDER.parents[1] / "steps").glob("*.tsv"))
    if not file.stem.startswith("fresh") and file.stem not in {f"written_{letter}" for letter in "pqrstuvwx"}
)
"""Promises, which are plans for everyday things, and plans of harm.

Not the two tables that pair promises with jokes and habits: with them, weights noticed less danger in
sentences that the rules never saw (78 instead of 79 of 95 immediate ones in other languages, 72 concerns
instead of 73). The later tables (`written_r` to `written_x`) are left out like them.
"""
HELD_OUT = tuple(_FOLDER / name for name in ("held_out", *(f"held_out_{number}" for number in range(2, 8))))
"""What no rule and no weight was fitted to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer to a question about suicide or harm: `label` is `yes` if it affirms it, `no`, or `open`."""

    language: str
    label: str
    asked: str
    words: str

    @property
    def is_yes(self) -> bool:
        """Whether it affirms danger."""
        return self.label == "yes"


def read_rows(file: Path) -> Sequence[Sequence[str]]:
    """Return the fields of a file's lines; a set needn't have every file."""
    if not file.exists():
        return []
    return [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if line]


def read_answers(folder: Path) -> Sequence[Answer]:
    """Return the answers of a set."""
    return [
        Answer(language=language, label=label, asked=asked, words=words)
        for language, label, asked, words in read_rows(folder / "answers.tsv")
    ]


def read_ordinary_promises() -> Sequence[str]:
    """Return the sentences of `STEPS` without danger."""
    rows = [row for file in STEPS for row in read_rows(file)[1:]]
    return [words for _, kind, words, *_ in rows if kind != "harm"]


def read_ordinary_plans() -> Sequence[str]:
    """Return the sentences of `PROMISES` that aren't plans of harm."""
    rows = [row for file in PROMISES for row in read_rows(file)[1:]]
    return [words.replace("\\n", "\n") for _, kind, words, *_ in rows if kind != "harm"]


def read_plans() -> Sequence[tuple[str, bool]]:
    """Return the promises and the plans of harm of `PROMISES`, and whether each is one of harm."""
    rows = [row for file in PROMISES for row in read_rows(file)[1:]]
    return [
        (words.replace("\\n", "\n"), kind == "harm")
        for _, kind, words, _, may_write in rows
        if may_write == "yes" or kind == "harm"
    ]
