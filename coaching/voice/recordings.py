"""Recordings: taken once, turned into words by a job, and erased.

The audio is stored only until its words are known, or it turns out that there will be none: the page keeps
its own copy until then. Words stay until the page has taken them.
"""

import uuid
from datetime import datetime, timedelta
from hashlib import sha256

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_noop

from coaching.files.objects import StoredObject, erase_object_now, store_object_now
from coaching.files.quota import lock_usage
from coaching.job_queue.names import RECORDING_JOB, VOICE_QUEUE
from coaching.job_queue.queue import enqueue, is_queued, is_running
from coaching.models import Profile, Recording, RecordingState
from coaching.people.attempts import AttemptLimit
from coaching.sandbox.limits import MEGABYTE
from coaching.voice.sound import is_recording, is_silent, seconds_of
from coaching.voice.transcription import can_transcribe, transcription_host
from coaching.voice.usage import check_budget
from sessions_app.errors import OverLimit, Refused
from sessions_app.text import check_client_id

MAX_CHARACTERS = 20_000
"""As long as a message."""
MAX_MINUTES = 10
MAX_MB = 25
AT_ONCE = 3
TAKEN_IN_TEN_MINUTES = 60
KEPT = timedelta(hours=17)
"""The job that erases older ones runs every six hours, so none stays for a day."""
LOST_AFTER = timedelta(seconds=30)
"""Of those that wait for longer it is checked whether their job is still there, and whether it runs."""
_SLACK_SECONDS = 2.0
"""A page counts samples as they come, and may be late by a moment."""

NOT_AGREED = gettext_noop(
    "You haven’t agreed yet to who hears your recordings. Reload the page and try again."
)
NO_SOUND = gettext_noop(
    "Nothing can be heard in this recording. Check that the right microphone is chosen and isn’t muted, and "
    "try again."
)
NOT_READ = gettext_noop("Sage couldn’t read this recording. Please record it again.")
NOT_FOUND = gettext_noop("Sage couldn’t get the recording right now. Try again in a moment.")
BROKEN_OFF = gettext_noop(
    "Sage couldn’t write this down right now. Your recording is still here: try again in a moment."
)

taken = AttemptLimit(attempts=TAKEN_IN_TEN_MINUTES, seconds=600)


class TooManyRecordings(OverLimit):
    """A person has as many recordings as are turned into words at once."""

    def __init__(self) -> None:
        super().__init__(
            gettext_noop(
                "Sage is still writing down %(most)s of your recordings. This one waits: send it again when "
                "one of them is done."
            ),
            wait_seconds=10,
            most=AT_ONCE,
        )


def has_agreed(user_id: int) -> bool:
    """Return whether the person has agreed to who hears recordings now."""
    return can_transcribe() and Profile.of(user_id).filter(heard_by=transcription_host()).exists()


def take_recording(*, user_id: int, client_id: object, data: bytes) -> Recording:
    """Store a recording to be turned into words, once for the same sound; one that failed is tried again.

    Another sound under a client id that is known is another recording, with an id of its own. Blocks,
    outside transactions. Raises `Refused`, `TooOften` and `StorageFailed`, and stores nothing then.
    """
    name = check_client_id(client_id)
    if name is None:
        raise Refused(NOT_READ)
    digest = sha256(data).hexdigest()
    known = current_recording(user_id=user_id, client_id=_own_id(user_id, name, digest))
    if known is not None and known.state != RecordingState.FAILED:
        return known
    _check_sound(data)
    _check_waiting(user_id)
    check_budget(user_id)
    taken.count(user_id)
    stored = store_object_now(user_id=user_id, data=data)
    try:
        recording = _store(user_id=user_id, client_id=name, seconds=seconds_of(data), stored=stored)
    except Refused:
        erase_object_now(stored.key)
        raise
    if recording.storage_key != stored.key:  # it was sent twice at once, and the other one was first
        erase_object_now(stored.key)
    return recording


def _own_id(user_id: int, client_id: str, digest: str) -> str:
    """Return the id for a sound under a client id: one of its own where another sound waits or has words.

    A sound that waits or has words keeps its id when the other one fails or is erased.
    """
    other_id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{client_id} {digest}"))
    rows = Recording.of(user_id).filter(client_id__in=(client_id, other_id))
    current = {row.client_id: row.sha256 for row in rows.exclude(state=RecordingState.FAILED)}
    if other_id in current or current.get(client_id, digest) != digest:
        return other_id
    return client_id


