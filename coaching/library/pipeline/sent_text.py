"""The part of a document's text that the model is shown: its beginning and end, with page marks."""

from collections.abc import Sequence

from coaching.context.budget import count_tokens
from coaching.context.fences import fence

DOCUMENT_TOKENS = 6_000
"""The most of one document that a call carries."""
HEAD_SHARE = 0.67
LEFT_OUT = "[…] {count:,} characters are left out here […]"


def sent_text(text: str, *, pages_read: Sequence[int] = (), tokens: int = DOCUMENT_TOKENS) -> str:
    """Return the text that is sent, at most `tokens` long; fenced, so that it can't leave its section.

    Pages are parted by form feeds; `pages_read` are their numbers, empty if all were read.
    """
    pages = text.split("\f")
    numbers = pages_read if len(pages_read) == len(pages) else range(1, len(pages) + 1)
    if len(pages) > 1:
        shown = [f"[page {number}]\n{page}" for number, page in zip(numbers, pages, strict=True)]
        text = "\n".join(shown)
    return fence(_cut(text, tokens))


def _cut(text: str, tokens: int) -> str:
    whole = count_tokens(text)
    if whole <= tokens:
        return text
    kept = int(len(text) * tokens / whole)
    head, tail = int(kept * HEAD_SHARE), kept - int(kept * HEAD_SHARE)
    mark = LEFT_OUT.format(count=len(text) - head - tail)
    return f"{text[:head].rstrip()}\n{mark}\n{text[len(text) - tail :].lstrip()}"
