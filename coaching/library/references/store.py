"""The only module that writes references and placement rules: the sync from files, and operators' changes."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from simple_history.utils import bulk_create_with_history

from coaching.library.references.current import current_references
from coaching.library.references.placement import Rule
from coaching.library.references.text import (
    ReferenceText,
    UnusableReference,
    Vocabulary,
    parse_reference,
    reference_faults,
)
from coaching.models import FilingLevel, PlacementRule, Reference
from sessions_app.database import lock_until_commit
from sessions_app.errors import Refused
from sessions_app.lock_spaces import LockSpace

FROM_FILE = "Read from its file."
FILE_CHANGED = "The file changed."


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """The references whose rows a sync changed, and how many placement rules."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()
    rules: int = 0


@transaction.atomic
def sync_references(*, files: Sequence[ReferenceText], rules: Sequence[Rule]) -> SyncReport:
    """Update references and rules from their files; operators' texts and rules stay."""
    lock_until_commit(LockSpace.REFERENCES, 0)
    rows = {row.file_type: row for row in Reference.objects.select_for_update().order_by("file_type")}
    new = [
        Reference(file_type=file.file_type, **_file_values(file))
        for file in files
        if file.file_type not in rows
    ]
    if new:
        bulk_create_with_history(new, Reference, default_change_reason=FROM_FILE)
    changed = [
        file.file_type
        for file in files
        if file.file_type in rows
        and rows[file.file_type].change(_synced_values(rows[file.file_type], file), reason=FILE_CHANGED)
    ]
    gone = rows.keys() - {file.file_type for file in files}
    retired = [
        name for name in sorted(gone) if rows[name].change({"is_retired": True}, reason="The file is gone.")
    ]
    return SyncReport(
        added=tuple(row.file_type for row in new),
        changed=tuple(changed),
        retired=tuple(retired),
        rules=_sync_rules(rules),
    )


def _sync_rules(rules: Iterable[Rule]) -> int:
    """Update the rules that no operator changed; return how many rows changed."""
    found = {_key_of(row): row for row in PlacementRule.objects.select_for_update().order_by("id")}
    wanted = {rule.key: rule for rule in rules}
    new = [_row_of(rule) for key, rule in wanted.items() if key not in found]
    if new:
        bulk_create_with_history(new, PlacementRule, default_change_reason=FROM_FILE)
    changed = len(new)
    for key, row in found.items():
        if row.is_overridden:
            continue
        if key in wanted:
            values = {"folder": wanted[key].folder, "level": wanted[key].level}
            changed += row.change(values, reason=FILE_CHANGED)
        else:
            row.delete_with_reason(editor=None, reason="The file has no such rule any more.")
            changed += 1
    return changed


def override_faults(reference: Reference, text: str) -> list[str]:
    """Return every error of an operator's text, judged by the vocabulary in use."""
    try:
        parsed = parse_reference(text)
    except UnusableReference as error:
        return [str(error)]
    known = current_references().vocabulary
    file = parse_reference(reference.file_text)
    vocabulary = Vocabulary.of(
        file_types={*known.file_types, reference.file_type},
        categories=known.categories,
        folders={*known.folders, file.folder},
        tags={*known.tags, *file.tags},
    )
    faults = reference_faults(parsed, vocabulary)
    if parsed.file_type != reference.file_type:
        faults.append(f"file_type: it is {reference.file_type}, a new type is a new file")
    if (parsed.folder, parsed.level) != (file.folder, file.level):
        faults.append("filing: change the placement rule instead")
    return faults


@transaction.atomic
def store_reference_override(*, file_type: str, text: str, editor: User | None) -> Reference:
    """Store an operator's text. An empty one, or the file's own, removes it. Raises `Refused`."""
    row = Reference.objects.select_for_update().get(file_type=file_type)
    wanted = text.replace("\r\n", "\n").strip()
    if not wanted or wanted == row.file_text.strip():
        return _return_reference(row, editor)
    if faults := override_faults(row, wanted):
        raise Refused(f"{file_type} can't be used like this: {'; '.join(faults)}.")
    values = _values(parse_reference(wanted)) | {
        "override": wanted + "\n",
        "overridden_sha256": row.file_sha256,
    }
    row.change(values, editor=editor, reason="An operator's text.")
    return row


