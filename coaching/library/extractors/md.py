"""Markdown, as it is written: a model reads it well."""

from coaching.library.extractors.decoding import decode
from coaching.library.extractors.extracted import Extracted


def extract(data: bytes) -> Extracted:
    return Extracted(pages=(decode(data),))
