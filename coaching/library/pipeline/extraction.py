"""Text from a document's bytes, in a process for this document alone.

A file that takes too long or too much memory, crashes its reader or takes it over costs only that process,
which has no rights. Whatever the bytes are, there is an outcome, with a sentence for the person.
"""

from collections.abc import Iterator
from typing import BinaryIO

import structlog
from django.utils.translation import gettext_noop

from coaching.library.pipeline.extracted import Extraction, extraction_of
from coaching.sandbox.errors import NotAnswered, UntrueAnswer
from coaching.sandbox.host import ProcessHost
from coaching.sandbox.limits import MEGABYTE, Limits

MAX_BYTES = 25 * MEGABYTE
PROCESSES = 2
MODULE = "coaching.library.extractors.worker"
LIMITS = Limits(
    memory_bytes=512 * MEGABYTE, cpu_seconds=10, seconds=40.0, answer_bytes=40 * MEGABYTE, niceness=10
)
"""Ten seconds of processor time, which on a busy machine take longer: readers have a low priority.

An answer holds at most two million characters and an image, or an email's attachments of 25 MB."""

_CHUNK_BYTES = 1 << 18
_TOO_LARGE = gettext_noop("This file is too large.")
_TOO_COSTLY = gettext_noop("This file takes too long or too much memory to read. Try a simpler one.")
_BROKEN = gettext_noop("This file is damaged and can’t be read.")

logger = structlog.get_logger(__name__)

_host = ProcessHost(MODULE, LIMITS, slots=PROCESSES, has_spares=True)


def warm_extraction() -> None:
    """Start the processes of the first documents. Raises `OSError` if that isn't possible."""
    _host.warm()


def extract_now(source: BinaryIO, *, size: int, name: str) -> Extraction:
    """Read a document of `size` bytes from an open file. Blocks for at most forty seconds once it begins.

    `name` only decides between forms of text. Raises `NotStarted` if no process can be started, and
    `RuntimeError` in a transaction.
    """
    if size > MAX_BYTES:
        return Extraction(outcome="refused", sentence=_TOO_LARGE)
    try:
        answer = _host.ask(name.encode("utf-8", "replace"), exact_chunks(source, size), size)
    except NotAnswered as error:
        logger.warning("document_not_read", bytes=size, is_too_costly=error.is_too_costly)
        if error.is_too_costly:
            return Extraction(outcome="refused", sentence=_TOO_COSTLY)
        return Extraction(outcome="broken", sentence=_BROKEN)
    try:
        return extraction_of(answer)
    except UntrueAnswer:
        logger.warning("document_reader_untrue", bytes=size)
        return Extraction(outcome="broken", sentence=_BROKEN)


def exact_chunks(source: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield exactly `size` bytes, whatever the file has by now."""
    while size:
        chunk = source.read(min(size, _CHUNK_BYTES)) or bytes(min(size, _CHUNK_BYTES))
        size -= len(chunk)
        yield chunk
