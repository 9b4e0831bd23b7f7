"""The fields of a write that needed a yes: as the refused answer has them, or as they were written."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from django.utils.translation import gettext

from coaching.library.references.words import shown_folder, shown_title
from coaching.tools.places import PLACES, choices_in, shown_place
from coaching.tools.presentation import DOCUMENT, PLACE, CardField
from coaching.tools.refile_document import BECOMES, LABELS
from coaching.transcript.made_files import values_in
from sessions_app.models import ToolCallRecord, ToolCallState
from sessions_app.pending_calls import UNDONE

Outcome = Literal["", "allowed", "accepted", "failed", "declined", "undone"]
"""What became of the write; `allowed`: the yes was said, and it hasn't run yet."""
_SHOWN: Mapping[str, Callable[[str], str]] = {
    LABELS["file_type"]: shown_title,
    LABELS["folder"]: shown_folder,
    PLACE.label: shown_place,
}
"""How a fact is shown in the language that is active, by its label."""


def card_parts(
    fields: Sequence[CardField], details: Mapping[str, Any], *, is_pending: bool
) -> tuple[Sequence[CardField], Sequence[tuple[str, str]]]:
    """Return a card's fields and what else it says: the place is a field where it can still be chosen."""
    shown = sorted(details.items(), key=lambda detail: detail[0] != DOCUMENT)  # stored JSON has another order
    words = [(gettext(label), _shown(label, text)) for label, text in shown if label != PLACES and fields]
    chosen, choices = choices_in(details)
    if not is_pending or not choices:
        return [field for field in fields if field.kind != "place"], words
    return [
        replace(field, value=chosen, choices=choices) if field.kind == "place" else field for field in fields
    ], []


def _shown(label: str, text: object) -> str:
    """Return what a fact says, or what it was and becomes."""
    shown = _SHOWN.get(label, str)
    return BECOMES.join(shown(part) for part in str(text).split(BECOMES))


def given_fields(fields: Sequence[CardField], given: Mapping[str, Any]) -> Sequence[CardField]:
    """Return the fields with the values of a refused answer, and what was wrong with them."""
    values, faults = given["input"], given.get("faults") or {}
    filled = [each.with_value(values[each.name]) if each.name in values else each for each in fields]
    return [each.with_fault(faults.get(each.name, "")) for each in filled]


def written_fields(
    fields: Sequence[CardField], record: ToolCallRecord
) -> tuple[Outcome, Sequence[CardField]]:
    """Return what became of an answered write, and the fields as they were written."""
    value = record.value if isinstance(record.value, Mapping) else {}
    if not value.get("accept"):
        return "declined", fields
    if record.is_allowed:
        return _outcome_of_allowed(record), fields
    written = value.get("input")
    written = written if isinstance(written, Mapping) else {}
    shown = [each.with_value(written.get(each.name)) for each in fields]
    return ("undone" if record.metadata.get(UNDONE) else "accepted"), shown


def _outcome_of_allowed(record: ToolCallRecord) -> Outcome:
    if record.state == ToolCallState.RUNNING:
        return "allowed"
    return "failed" if record.is_error or values_in(record.result).get("success") is False else "accepted"
