"""What another app knew about a person is proposed for Sage's page about them.

An import makes one proposal, without what an earlier one has proposed. Only its person's yes, on the page of
imports, writes it, as an edit of theirs.
"""

from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_noop

from coaching.clock.days import local_day
from coaching.files.drafts import build_draft
from coaching.files.edits import editable_of
from coaching.files.errors import FileMoved
from coaching.files.saves import prepare_save
from coaching.files.selectors import read_file
from coaching.files.store import store_edit
from coaching.files.types import RULES
from coaching.legacy.importers.about import FoundNote
from coaching.models import FileType, Import, ImportState, Profile, UserFile
from sessions_app.errors import Refused
from sessions_app.text import mended

PAGE = RULES[FileType.SAGE_CONTEXT].place
PROPOSED, ADDED, DISMISSED = "proposed", "added", "dismissed"
MAX_TEXT_CHARACTERS = 30_000
"""Of a proposal as its person sends it, with headings and what they have written into it."""
MAX_TRIES = 3

ANSWERED = gettext_noop("You’ve already answered this.")
TOO_LONG = gettext_noop("This is too long for one page: at most %(most)s characters fit. Please shorten it.")
EMPTY = gettext_noop("There’s nothing to add. If you don’t want any of it, choose “Don’t add”.")


def propose(row: Import, notes: Sequence[FoundNote]) -> None:
    """Set an import's proposal, unless it has one. The caller saves `about`."""
    if row.about:
        return
    others = Import.of(row.user_id).exclude(pk=row.pk).exclude(state=ImportState.UNDONE)
    known = {
        note["text"]
        for about in others.exclude(about={}).values_list("about", flat=True)
        for note in about["notes"]
    }
    new = [
        {"kind": note.kind, "project": mended(note.project), "text": text}
        for note in notes
        if (text := mended(note.text)) not in known
    ]
    if new:
        row.about = {"state": PROPOSED, "notes": new}


def withdraw(row: Import) -> bool:
    """Take a proposal back; return whether its text was added, which stays. The caller saves `about`."""
    if row.about.get("state") == ADDED:
        return True
    row.about = {}
    return False


def text_of_proposal(row: Import) -> str:
    """Return a proposal as it would stand on the page: what each text is, and where it comes from."""
    day = date_format(local_day(row.created_at, _profile(row.user_id).zone), "DATE_FORMAT")
    head = gettext("From %(app)s, imported on %(day)s") % {"app": row.get_file_format_display(), "day": day}
    parts = [f"## {head}"]
    for note in row.about.get("notes", ()):
        parts += [f"### {_title(note)}", note["text"]]
    return "\n\n".join(parts)


def _title(note: dict[str, str]) -> str:
    project = note["project"]
    if note["kind"] == "memories":
        return gettext("Memories of the project “%s”") % project if project else gettext("Memories")
    if project:
        return gettext("Instructions for the project “%s”") % project
    return gettext("Your instructions")


def add_to_page(*, user_id: int, import_id: int, text: str) -> None:
    """Append a proposal, as its person has edited it, to the page. Blocks.

    Raises `Refused`, `FileRefused`, `StorageFailed`, `Import.DoesNotExist`.
    """
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise Refused(EMPTY)
    if len(text) > MAX_TEXT_CHARACTERS:
        raise Refused(TOO_LONG, most=MAX_TEXT_CHARACTERS)
    zone = _profile(user_id).zone
    for tries in range(1, MAX_TRIES + 1):
        _proposed(Import.of(user_id).get(pk=import_id))
        body = "\n\n".join(filter(None, [_body(user_id), text]))
        draft = build_draft(file_type=FileType.SAGE_CONTEXT, content=body, now=timezone.now(), timezone=zone)
        draft = prepare_save(user_id=user_id, draft=draft)
        try:
            store_edit(user_id=user_id, draft=draft, expected_version=draft.expected_version or 0)
        except FileMoved:
            if tries == MAX_TRIES:
                raise
        else:
            break
    _answer(user_id, import_id, ADDED)


def dismiss(*, user_id: int, import_id: int) -> None:
    """Dismiss a proposal. Raises `Refused` if it was answered, `Import.DoesNotExist`."""
    _proposed(Import.of(user_id).get(pk=import_id))
    _answer(user_id, import_id, DISMISSED)


def _profile(user_id: int) -> Profile:
    return Profile.of(user_id).first() or Profile(user_id=user_id)


def _proposed(row: Import) -> None:
    if row.about.get("state") != PROPOSED:
        raise Refused(ANSWERED)


@transaction.atomic
def _answer(user_id: int, import_id: int, state: str) -> None:
    row = Import.of(user_id).select_for_update().get(pk=import_id)
    row.about = {**row.about, "state": state}
    row.save(update_fields=["about"])


def _body(user_id: int) -> str:
    try:
        return editable_of(read_file(user_id=user_id, path=PAGE)).body
    except UserFile.DoesNotExist:
        return ""
