"""The words of recordings, by what this installation has: a transcription server, or a model file."""

from django.utils.translation import gettext_noop

from coaching.voice.recogniser import recognise
from coaching.voice.sound import HEARD_FORMATS
from coaching.voice.transcriber import LEAST_SECONDS, Transcription, transcribe, transcribe_with_times
from coaching.voice.transcription import speech_model
from sessions_app.errors import Refused

TURN_SECONDS = 600.0
"""How long a dictated recording waits for others that this machine turns into words."""
OTHER_KIND = gettext_noop(
    "Sage’s own speech recognition can’t read this kind of recording. It reads WAV, MP3 and OGG. The file is "
    "kept; to get a transcript, upload the recording again as one of these."
)


async def words_of(audio: bytes, *, seconds: float) -> Transcription:
    """Return the words of a WAV recording, which is so many seconds long. Raises `Refused`."""
    model = speech_model()
    if model is None:
        return await transcribe(audio, seconds=seconds)
    most_seconds = TURN_SECONDS + LEAST_SECONDS + 2 * seconds
    return await recognise(model, audio, content_type="audio/wav", most_seconds=most_seconds)


async def words_with_times(audio: bytes, *, name: str, media_type: str, most_seconds: float) -> Transcription:
    """Return the words of a file with their times; without times from a server that doesn't know them.

    Raises `Refused`, after `most_seconds` at the latest.
    """
    model = speech_model()
    if model is None:
        return await transcribe_with_times(audio, name=name, media_type=media_type, most_seconds=most_seconds)
    if media_type not in HEARD_FORMATS:
        raise Refused(OTHER_KIND)
    return await recognise(model, audio, content_type=media_type, most_seconds=most_seconds)
