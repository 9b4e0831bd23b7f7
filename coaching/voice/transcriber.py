"""Asks the transcription server for the words of recordings, by OpenAI's `/v1/audio/transcriptions`.

The operator names the server, so it may be in a private network. Redirects aren't followed, because the key
would go along; the answer's size and the time are limited. Nothing here logs words.
"""

import asyncio
import io
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import aiohttp
import structlog
from django.conf import settings
from django.utils.translation import gettext_noop

from coaching.voice.transcription import transcription_url
from sessions_app.errors import Refused
from sessions_app.text import mended

CONNECT_SECONDS = 10.0
LEAST_SECONDS = 60.0
MAX_ANSWER_BYTES = 1 << 20
MOST_SECONDS = 24 * 3600.0
"""Times beyond a day are wrong."""

UNREACHED = gettext_noop(
    "The server that turns speech into words can’t be reached right now. Your recording is still here: try "
    "again in a moment."
)
TOO_SLOW = gettext_noop(
    "The server that turns speech into words took too long. Your recording is still here: try again in a "
    "moment, or record it in parts."
)
BUSY = gettext_noop(
    "The server that turns speech into words has too much to do right now. Your recording is still here: try "
    "again in a moment."
)
FAILING = gettext_noop(
    "The server that turns speech into words has a problem right now. Your recording is still here: try "
    "again in a moment."
)
NOT_ALLOWED = gettext_noop(
    "The server that turns speech into words doesn’t accept the key. Please tell the person who runs this "
    "server."
)
TOO_LARGE = gettext_noop("This recording is too large for the server that turns speech into words.")
NOT_TAKEN = gettext_noop("The server that turns speech into words couldn’t read this recording.")
NO_WORDS = gettext_noop(
    "No words were heard in this recording. Speak closer to the microphone and try again."
)

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """What was said from one second of a recording to another."""

    begins: float
    ends: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcription:
    """The words of a recording, and what its server counted, as far as it says it.

    `segments` are the words with their times, if those were asked for and the server knows them.
    """

    text: str
    segments: tuple[Segment, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    seconds: int | None = None

    @property
    def has_usage(self) -> bool:
        return (self.input_tokens, self.output_tokens, self.seconds) != (None, None, None)


async def transcribe(audio: bytes, *, seconds: float) -> Transcription:
    """Return the words of a WAV recording, which is so many seconds long. Raises `Refused`.

    It may take twice as long as the recording, and a minute more.
    """
    form = _form(audio, name="recording.wav", media_type="audio/wav")
    form.add_field("response_format", "json")
    return await _request(form, most_seconds=LEAST_SECONDS + 2 * seconds)


async def transcribe_with_times(
    audio: bytes, *, name: str, media_type: str, most_seconds: float
) -> Transcription:
    """Return the words of a file with their times; without times from a server that doesn't know them.

    Raises `Refused`, after `most_seconds` at the latest.
    """
    began = time.monotonic()
    timed = _form(audio, name=name, media_type=media_type)
    timed.add_field("response_format", "verbose_json")
    timed.add_field("timestamp_granularities[]", "segment")
    try:
        return await _request(timed, most_seconds=most_seconds)
    except Refused as refusal:
        if str(refusal) != NOT_TAKEN:
            raise
    plain = _form(audio, name=name, media_type=media_type)
    plain.add_field("response_format", "json")
    return await _request(plain, most_seconds=most_seconds - (time.monotonic() - began))


def _form(audio: bytes, *, name: str, media_type: str) -> aiohttp.FormData:
    form = aiohttp.FormData()
    # As a file, which is sent in pieces: aiohttp warns about large bytes.
    form.add_field("file", io.BytesIO(audio), filename=name, content_type=media_type)
    form.add_field("model", settings.SAGE_TRANSCRIBE_MODEL)
    return form


async def _request(form: aiohttp.FormData, *, most_seconds: float) -> Transcription:
    try:
        async with asyncio.timeout(most_seconds), _open_session() as session:
            post = session.post(transcription_url(), data=form, allow_redirects=False)
            async with post as response:
                body = await _body(response)
    except TimeoutError:
        raise _failed(TOO_SLOW, "timeout") from None
    except (aiohttp.ClientError, OSError) as error:
        raise _failed(UNREACHED, type(error).__name__) from None
    if response.status != HTTPStatus.OK:
        raise _failed(_sentence_for(response.status), str(response.status))
    return read_answer(body, response.content_type)


def _open_session() -> aiohttp.ClientSession:
    key = settings.SAGE_TRANSCRIBE_KEY
    return aiohttp.ClientSession(
        headers={"Accept-Encoding": "identity", **({"Authorization": f"Bearer {key}"} if key else {})},
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        trust_env=False,
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
    )


async def _body(response: aiohttp.ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise aiohttp.ClientPayloadError("the answer is too large")
    return bytes(body)


def read_answer(body: bytes, content_type: str = "application/json") -> Transcription:
    """Read an answer. Servers that ignore `response_format` answer with plain text. Raises `Refused`."""
    if content_type == "text/plain":
        return Transcription(text=_words(body.decode(errors="replace")))
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        raise _failed(FAILING, "not JSON") from None
    if not isinstance(said, dict) or not isinstance(said.get("text"), str):
        raise _failed(FAILING, "no text")
    usage = said.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Transcription(
        text=_words(said["text"]),
        segments=tuple(_segments(said.get("segments"))),
        input_tokens=_count(usage, "input_tokens"),
        output_tokens=_count(usage, "output_tokens"),
        seconds=_count(usage, "seconds"),
    )


def _segments(listed: object) -> Iterator[Segment]:
    """Yield what is usable of a list of segments: each begins where the one before does, or later."""
    before = 0.0
    for each in listed if isinstance(listed, list) else ():
        begins, ends = (each.get("start"), each.get("end")) if isinstance(each, dict) else (None, None)
        if not (isinstance(begins, int | float) and isinstance(ends, int | float)):
            continue
        text = _words(each["text"]) if isinstance(each.get("text"), str) else ""
        if text and before <= begins <= ends <= MOST_SECONDS:
            before = float(begins)
            yield Segment(begins=before, ends=float(ends), text=text)


def _words(text: str) -> str:
    """Return a text on one line; empty without words.

    Recognisers write `[BLANK_AUDIO]`, `(music) [noise]` or `♪` where nobody speaks.
    """
    words = mended(" ".join(text.split()))
    depth, is_said = 0, False
    for character in words:
        depth = max(0, depth + (character in "[(") - (character in "])"))
        is_said = is_said or (depth == 0 and character.isalnum())
    is_open = depth > 0 and any(map(str.isalnum, words))  # no mark: it never ends
    return words if is_said or is_open else ""


def _count(usage: Mapping[str, Any], name: str) -> int | None:
    value = usage.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**31:
        return None
    return round(value)


def _sentence_for(status: int) -> str:
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return NOT_ALLOWED
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return TOO_LARGE
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return BUSY
    if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, HTTPStatus.UNPROCESSABLE_ENTITY):
        return NOT_TAKEN
    return FAILING


def _failed(sentence: str, cause: str) -> Refused:
    logger.warning("recording_not_transcribed", cause=cause)
    return Refused(sentence)
