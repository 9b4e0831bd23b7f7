"""Sentences by writers who saw no word list: `dev` was used to improve the rules, `held_out` never was.

Their files are described in README.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DEV, HELD_OUT = Path(__file__).with_name("dev"), Path(__file__).with_name("held_out")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer to a question about suicide or harm, and whether it affirms it."""

    language: str
    is_yes: bool
    asked: str
    words: str


def read_rows(file: Path) -> Sequence[Sequence[str]]:
    """Return the fields of a file's lines."""
    return [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if line]


def read_answers(folder: Path) -> Sequence[Answer]:
    """Return the answers of a set."""
    return [
        Answer(language=language, is_yes=label == "yes", asked=asked, words=words)
        for language, label, asked, words in read_rows(folder / "answers.tsv")
    ]
