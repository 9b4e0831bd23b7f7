"""Web pages."""

import re

from coaching.library.extractors.decoding import decode
from coaching.library.extractors.extracted import Extracted
from coaching.library.extractors.markup import parse_html

_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*+=\s*+["']?\s*+([a-zA-Z0-9_-]{1,40})""", re.IGNORECASE)


def extract(data: bytes) -> Extracted:
    """Return the visible text and the title."""
    declared = _CHARSET.search(data[:4_096])
    title, text = parse_html(decode(data, declared[1].decode() if declared else ""))
    return Extracted(pages=(text,), hints={"title": title} if title else {})
