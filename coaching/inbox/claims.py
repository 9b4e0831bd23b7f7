"""What a mail's headers say, read in a process without rights."""

import json
from dataclasses import dataclass

import structlog

from coaching.inbox.place import InboxPlace
from coaching.sandbox import answers
from coaching.sandbox.errors import NotAnswered, UntrueAnswer
from coaching.sandbox.host import ProcessHost
from coaching.sandbox.limits import MEGABYTE, Limits

MODULE = "coaching.inbox.worker"
LIMITS = Limits(memory_bytes=256 * MEGABYTE, cpu_seconds=5, seconds=20.0, answer_bytes=64 * 1024)
UNUSUAL = "unusual"

logger = structlog.get_logger(__name__)

_host = ProcessHost(MODULE, LIMITS, slots=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """Of a mail: the tokens that its recipients name, its proven sender, and a hash of its Message-ID.

    `refusal` is empty, or says why the sender isn't proven.
    """

    tokens: tuple[str, ...] = ()
    refusal: str = UNUSUAL
    sender: str = ""
    message: str = ""
    subject: str = ""


def read_claims(header: bytes, *, place: InboxPlace, server: str) -> Claims:
    """Read the headers of a mail. Blocks. Raises `NotStarted`, and `RuntimeError` in a transaction."""
    asked = json.dumps({"server": server, "local": place.local, "domain": place.domain}).encode()
    try:
        said = answers.json_object(_host.ask(asked, [header], len(header)))
        tokens = answers.list_of(said.get("tokens"), most=10)
        return Claims(
            tokens=tuple(answers.text(token, most=254) for token in tokens),
            refusal=answers.text(said.get("refusal"), most=20),
            sender=answers.text(said.get("sender"), most=254),
            message=answers.text(said.get("message"), most=64),
            subject=answers.text(said.get("subject"), most=200),
        )
    except (NotAnswered, UntrueAnswer) as error:
        logger.warning("mail_header_not_read", bytes=len(header), reason=type(error).__name__)
        return Claims()
