"""Text from a page's picture without a model, by Tesseract, in a process for this page alone.

Needs the extra `ocr` and the data of languages; `is_installed` says whether both are here.
"""

import structlog

from coaching.library.extractors.recognition_data import is_installed
from coaching.sandbox.errors import NotAnswered
from coaching.sandbox.host import ProcessHost
from coaching.sandbox.limits import MEGABYTE, Limits

__all__ = ["is_installed", "recognise_now"]

LIMITS = Limits(memory_bytes=768 * MEGABYTE, cpu_seconds=20, seconds=60.0, answer_bytes=MEGABYTE, niceness=10)
"""A page takes one to five seconds of processor time; on a busy machine longer by the clock."""

_host = ProcessHost("coaching.library.extractors.recognition_worker", LIMITS, slots=1)

logger = structlog.get_logger(__name__)


def recognise_now(picture: bytes) -> str | None:
    """Return the text of a picture, None if it can't be recognised in time. Blocks for at most a minute.

    Raises `NotStarted`, and `RuntimeError` in a transaction.
    """
    try:
        return _host.ask(b"", [picture], len(picture)).decode("utf-8", "replace")
    except NotAnswered as error:
        logger.warning("page_not_recognised", bytes=len(picture), is_too_costly=error.is_too_costly)
        return None
