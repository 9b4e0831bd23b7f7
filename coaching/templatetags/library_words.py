"""Filters for the library's templates."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import template
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from coaching.library.documents.facts import fact_key
from coaching.library.documents.reasons import UNSURE, proposed_words, shown_reason
from coaching.library.references.words import in_words, shown_folder
from coaching.library.rows.reading_notes import is_read_in_part
from coaching.models import ActionItem, DocumentState, KnowledgeEntry, LibraryEffect

register = template.Library()
register.filter(is_read_in_part)
register.filter(fact_key)
register.filter(shown_folder)


@register.filter
def titled(file_type: str, titles: Mapping[str, str]) -> str:
    """Return the title of a type of document; one that has no reference any more gets its own name."""
    return titles.get(file_type) or in_words(file_type)


@register.filter
def percent(share: float | None) -> str:
    return "" if share is None else _("%(number)s%%") % {"number": f"{share * 100:.0f}"}


@register.filter
def reason(stored: str) -> str:
    """Return why a document waits, is to be reviewed or wasn't read."""
    return shown_reason(stored)


@register.filter
def gives_confidence(stored: str) -> bool:
    """Return whether a reason already says how sure Sage is."""
    return UNSURE in stored.splitlines()


@register.filter
def alternatives(others: Sequence[Mapping[str, Any]], titles: Mapping[str, str]) -> str:
    """Return the other types that a document may have."""
    return ", ".join(
        f"{titled(each['file_type'], titles)} ({percent(each['confidence'])})" for each in others
    )


@register.filter
def proposed(proposal: Mapping[str, Any]) -> str:
    """Return what a model suggested that isn't in the vocabulary."""
    return ", ".join(proposed_words(proposal))


@register.filter
def source_query(made: KnowledgeEntry | ActionItem) -> str:
    """Return how a URL of a document's page chooses what an entry or a next step is from."""
    return f"{'entry' if isinstance(made, KnowledgeEntry) else 'step'}={made.pk}"


@register.simple_tag
def source_address(made: KnowledgeEntry | ActionItem) -> str:
    """Return where the sentence stands that an entry or a next step is from, or else its document."""
    page = reverse("library_document", args=[made.document_id])
    return f"{page}?{source_query(made)}#viewer" if made.quote or made.page else page


SHOWN_CHANGES = {
    "file_type": gettext_lazy("Type"),
    "folder": gettext_lazy("Folder"),
    "name": gettext_lazy("Name"),
    "state": gettext_lazy("Status"),
}


@register.filter
def changes(effect: LibraryEffect, titles: Mapping[str, str]) -> Sequence[str]:
    """Return what changed in a document, in words; what a reader sees in the page itself is left out."""
    lines = []
    for field, label in SHOWN_CHANGES.items():
        before, after = (_shown(field, values.get(field), titles) for values in (effect.before, effect.after))
        if before != after:
            lines.append(f"{label}: {before} → {after}" if before else f"{label}: {after}")
    return lines


def _shown(field: str, value: object, titles: Mapping[str, str]) -> str:
    if not value:
        return ""
    match field:
        case "file_type":
            return titled(str(value), titles)
        case "folder":
            return shown_folder(str(value))
        case "state":
            return str(DocumentState(str(value)).label) if value in DocumentState.values else ""
    return str(value)
