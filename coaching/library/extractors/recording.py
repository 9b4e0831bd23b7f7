"""Recordings: nothing of them is read here. A transcription server, if there is one, hears them."""

from coaching.library.extractors.extracted import Extracted


def extract(_data: bytes) -> Extracted:
    """Return no text."""
    return Extracted()
