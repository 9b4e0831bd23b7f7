"""Files that are only in old conversations, as blocks in Sage's replies.

All blocks of a path make one version, merged as `save_file` would have merged them one after the other. They
don't count where the export, or the user, has that file.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from uuid import UUID
from zoneinfo import ZoneInfo

from pydantic import ValidationError

from coaching.files.attributes import NO_ATTRIBUTES
from coaching.files.drafts import FileDraft, build_draft
from coaching.files.errors import FileMoved, FileRefused
from coaching.files.saves import merge_save
from coaching.files.selectors import FileText
from coaching.files.store import store_imported
from coaching.legacy.importers.things import Problem
from coaching.legacy.storing import Target, is_made_by
from coaching.legacy.tally import Tally
from coaching.legacy_text.parser import parse_blocks
from coaching.models import UserFile, UserFileVersion
from coaching.tools.save_file import SAVE_FILE, SaveFileInput
from coaching.transcript.old_replies import ORIGINAL_KEY
from sessions_app.imports import known_sessions
from sessions_app.models import Message, MessageRole
from sessions_app.recorded import RecordedMessage, RecordedSession, message_id_of

MAX_PATHS = 10_000
TEXTS_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where blocks of a path are; texts stay in the database, since there may be many."""

    moment: datetime
    session: str
    message: str


class WrittenBlocks:
    """The files that the replies of an export wrote, by path."""

    def __init__(self, timezone: ZoneInfo) -> None:
        self._timezone = timezone
        self._places: dict[str, list[_Place]] = defaultdict(list)
        self._exported: set[str] = set()

    def leave_out(self, path: str) -> None:
        """Note that the export has this file."""
        self._exported.add(path)

    def look_in(self, recorded: RecordedSession) -> None:
        """Note the files that a session's replies wrote."""
        for message in recorded.messages:
            if message.role != MessageRole.ASSISTANT or "[" not in message.content:
                continue
            for path in {draft.path.text() for draft in self._drafts(message.content, message.created_at)}:
                if path in self._places or len(self._places) < MAX_PATHS:
                    self._places[path].append(_place(recorded, message))

    def store(self, target: Target, tally: Tally) -> Iterator[None]:
        """Store those that nobody has, yielding after each block. Raises `StorageFailed`."""
        paths = sorted(self._places.keys() - self._exported)
        held = {
            file.path: file
            for file in UserFile.of(target.user_id).filter(path__in=paths, version_number__gt=0)
        }
        tally.files += sum(is_made_by(target, file) for file in held.values())
        missing = [path for path in paths if path not in held]
        if target.row is None:
            tally.files += len(missing)
            return
        order = [
            (path, place)
            for path in missing
            for place in sorted(self._places[path], key=lambda place: place.moment)
        ]
        for path, said in groupby(_with_texts(target, order), key=lambda each: each[0]):
            merged: FileDraft | None = None
            for _, moment, text in said:
                merged = self._merged_with(merged, path, moment, text)
                yield
            self._store(target, merged, tally)
            yield

    def _store(self, target: Target, draft: FileDraft | None, tally: Tally) -> None:
        if draft is None:
            return
        draft = replace(draft, occasion="imported", expected_version=0)
        try:
            store_imported(user_id=target.user_id, draft=draft, mark=target.mark)
        except FileMoved:
            return
        except FileRefused as refused:
            tally.report(Problem(where=draft.path.text(), text=str(refused)))
        else:
            tally.files += 1

    def _merged_with(
        self, merged: FileDraft | None, path: str, moment: datetime, text: str
    ) -> FileDraft | None:
        """Return what a message's blocks of a path leave of the ones before."""
        for draft in self._drafts(text, moment):
            if draft.path.text() == path:
                merged = merge_save(draft, _as_stored(merged))
        return merged

    def _drafts(self, text: str, moment: datetime) -> Sequence[FileDraft]:
        calls = [call for call in parse_blocks(text).calls if call.name == SAVE_FILE.name]
        drafts = []
        for call in calls:
            try:
                given = SaveFileInput.model_validate(dict(call.input))
                drafts.append(
                    build_draft(
                        file_type=given.file_type,
                        file_name=given.file_name,
                        content=given.content,
                        attributes=given.attributes or NO_ATTRIBUTES,
                        now=moment,
                        timezone=self._timezone,
                    )
                )
            except (ValidationError, FileRefused):
                continue  # the words stay in the message
        return drafts


def _place(recorded: RecordedSession, message: RecordedMessage) -> _Place:
    return _Place(
        moment=message.created_at, session=recorded.imported_id, message=message_id_of(message.imported_id)
    )


def _with_texts(target: Target, order: Sequence[tuple[str, _Place]]) -> Iterator[tuple[str, datetime, str]]:
    """Yield path, moment and text of each place, reading some texts at a time."""
    for start in range(0, len(order), TEXTS_AT_ONCE):
        some = order[start : start + TEXTS_AT_ONCE]
        known = known_sessions(user_id=target.user_id, imported_ids={place.session for _, place in some})
        ids = {imported_id: session.session_id for imported_id, session in known.items()}
        said = Message.of(target.user_id).filter(
            session__in=ids.values(), client_id__in={place.message for _, place in some}
        )
        columns = ("session_id", "client_id", "content", f"metadata__{ORIGINAL_KEY}")
        texts: dict[tuple[UUID | None, str | None], str] = {
            (session, message): original or text
            for session, message, text, original in said.values_list(*columns)
        }
        for path, place in some:
            yield path, place.moment, texts.get((ids.get(place.session), place.message), "")


def _as_stored(draft: FileDraft | None) -> FileText | None:
    if draft is None:
        return None
    file = UserFile(path=draft.path.text(), file_type=draft.file_type, version_number=1)
    return FileText(file=file, version=UserFileVersion(file=file, number=1, content=draft.text))
