"""The words of a recording in the library: a transcript with times, by the server or the model file.

What it is was found in the sandbox; its bytes are parsed by that server, or there, alone. Without either, or
without its person's agreement, a recording isn't read.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from django.utils.translation import gettext_noop

from coaching.files.objects import stream_object
from coaching.library.extractors.content_types import RECORDINGS
from coaching.library.pipeline.extracted import Extraction
from coaching.model_client.requests import store_usage
from coaching.models import Document
from coaching.voice.recordings import has_agreed
from coaching.voice.transcriber import Segment, Transcription
from coaching.voice.transcription import can_transcribe
from coaching.voice.usage import check_budget, usage_row
from coaching.voice.words import words_with_times
from sessions_app.database import in_database
from sessions_app.errors import Refused

MOST_SECONDS = 480.0
"""A document that is read for ten minutes is taken for one whose worker was lost."""
UNHEARD = gettext_noop("This is a recording. This server can’t turn speech into words.")
WITHHELD = gettext_noop("This is a recording, which wasn’t turned into words because you withheld it.")
NOT_AGREED = gettext_noop(
    "This is a recording. Before Sage turns it into words, agree to who hears it, under Settings, Your data. "
    "Then let Sage read it again."
)
WORDLESS = gettext_noop("No words were heard in this recording.")


def is_recording(extraction: Extraction) -> bool:
    return extraction.content_type in RECORDINGS


async def heard_in(document: Document, extraction: Extraction) -> Extraction:
    """Return a recording's extraction with its words, or with a sentence why there are none.

    Raises `StorageFailed`, and `OverBudget` before anything is sent.
    """
    if not can_transcribe():
        return replace(extraction, outcome="refused", sentence=UNHEARD)
    if document.is_withheld:
        return replace(extraction, sentence=WITHHELD)
    if not await in_database(has_agreed, document.user_id):
        return replace(extraction, outcome="broken", sentence=NOT_AGREED)
    await in_database(check_budget, document.user_id)
    audio = b"".join([piece async for piece in stream_object(document.storage_key or "")])
    began = time.monotonic()
    try:
        transcription = await words_with_times(
            audio, name=_name_of(extraction), media_type=extraction.content_type, most_seconds=MOST_SECONDS
        )
    except Refused as refusal:
        return replace(extraction, outcome="broken", sentence=str(refusal))
    if transcription.has_usage:
        row = usage_row(transcription, user_id=document.user_id, seconds=time.monotonic() - began)
        await in_database(store_usage, row)
    return _with_words(extraction, transcription)


def _name_of(extraction: Extraction) -> str:
    """Return a name from which servers see the format. The person's own stays here."""
    _, _, kind = extraction.content_type.partition("/")
    return f"recording.{ {'mpeg': 'mp3', 'mp4': 'm4a'}.get(kind, kind) }"


def _with_words(extraction: Extraction, transcription: Transcription) -> Extraction:
    text = "\n".join(_lines(transcription.segments)) or transcription.text
    if not any(character.isalnum() for character in text):
        return replace(extraction, sentence=WORDLESS)
    hints = {"ends_at": _moment(transcription.segments[-1].ends)} if transcription.segments else {}
    return replace(extraction, outcome="text", sentence="", pages=(text,), page_count=1, hints=hints)


def _lines(segments: Sequence[Segment]) -> Sequence[str]:
    """Return a line for each sentence, or some, as those of a subtitle file: `[00:01:05] words`."""
    lines: list[str] = []
    begins, words = 0.0, ""
    for segment in segments:
        if not words:
            begins = segment.begins
        words = f"{words} {segment.text}".strip()
        if words.endswith((".", "!", "?", "…", "。")) or len(words) > 300:
            lines.append(f"[{_moment(begins)}] {words}")
            words = ""
    return [*lines, f"[{_moment(begins)}] {words}"] if words else lines


def _moment(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
