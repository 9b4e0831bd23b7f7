"""The only module that writes skills to the database: the sync from files, and operators' overrides."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from coaching.models.skills import Skill, SkillKind
from coaching.skills import rules
from coaching.skills.reader import SkillFile, hash_text
from sessions_app.errors import Refused


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    added: tuple[str, ...]
    changed: tuple[str, ...]
    retired: tuple[str, ...]


@transaction.atomic
def sync_skills(*, files: Sequence[SkillFile]) -> SyncReport:
    """Update the rows from the files; overrides stay. Unchanged rows aren't written."""
    added, changed = [], []
    for file in sorted(files, key=lambda file: file.name):
        values = _values_of(file)
        # Locked in order of name, so that two syncs can't deadlock.
        row, is_new = Skill.objects.select_for_update().get_or_create(name=file.name, defaults=values)
        if is_new:
            added.append(file.name)
        elif row.change(values, reason="The file changed."):
            changed.append(file.name)
    gone = (
        Skill.objects.select_for_update().filter(is_retired=False).exclude(name__in=[f.name for f in files])
    )
    retired = [
        row.name
        for row in gone.order_by("name")
        if row.change({"is_retired": True}, reason="The file is gone.")
    ]
    return SyncReport(added=tuple(added), changed=tuple(changed), retired=tuple(retired))


def check_override(*, name: str, kind: SkillKind, text: str) -> str:
    """Return an operator's text as it would be stored. Raises `Refused` that names every error."""
    text = text.replace("\r\n", "\n").strip() + "\n"
    if faults := rules.text_faults(name=name, kind=kind, text=text):
        raise Refused(f"{name} can't be used like this: {'; '.join(faults)}.")
    return text


@transaction.atomic
def store_override(*, name: str, text: str, editor: User | None) -> Skill:
    """Store an operator's override. An empty text, or the file's own, removes it.

    Raises `Refused` if a heading is missing or the text is over its budget.
    """
    skill = Skill.objects.select_for_update().get(name=name)
    wanted = text.replace("\r\n", "\n").strip()
    if not wanted or wanted == skill.file_text.strip():
        return _return(skill, editor)
    checked = check_override(name=name, kind=SkillKind(skill.kind), text=wanted)
    values = {"override": checked, "overridden_sha256": skill.file_sha256}
    skill.change(values, editor=editor, reason="An operator's text.")
    return skill


@transaction.atomic
def return_to_file(*, name: str, editor: User | None) -> Skill:
    """Remove the override. It stays in the history."""
    return _return(Skill.objects.select_for_update().get(name=name), editor)


def _return(skill: Skill, editor: User | None) -> Skill:
    skill.change({"override": "", "overridden_sha256": ""}, editor=editor, reason="Back to the file.")
    return skill


def _values_of(file: SkillFile) -> dict[str, Any]:
    return {
        "kind": file.kind,
        "description": file.description,
        "signals": list(file.signals),
        "tools": list(file.tools),
        "file_text": file.text,
        "file_sha256": hash_text(file.text),
        "is_retired": False,
    }