@transaction.atomic
def return_reference_to_file(*, file_type: str, editor: User | None) -> Reference:
    """Remove an operator's text. It stays in the history."""
    return _return_reference(Reference.objects.select_for_update().get(file_type=file_type), editor)


def rule_faults(rule: Rule) -> list[str]:
    """Return every error of an operator's rule, in sentences."""
    known = current_references()
    faults = []
    if bool(rule.file_type) == bool(rule.category):
        faults.append("A rule is for a file type or for a category.")
    if rule.file_type and rule.file_type not in known.by_type:
        faults.append(f"There is no type {rule.file_type}.")
    if rule.category and rule.category not in known.vocabulary.categories:
        faults.append(f"There is no category {rule.category}.")
    return faults


@transaction.atomic
def store_rule(*, rule: Rule, editor: User | None) -> PlacementRule:
    """Store an operator's rule, in place of the one of the same key. Raises `Refused`."""
    if faults := rule_faults(rule):
        raise Refused(" ".join(faults))
    lock_until_commit(LockSpace.REFERENCES, 0)
    row = PlacementRule.objects.filter(
        file_type=rule.file_type, category=rule.category, client_type=rule.client_type
    ).first() or _row_of(rule)
    values = {"folder": rule.folder, "level": rule.level, "is_overridden": True}
    row.change(values, editor=editor, reason="An operator's rule.")
    return row


@transaction.atomic
def return_rule_to_file(
    *, rule_id: int, file_rules: Sequence[Rule], editor: User | None
) -> PlacementRule | None:
    """Use the file's rule of the same key again; without one, delete the rule and return None."""
    row = PlacementRule.objects.select_for_update().get(id=rule_id)
    wanted = next((rule for rule in file_rules if rule.key == _key_of(row)), None)
    if wanted is None:
        row.delete_with_reason(editor=editor, reason="Deleted by an operator.")
        return None
    values = {"folder": wanted.folder, "level": wanted.level, "is_overridden": False}
    row.change(values, editor=editor, reason="Back to the file.")
    return row


def _return_reference(row: Reference, editor: User | None) -> Reference:
    values = _values(parse_reference(row.file_text)) | {"override": "", "overridden_sha256": ""}
    row.change(values, editor=editor, reason="Back to the file.")
    return row


def _values(text: ReferenceText) -> dict[str, Any]:
    """Return the columns that are read from the text in use."""
    return {
        "title": text.title,
        "category": text.category,
        "area": text.area,
        "tags": list(text.tags),
        "phrases": list(text.phrases),
        "look_alikes": [other.model_dump() for other in text.look_alikes],
        "folder": text.folder,
        "level": text.level,
    }


def _file_values(file: ReferenceText) -> dict[str, Any]:
    sha256 = hashlib.sha256(file.source.encode()).hexdigest()
    return _values(file) | {"file_text": file.source, "file_sha256": sha256, "is_retired": False}


def _synced_values(row: Reference, file: ReferenceText) -> dict[str, Any]:
    """Return a file's columns; where an operator's text is in use, only those of the file itself."""
    values = _file_values(file)
    own = _values(parse_reference(row.override)) if row.override else {}
    filing = {"folder": file.folder, "level": file.level}
    return values | own | filing


def _key_of(row: PlacementRule) -> tuple[str, str, str]:
    return row.file_type, row.category, row.client_type


def _row_of(rule: Rule) -> PlacementRule:
    return PlacementRule(
        file_type=rule.file_type,
        category=rule.category,
        client_type=rule.client_type,
        folder=rule.folder,
        level=FilingLevel(rule.level),
    )
