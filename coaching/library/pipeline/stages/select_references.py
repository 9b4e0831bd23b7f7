"""Selects the references that go along with a document: at most six, by its name, its text and hints.

Pure: the same document gets the same references. What is missing, a model looks up itself.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from coaching.library.references.current import References

MAX_REFERENCES = 6
BEGINNING = 4_000
"""The characters in which the form of a text is looked for."""
_SPEAKER = re.compile(r"^(\[?\d{1,2}:\d\d|[A-ZÄÖÜ][\w.]*( [\w.]+){0,2}: \S)", re.MULTILINE)
_GREETING = re.compile(
    r"\b(dear|hello|sehr geehrte[rs]?|liebe[rs]?|to whom it may concern)\b[^\n.;]{2,60}?[,:!]", re.IGNORECASE
)
_FIRST_PERSON = re.compile(r"\b(I|my|me|myself|ich|mein|meine|meinen|meiner|mich|mir)\b", re.IGNORECASE)
_CHEVRONS = re.compile(r"<<<|<<[A-Z]")
FEWEST_SPEAKER_LINES = 3
LEAST_SCORE = 0.3
"""A type with a smaller share of the best score is unlikely: of the labelled texts one in a hundred."""
LEAST_FIRST_PERSON = 0.05
"""The share of a text's words that speak of the writer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The file types of the references for a document, best first."""

    file_types: tuple[str, ...]

    def without(self, file_type: str) -> "Selection":
        """Return the selection without a reference."""
        return Selection(file_types=tuple(kept for kept in self.file_types if kept != file_type))


def select_references(
    references: References,
    *,
    name: str,
    text: str,
    tags: Collection[str] = (),
    limit: int = MAX_REFERENCES,
) -> Selection:
    """Select references for a document. `tags` are hints, such as `transcript` for a file of subtitles."""
    ranked = references.index.rank(text=text, name=name, tags={*tags, *tags_of_form(text)})
    return Selection(file_types=tuple(found.file_type for found in ranked[:limit]))


def is_likely(references: References, file_type: str, *, text: str, tags: Collection[str] = ()) -> bool:
    """Say whether a document's words suggest a type, apart from the type's own name.

    Neither that name nor the file's shows what a document is: a letter may order how it is to be filed.
    """
    ranked = references.index.rank(text=text, tags={*tags, *tags_of_form(text)}, unnamed=file_type)
    return any(
        found.file_type == file_type and found.score >= LEAST_SCORE * ranked[0].score
        for found in ranked[:MAX_REFERENCES]
    )


def tags_of_form(text: str) -> Iterator[str]:
    """Yield the tags that the form of a text hints at, whatever it is about."""
    beginning = text[:BEGINNING]
    if len(_SPEAKER.findall(beginning)) >= FEWEST_SPEAKER_LINES:
        yield "transcript"
    if _GREETING.search(beginning):
        yield "letter"
    if len(_FIRST_PERSON.findall(beginning)) > LEAST_FIRST_PERSON * len(beginning.split()):
        yield "personal"
    if _CHEVRONS.search(beginning):
        yield "identity"
