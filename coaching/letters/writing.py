"""Writes the letter about a month once: what a model says of it, as far as the person's words bear it out.

Nothing is written for somebody who doesn't want it, while they are in care, over their budget, or about a
month with too little. Words and care are read again after the model has answered. The job decides when.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

import structlog
from django.conf import settings
from django.db import transaction

from coaching.care.reading import read_care
from coaching.engine.errors import UpstreamError
from coaching.engine.ports import ModelClient
from coaching.files.attributes import FileAttributes
from coaching.files.drafts import FileDraft, build_draft
from coaching.files.errors import FileMoved
from coaching.files.objects import StoredObject, store_object
from coaching.files.quota import refuse_when_full
from coaching.files.store import store_version
from coaching.letters.checking import ClaimedParagraph, Sayings, checked
from coaching.letters.due import has_ended
from coaching.letters.request import build_letter_request, read_answer
from coaching.letters.text import letter_body, preview_of
from coaching.letters.words import MonthWords, read_month
from coaching.model_client.requests import request_object
from coaching.models import FileSource, FileType, Letter, Profile
from coaching.people.languages import in_language_of
from sessions_app.database import in_database
from sessions_app.limits import refuse_over_budget
from sessions_app.models import CorrectionKind, UsagePurpose

LETTER_SECONDS = 180.0
PREVIEW_CHARACTERS = 200

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterDraft:
    """A letter to store, or None where nothing may be written now; `is_empty`: nothing can be said."""

    draft: FileDraft | None = None
    is_empty: bool = False


async def write_letter(user_id: int, month: date, *, client: ModelClient, now: datetime) -> bool:
    """Write a person's letter about a month; return whether this call did.

    Raises `UpstreamError`, `Refused` over the budget or the quota, and `StorageFailed`.
    """
    words = await in_database(_begin, user_id, month, now)
    if words is None:
        return False
    reply, _ = await request_object(
        client,
        build_letter_request(words),
        session_id=None,
        purpose=UsagePurpose.LETTER,
        seconds=LETTER_SECONDS,
        user_id=user_id,
    )
    claimed = read_answer(reply.text)
    if reply.stop_reason not in ("end_turn", "stop_sequence") or claimed is None:
        raise UpstreamError("rejected", detail=f"no letter, stop reason {reply.stop_reason}")
    written = await in_database(_compose, user_id, month, claimed, now)
    if written.is_empty:
        await in_database(_end, user_id, month, now)
    if written.draft is None:
        logger.info("letter_not_written", user_id=user_id, is_empty=written.is_empty)
        return False
    stored = await store_object(user_id=user_id, data=written.draft.data)
    return await in_database(_store, user_id, month, written.draft, stored, now)


@transaction.atomic
def _begin(user_id: int, month: date, now: datetime) -> MonthWords | None:
    """Count an attempt and return what the letter may rest on; None where there is nothing to do now."""
    profile = _wanting(user_id, now)
    if profile is None:
        return None
    letter = _locked(user_id, month)
    if Letter.of(user_id).filter(has_ended(now), pk=letter.pk).exists():
        return None
    words = read_month(profile=profile, month=month)
    if not words.is_enough:
        _conclude(letter, now)
        return None
    if daily_tokens := settings.SAGE_DAILY_TOKENS:
        refuse_over_budget(user_id=user_id, daily_tokens=daily_tokens)
    letter.attempts, letter.tried_at = letter.attempts + 1, now
    letter.save(update_fields=["attempts", "tried_at"])
    return words


def _wanting(user_id: int, now: datetime) -> Profile | None:
    """Return the profile of somebody who wants a letter and may get one now."""
    profile = Profile.of(user_id).filter(wants_letters=True).select_related("user").first()
    if profile is None or read_care(user_id=user_id, now=now, zone=profile.zone).holds_offers:
        return None
    return profile


def _compose(user_id: int, month: date, claimed: Sequence[ClaimedParagraph], now: datetime) -> LetterDraft:
    """Return the draft of what the person's words bear out of a model's paragraphs."""
    profile = _wanting(user_id, now)
    if profile is None:
        return LetterDraft()
    words = read_month(profile=profile, month=month)
    struck = [each.line for each in words.corrections if each.kind == CorrectionKind.STRIKE]
    paragraphs = checked(claimed, Sayings(words.said), struck=struck)
    if not paragraphs:
        return LetterDraft(is_empty=True)
    with in_language_of(profile.user):
        body = letter_body(paragraphs, month=month, name=profile.name)
    draft = build_draft(
        file_type=FileType.LETTER,
        file_name=f"{month:%Y-%m}",
        content=body,
        attributes=FileAttributes(preview_line=preview_of(paragraphs, characters=PREVIEW_CHARACTERS)),
        now=now,
        timezone=profile.zone,
    )
    refuse_when_full(user_id=user_id, size=len(draft.data))
    return LetterDraft(draft=replace(draft, expected_version=0))


@transaction.atomic
def _store(user_id: int, month: date, draft: FileDraft, stored: StoredObject, now: datetime) -> bool:
    """Store the letter, unless there is one or the month has a file of that name."""
    letter = _locked(user_id, month)
    if letter.ended_at is not None or not Profile.of(user_id).filter(wants_letters=True).exists():
        return False
    try:
        with transaction.atomic():
            file = store_version(user_id=user_id, draft=draft, stored=stored, source=FileSource.JOB)
    except FileMoved:
        _conclude(letter, now)
        return False
    letter.file_id = file.file_id
    _conclude(letter, now)
    logger.info("letter_written", user_id=user_id)
    return True


@transaction.atomic
def _end(user_id: int, month: date, now: datetime) -> None:
    _conclude(_locked(user_id, month), now)


def _locked(user_id: int, month: date) -> Letter:
    Letter.of(user_id).bulk_create([Letter(user_id=user_id, month=month)], ignore_conflicts=True)
    return Letter.of(user_id).select_for_update().get(month=month)


def _conclude(letter: Letter, now: datetime) -> None:
    letter.ended_at = now
    letter.save(update_fields=["file", "ended_at"])
