"""Filters for the library's templates."""

from collections.abc import Mapping, Sequence

from django import template

from coaching.models import DocumentState, LibraryEffect

register = template.Library()


@register.filter
def titled(file_type: str, titles: Mapping[str, str]) -> str:
    """Return the title of a type of document; one that has no reference any more gets its own name."""
    return titles.get(file_type) or file_type.replace("_", " ").replace("-", " ").capitalize()


@register.filter
def percent(share: float | None) -> str:
    """Return a share of one as a percentage."""
    return "" if share is None else f"{share:.0%}"


SHOWN_CHANGES = {"file_type": "Type", "folder": "Folder", "name": "Name", "state": "State"}


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
        case "state":
            return DocumentState(str(value)).label if value in DocumentState.values else ""
    return str(value)
