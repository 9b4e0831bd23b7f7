"""Text from a document's bytes, in a process for this document alone.

A file that takes too long or too much memory, crashes its reader or is built to harm it costs only that
process. Whatever the bytes are, there is an outcome, with a sentence for the person.
"""

import asyncio
import atexit
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO, Literal

import structlog
from django.utils.translation import gettext_noop

from coaching.documents.reasons import join_reasons
from coaching.files.objects import open_object
from coaching.sandbox.forking import PROCESSES, ForkingProcesses, NotAnswered

MAX_BYTES = 25 * 1024 * 1024
MAX_SENTENCE = 500

_CHUNK_BYTES = 1 << 18
_TOO_LARGE = gettext_noop("This file is too large.")
_TOO_COSTLY = gettext_noop("This file takes too long or too much memory to read. Try a simpler one.")
_BROKEN = gettext_noop("This file is damaged and can’t be read.")
_NO_TEXT = gettext_noop("Sage found no text in it. If it’s a scan, upload a version with text.")
_IMAGE = gettext_noop("This is an image, so it has no text of its own.")

Outcome = Literal["text", "no_text", "needs_password", "broken", "refused"]

logger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What was found in a document.

    `sentence` explains every outcome except `text`, where it says what was left out or is odd, if anything.
    `content_type` is found by content. `pages_read` are the numbers of the pages in `pages`, empty if all
    are. `hints` are facts that the file states about itself: as untrusted as its text. `image` holds an image
    for a model that sees, of type `media_type`.
    """

    outcome: Outcome
    sentence: str
    content_type: str = ""
    pages: tuple[str, ...] = ()
    page_count: int = 0
    pages_read: tuple[int, ...] = ()
    hints: Mapping[str, str] = field(default_factory=dict)
    image: bytes = b""
    media_type: str = ""

    @property
    def text(self) -> str:
        """The pages, separated by form feeds."""
        return "\f".join(self.pages)


_processes = ForkingProcesses("coaching.library.extractors.worker")
_executor = ThreadPoolExecutor(max_workers=PROCESSES, thread_name_prefix="extraction")
atexit.register(_processes.close)


def warm_extraction() -> None:
    """Start a process before the first document. Raises `OSError` if it can't be started."""
    _processes.warm()


async def extract_object(key: str, *, size: int, name: str) -> Extraction:
    """Read a stored document; at most `PROCESSES` are read at once, the others wait. See `extract_now`.

    Raises `StorageFailed`, too.
    """
    call = partial(_extract_object, key, size=size, name=name)
    return await asyncio.get_running_loop().run_in_executor(_executor, call)


def _extract_object(key: str, *, size: int, name: str) -> Extraction:
    with open_object(key) as source:
        return extract_now(source, size=size, name=name)


def extract_now(source: BinaryIO, *, size: int, name: str) -> Extraction:
    """Read a document of `size` bytes from an open file. Blocks for at most ten seconds once it begins.

    `name` only decides between forms of text. Raises `NotStarted` if no process can be started, and
    `RuntimeError` in a transaction.
    """
    if size > MAX_BYTES:
        return Extraction(outcome="refused", sentence=_TOO_LARGE)
    try:
        answer = _processes.ask(name, _chunks(source, size), size)
    except NotAnswered as error:
        logger.warning("document_not_read", bytes=size, is_too_costly=error.is_too_costly)
        if error.is_too_costly:
            return Extraction(outcome="refused", sentence=_TOO_COSTLY)
        return Extraction(outcome="broken", sentence=_BROKEN)
    line, _, image = answer.partition(b"\n")
    return _extraction(json.loads(line), image)


def _chunks(source: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield exactly `size` bytes, whatever the file has by now."""
    while size:
        chunk = source.read(min(size, _CHUNK_BYTES)) or bytes(min(size, _CHUNK_BYTES))
        size -= len(chunk)
        yield chunk


def _extraction(said: dict[str, Any], image: bytes) -> Extraction:
    outcome, sentence = said["outcome"], said["sentence"]
    if outcome == "no_text":
        sentence = join_reasons([_IMAGE if image else _NO_TEXT, sentence])
    return Extraction(
        outcome=outcome,
        sentence=sentence[:MAX_SENTENCE],
        content_type=said["content_type"],
        pages=tuple(said.get("pages", ())),
        page_count=said.get("page_count", 0),
        pages_read=tuple(said.get("pages_read", ())),
        hints=said.get("hints", {}),
        image=image,
        media_type=said.get("media_type", ""),
    )
