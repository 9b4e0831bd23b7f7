"""The labelled set: texts as people's documents read, each with its file type and the name of its file.

The author of the references wrote them, as documents read and not from the references' phrases. About a third
is held out: phrases and weights were tuned on the others alone. A hash chooses it, so that nobody does.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coaching.library.pipeline.stages.select_references import select_references
from coaching.library.references.current import References

FOLDER = Path(__file__).parent / "labelled"
_BEGIN = re.compile(r"^=== ", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledText:
    """One document. `name` is empty where none is known."""

    file_type: str
    number: int
    name: str
    text: str

    @property
    def is_held_out(self) -> bool:
        digest = hashlib.sha256(f"{self.file_type} {self.number}".encode()).hexdigest()
        return int(digest, 16) % 3 == 0


def read_labelled_texts(folder: Path = FOLDER) -> Sequence[LabelledText]:
    """Read all texts of a folder."""
    found: list[LabelledText] = []
    numbers: Counter[str] = Counter()
    for path in sorted(folder.glob("*.txt")):
        for part in _BEGIN.split(path.read_text(encoding="utf-8"))[1:]:
            head, _, text = part.partition("\n")
            file_type, _, name = head.partition("|")
            numbers[file_type.strip()] += 1
            found.append(
                LabelledText(
                    file_type=file_type.strip(),
                    number=numbers[file_type.strip()],
                    name=name.strip(),
                    text=text.strip(),
                )
            )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was selected for a text."""

    item: LabelledText
    selected: tuple[str, ...]

    @property
    def place(self) -> int:
        """The place of the right reference, from 1; 0 if it is missing."""
        return self.selected.index(self.item.file_type) + 1 if self.item.file_type in self.selected else 0


def select_for_all(
    references: References, items: Iterable[LabelledText], *, has_names: bool = True
) -> Sequence[Outcome]:
    """Select the references of each text, with its file's name or without."""
    return [
        Outcome(
            item=item,
            selected=select_references(
                references, name=item.name if has_names else "", text=item.text
            ).file_types,
        )
        for item in items
    ]
