"""Remembers what the rules found in a text: several parts of a turn ask about the same words.

The start of the turn asks, a refusal, the practice model about each earlier message, a title. Only digests
are kept. Each process has its own.
"""

from collections import OrderedDict
from hashlib import blake2b
from threading import Lock

from coaching.safety.danger import Danger, find_danger

MAX_KNOWN = 5_000
_DIGEST_BYTES = 16

_known: OrderedDict[bytes, Danger | None] = OrderedDict()
_lock = Lock()


def find_danger_once(text: str) -> Danger | None:
    """Return the most acute danger in the text, or None, from memory if it was asked for lately."""
    digest = blake2b(text.encode(errors="surrogatepass"), digest_size=_DIGEST_BYTES).digest()
    with _lock:
        if digest in _known:
            _known.move_to_end(digest)
            return _known[digest]
    danger = find_danger(text)
    with _lock:
        _known[digest] = danger
        if len(_known) > MAX_KNOWN:
            _known.popitem(last=False)
    return danger
