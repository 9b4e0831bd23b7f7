"""Why a document waits, is to be reviewed or wasn't read: sentences stored in English, one a line."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from django.utils.translation import gettext, gettext_noop

from coaching.library.references.words import shown_type

SIMILAR = gettext_noop("Its text is almost the same as that of:")
DUPLICATE = gettext_noop("This file is already in your library:")
UNSUPPORTED = gettext_noop("None of the facts that Sage noted is in the document.")
STILL_READING = gettext_noop("Sage is still reading this document. Wait until it’s done.")
ON_HOLD = gettext_noop("It came with an import. Sage reads and files it by itself only once you let it.")
PROPOSED = gettext_noop("Sage suggests something that isn’t on its lists yet:")
UNSURE = gettext_noop("Sage isn’t sure about the type. Confidence:")
TWO_TYPES = gettext_noop("It could also be another type:")
_ALLOWED_IF_SURE = (SIMILAR, PROPOSED)
"""Each with a line that follows. They don't doubt the type."""
_WITHOUT_NAME = {
    SIMILAR: "Its text is almost the same as that of another document.",
    DUPLICATE: "This file is already in the library.",
}
"""Sentences that another document's name follows."""
_BEFORE_WORDS = (*_WITHOUT_NAME, PROPOSED)


def proposed_words(proposal: Mapping[str, Any]) -> Sequence[str]:
    """Return what a model suggested that isn't on the lists: a type, a folder and tags, without hyphens."""
    file_type, *tags = (
        str(name or "").replace("-", " ") for name in (proposal.get("file_type"), *proposal.get("tags", ()))
    )
    words = [file_type, str(proposal.get("folder") or ""), *tags]
    return [" ".join(word.split()) for word in words if word.strip()]


def join_reasons(sentences: Iterable[str]) -> str:
    return "\n".join(filter(None, sentences))


def reason_for_models(reason: str) -> str:
    """Return a stored reason on one line, without names of other documents: a model may not get these."""
    lines = ["", *reason.splitlines()]
    return " ".join(
        _WITHOUT_NAME.get(line, line) for before, line in pairwise(lines) if before not in _WITHOUT_NAME
    )


def doubts_type(reason: str) -> bool:
    """Return whether a stored reason for a review may be about the suggested type."""
    lines = ["", *reason.splitlines()]
    return not reason or any(
        line not in _ALLOWED_IF_SURE and before not in _ALLOWED_IF_SURE for before, line in pairwise(lines)
    )


def shown_reason(reason: str) -> str:
    """Return a stored reason in the language that is active."""
    lines = ["", *reason.splitlines()]
    return " ".join(_shown_line(before, line) for before, line in pairwise(lines) if line)


def _shown_line(before: str, line: str) -> str:
    """Return a line in the language that is active; what it says may depend on the line before."""
    if before == UNSURE:
        return gettext("%(number)s%%") % {"number": line.removesuffix("%.")} + "."
    if before == TWO_TYPES:
        return f"{shown_type(line.removesuffix('.'))}."
    return line if before in _BEFORE_WORDS else gettext(line)
