"""Plain text."""

from coaching.library.extractors.decoding import decode
from coaching.library.extractors.extracted import Extracted


def extract(data: bytes) -> Extracted:
    """Return the text by its form feeds."""
    pages = tuple(decode(data).split("\f"))
    return Extracted(pages=pages, page_count=len(pages))
