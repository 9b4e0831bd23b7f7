"""An email's attachments: each becomes a document of its own, taken in as an upload is, and names its email.

What isn't taken is recorded as `refused`, with the reason. Reading it again takes nothing twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from django.utils.translation import gettext_noop

from coaching.files.errors import QuotaReached
from coaching.library.documents.intake import Destination, clean_name, refuse, take_in
from coaching.library.documents.picture_metadata import MetadataStays, without_metadata
from coaching.library.pipeline.extracted import AttachedFile
from coaching.models import Document
from coaching.sandbox.limits import MEGABYTE

MAX_DEPTH = 3
"""An email in an email in an email: the attachments of that one aren't taken."""
MAX_DOCUMENTS = 100
MAX_BYTES = 100 * MEGABYTE
"""Of an email together with all emails inside it; as many bytes as an upload may have."""
TOO_DEEP = gettext_noop("This file is in an email inside other emails, so Sage didn’t take it.")
TOO_MANY = gettext_noop("This email has more attachments, or larger ones, than Sage takes at once.")
NO_ROOM = gettext_noop("There was no room left in your library for this attachment.")


@dataclass(slots=True, kw_only=True)
class _Thread:
    """An email's place among emails inside emails, and what all of these have brought so far."""

    depth: int
    count: int
    size: int


def take_attachments(email: Document, attached: Sequence[AttachedFile]) -> None:
    """Store an email's attachments as documents, the same bytes once. Sync code, outside transactions.

    Does nothing if the email was deleted meanwhile. Raises `StorageFailed`.
    """
    destination = Destination(
        client=email.client,
        project=email.project,
        batch=email.batch,
        part_of_id=email.pk,
        import_id=email.made_by_import_id,
        import_project=email.import_project,
    )
    own = Document.of(email.user_id).filter(part_of=email)
    known = set(own.exclude(sha256="").values_list("sha256", flat=True))
    named = set(own.filter(storage_key=None).values_list("name", "size"))
    thread = _thread_of(email)
    for file in attached:
        digest = _digest_of(file)
        if digest in known or (clean_name(file.name), file.size) in named:
            continue
        known |= {digest} if digest else set()
        if thread.count >= 2 * MAX_DOCUMENTS:
            return
        reason = _refusal(file, thread)
        try:
            _take(email, file, destination, reason)
        except Document.DoesNotExist:
            return
        thread.count += 1
        thread.size += 0 if reason else file.size


def _digest_of(file: AttachedFile) -> str:
    """Return the digest of a file as it is stored; empty if it isn't."""
    try:
        return sha256(without_metadata(file.data)).hexdigest() if file.data else ""
    except MetadataStays:
        return ""


def _take(email: Document, file: AttachedFile, destination: Destination, reason: str) -> None:
    if not reason and file.data is not None:
        try:
            take_in(user_id=email.user_id, name=file.name, data=file.data, destination=destination)
        except QuotaReached:
            reason = NO_ROOM
    if reason:
        refuse(user_id=email.user_id, name=file.name, size=file.size, destination=destination, reason=reason)


def _refusal(file: AttachedFile, thread: _Thread) -> str:
    if thread.depth >= MAX_DEPTH:
        return TOO_DEEP
    is_too_much = thread.count >= MAX_DOCUMENTS or thread.size + file.size > MAX_BYTES
    return TOO_MANY if file.data is None or is_too_much else ""


def _thread_of(email: Document) -> _Thread:
    documents = Document.of(email.user_id)
    first, above, depth = email.pk, email.part_of_id, 0
    while above is not None and depth < MAX_DEPTH:
        first, depth = above, depth + 1
        above = documents.filter(id=first).values_list("part_of", flat=True).first()
    level, count, size = [first], 0, 0
    for _ in range(MAX_DEPTH + 1):
        inside = list(documents.filter(part_of__in=level).values_list("id", "size", "storage_key"))
        level = [pk for pk, _, _ in inside]
        count += len(inside)
        size += sum(stored for _, stored, key in inside if key is not None)
    return _Thread(depth=depth, count=count, size=size)
