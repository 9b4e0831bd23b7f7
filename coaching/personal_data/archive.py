"""All of a person's data as one zip, created while it is sent: markdown for people, JSON for programs.

Nothing is stored: no copy to remove later, and no worker needed. Only a few rows are in memory at a time, and
no transaction is open between two of them: what is said during the export may or may not be in it.
"""

from collections.abc import AsyncIterator, Generator, Iterator
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User

from coaching.clock.days import local_day
from coaching.downloads.zip_stream import Entry, send_pieces, write_zip
from coaching.files.archive import OLD_VERSIONS, read_deleted_entries, read_file_entries
from coaching.models import Profile
from coaching.personal_data.library import read_library_entries
from coaching.personal_data.photos import read_photo_entries
from coaching.personal_data.readme import write_readme
from coaching.personal_data.rows import (
    account_as_json,
    exported_models,
    file_name_of,
    in_batches,
    rows_as_json,
)
from coaching.personal_data.transcript import transcript_name, write_transcript
from sessions_app.languages import in_the_language_of_now
from sessions_app.models import USED, Session


def archive_name(now: datetime, zone: ZoneInfo) -> str:
    """Return the name of an archive of the person's day at `now` (aware), without extension."""
    return f"sage-export-{local_day(now, zone)}"


def write_archive(user: User, *, now: datetime) -> Iterator[bytes]:
    """Return the person's archive in pieces, in the language that is active.

    Sync ORM code; each piece may run in another thread.
    """
    return in_the_language_of_now(_pieces(user, now))


def _pieces(user: User, now: datetime) -> Generator[bytes, None, None]:
    profile = Profile.of(user.pk).first() or Profile(user=user)
    folder = archive_name(now, profile.zone)
    yield from write_zip(_entries(user, profile, now), folder=folder, zone=profile.zone)


def stream_archive(user: User, *, now: datetime) -> AsyncIterator[bytes]:
    """Return the person's archive, written off the event loop in threads that conversations don't need."""
    return send_pieces(write_archive(user, now=now))


def _entries(user: User, profile: Profile, now: datetime) -> Iterator[Entry]:
    """Yield the archive's entries in unpacking order, the guide first."""
    yield Entry(path="README.md", changed_at=now, pieces=[write_readme(user, profile, now=now)])
    yield from _conversations(user, profile.zone)
    yield from _files(user)
    yield from read_photo_entries(user_id=user.pk, now=now)
    yield from read_library_entries(user_id=user.pk, zone=profile.zone, now=now)
    yield Entry(path="data/account.json", changed_at=now, pieces=[account_as_json(user)])
    for owned in exported_models():
        pieces = rows_as_json(owned, user_id=user.pk)
        yield Entry(path=f"data/{file_name_of(owned)}", changed_at=now, pieces=pieces)


def _conversations(user: User, zone: ZoneInfo) -> Iterator[Entry]:
    used = Session.of(user.pk).filter(USED).defer("opening").select_related("folder")
    for session in in_batches(used):
        yield Entry(
            path=f"conversations/{transcript_name(session, zone=zone)}",
            changed_at=session.last_active_at,
            pieces=write_transcript(session, zone=zone),
        )


def _files(user: User) -> Iterator[Entry]:
    """Yield every file at its newest version, and its older ones in a folder of their own."""
    for entry in read_file_entries(user_id=user.pk, has_versions=True):
        is_old = entry.path.startswith(f"{OLD_VERSIONS}/")
        yield entry if is_old else replace(entry, path=f"files/{entry.path}")
    yield from read_deleted_entries(user_id=user.pk)
