"""Removes the tags of old blocks from texts: from every prompt, and from what a reader sees.

An old tag in a file or message must not teach the model the old format. The text between two tags is the
user's own and stays. No block is applied.
"""

import re

from coaching.legacy_text.tags import BLOCK_NAMES, Tokenizer, tokenize

__all__ = ["BLOCK_NAMES", "TagFilter", "excerpt_without_tags", "strip_block_tags", "without_block_tags"]

_END_OF_TAG = re.compile(r"\A[^\[\]\n]{0,100}?=(?:\"[^\"\n]{0,100}\"|'[^'\n]{0,100}')[ \t]*\][ \t]*")


def strip_block_tags(text: str) -> str:
    """Return the text without the tags of old blocks, including malformed ones and those in code.

    Each is replaced by a space, and brackets that open before one are removed with it, so that no new tag can
    form from the surrounding text. Linear in the length of the text.
    """
    if "[" not in text:
        return text
    left: list[str] = []
    is_after_tag = False
    for token in tokenize(text, is_shown=False):
        if isinstance(token, str):
            left.append(token.lstrip(" \t") if is_after_tag else token)
            is_after_tag = False
            continue
        if left:
            left[-1] = left[-1].rstrip(" \t")
        left.append(" ")
        is_after_tag = True
    return "".join(left)


def without_block_tags(text: str) -> str:
    """Return the text as a reader sees it: without the tags of old blocks, except those in fenced code."""
    if "[" not in text:
        return text
    return "".join(token for token in tokenize(text, is_shown=True) if isinstance(token, str))


def excerpt_without_tags(text: str) -> str:
    """Return part of a text without tags; the rest of one that was cut where the part begins goes, too."""
    return without_block_tags(_END_OF_TAG.sub("", text, count=1))


class TagFilter:
    """`without_block_tags` for a text that arrives piece by piece: a tag is held until it is certain."""

    def __init__(self) -> None:
        self._tokenizer = Tokenizer(is_shown=True)

    def feed(self, text: str) -> str:
        """Return what can be shown now."""
        return "".join(token for token in self._tokenizer.feed(text) if isinstance(token, str))

    def close(self) -> str:
        """Return what was held."""
        return "".join(token for token in self._tokenizer.close() if isinstance(token, str))
