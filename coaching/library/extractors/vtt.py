"""WebVTT transcripts."""

from coaching.library.extractors.decoding import decode
from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.transcript_lines import read_cues


def extract(data: bytes) -> Extracted:
    """Return the cues with times and speakers."""
    return read_cues(decode(data))
