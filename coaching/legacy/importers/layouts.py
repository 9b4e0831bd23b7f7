"""How a file of JSON is laid out: in UTF-8 or UTF-16, as one value or as values after one another (JSONL)."""

import codecs
import encodings.utf_16  # noqa: F401 - the reader can load no module once it has begun
from collections.abc import Callable

from coaching.legacy.importers.bounded import MAX_PASSED_OVER_BYTES, NotJson, TooMuch, read_pieces

Read = Callable[[int], bytes]

HEAD_BYTES = 1_024
BLOCK_BYTES = 1 << 18
_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_BLANKS = b" \t\r\n"
_OF_CONVERSATIONS = frozenset({"mapping", "chat_messages"})
"""Keys of a conversation; an object that has them isn't a list of conversations, but one."""
_OF_EXPORTS = frozenset({"sessions", "files", "ratings", "profile"})


def in_utf8(read: Read) -> Read:
    """Return a reader of the same text in UTF-8, given a reader of UTF-8 or of UTF-16 with its mark.

    Both return nothing only at the end. Invalid UTF-16 becomes U+FFFD.

    A read of UTF-16 may return more bytes than asked for.
    """
    start = read(HEAD_BYTES)
    rest = _after(start, read)
    if not start.startswith(_BOMS):
        return rest
    decoder = codecs.getincrementaldecoder("utf-16")(errors="replace")

    def decoded(size: int) -> bytes:
        while True:
            block = rest(size)
            text = decoder.decode(block, final=not block)
            if text or not block:
                return text.encode()

    return decoded


def holds_conversations(read: Read) -> bool:
    """Return whether a file has one conversation after another, or one alone, instead of a list of them.

    For a file that isn't JSON, either answer is possible.
    """
    start = _first(BLOCK_BYTES, read)
    line, _, following = start.removeprefix(codecs.BOM_UTF8).lstrip(_BLANKS).partition(b"\n")
    if not line.startswith(b"{"):
        return False
    if line.rstrip(_BLANKS).endswith(b"}") and following.lstrip(_BLANKS).startswith(b"{"):
        return True
    return _begins_with_conversation(_after(start, read))


def _begins_with_conversation(read: Read) -> bool:
    """Return whether the first value is a conversation. Reads no more than a conversation may have."""
    left = MAX_PASSED_OVER_BYTES

    def limited(size: int) -> bytes:
        nonlocal left
        block = read(max(0, min(size, left)))  # more than asked for may have come
        left -= len(block)
        return block

    try:
        for piece in read_pieces(limited):
            if piece.path[0] in _OF_CONVERSATIONS:
                return True
            if piece.path[0] in _OF_EXPORTS:
                return False
    except (NotJson, TooMuch):
        return False
    return False


def _first(size: int, read: Read) -> bytes:
    """Return the first bytes, about `size` unless there are fewer."""
    start = bytearray()
    while len(start) < size and (block := read(size - len(start))):
        start += block
    return bytes(start)


def _after(start: bytes, read: Read) -> Read:
    """Return a reader that begins with what was read already."""
    left = start

    def reader(size: int) -> bytes:
        nonlocal left
        if left:
            block, left = left[:size], left[size:]
            return block
        return read(size)

    return reader