def is_late(recording: Recording) -> bool:
    """Return whether a recording has waited for long, and no worker turns it into words."""
    return _is_old(recording) and not is_running(_job_key(recording))


def find_recording(*, user_id: int, client_id: str) -> Recording | None:
    """Return a recording by the id that its page has chosen."""
    return Recording.of(user_id).filter(client_id=client_id).first()


def current_recording(*, user_id: int, client_id: str) -> Recording | None:
    """Return a recording as it is now: one that waits has failed if its job was lost. Blocks."""
    found = find_recording(user_id=user_id, client_id=client_id)
    if found is None or found.state != RecordingState.WAITING or not _is_lost(found):
        return found
    end_recording(found, reason=BROKEN_OFF)  # nothing, if it has ended meanwhile
    return find_recording(user_id=user_id, client_id=client_id)


def end_recording(recording: Recording, *, text: str = "", reason: str = "") -> None:
    """Store a recording's words, or why there are none, and erase its audio. Blocks."""
    state = RecordingState.FAILED if reason else RecordingState.DONE
    rows = Recording.of(recording.user_id).filter(id=recording.pk, storage_key=recording.storage_key)
    rows.update(state=state, text=text, reason=reason, storage_key="")
    erase_object_now(recording.storage_key)


def drop_recording(*, user_id: int, client_id: str) -> None:
    """Delete a recording with its audio and words, wherever it is. One that is gone is no error. Blocks."""
    recording = find_recording(user_id=user_id, client_id=client_id)
    if recording is not None:
        _delete(recording)


def erase_old_recordings(*, now: datetime) -> int:
    """Delete recordings whose page never came back for their words; return how many. Blocks."""
    old = list(Recording.unscoped.filter(made_at__lt=now - KEPT))
    for recording in old:
        _delete(recording)
    return len(old)


def _check_sound(data: bytes) -> None:
    if len(data) > MAX_MB * MEGABYTE:
        raise Refused(
            gettext_noop("This recording has %(size)s MB. The limit is %(most)s MB."),
            size=len(data) / MEGABYTE,
            most=MAX_MB,
        )
    if not is_recording(data):
        raise Refused(NOT_READ)
    if seconds_of(data) > MAX_MINUTES * 60 + _SLACK_SECONDS:
        raise Refused(
            gettext_noop("This recording is longer than %(most)s minutes. Please record it in parts."),
            most=MAX_MINUTES,
        )
    if is_silent(data):
        raise Refused(NO_SOUND)


def _check_waiting(user_id: int) -> None:
    waiting = Recording.of(user_id).filter(state=RecordingState.WAITING)
    if sum(not _is_lost(each) for each in waiting) >= AT_ONCE:
        raise TooManyRecordings


def _is_lost(recording: Recording) -> bool:
    """Return whether no job will end a recording that waits: it failed, or killed its workers."""
    return _is_old(recording) and not is_queued(_job_key(recording))


def _is_old(recording: Recording) -> bool:
    return recording.made_at < timezone.now() - LOST_AFTER


def _job_key(recording: Recording) -> str:
    return f"recording:{recording.pk}"


@transaction.atomic
def _store(*, user_id: int, client_id: str, seconds: float, stored: StoredObject) -> Recording:
    lock_usage(user_id)  # a person's recordings are taken one after another
    own_id = _own_id(user_id, client_id, stored.sha256)
    recording = find_recording(user_id=user_id, client_id=own_id)
    if recording is not None and recording.state != RecordingState.FAILED:
        return recording
    _check_waiting(user_id)
    recording = recording or Recording(user_id=user_id, client_id=own_id)
    recording.state, recording.reason, recording.made_at = RecordingState.WAITING, "", timezone.now()
    recording.seconds, recording.size = round(seconds), stored.size
    recording.storage_key, recording.sha256 = stored.key, stored.sha256
    recording.save()
    enqueue(RECORDING_JOB, key=_job_key(recording), queue=VOICE_QUEUE, recording_id=recording.pk)
    return recording


def _delete(recording: Recording) -> None:
    recording.delete()
    if recording.storage_key:
        erase_object_now(recording.storage_key)
