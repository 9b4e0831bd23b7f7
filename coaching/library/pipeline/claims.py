"""Which documents a runner reads now: claimed by it, so that no other runner reads them too.

A claim names its reader (a queue of jobs, the job of one document, a command) and one run of it. The reader's
next run takes over what an earlier one left, which then can't change these documents any more.
"""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from coaching.library.documents.locks import update_documents
from coaching.library.moves import moving
from coaching.model_client.patience import job_time
from coaching.models import IS_UNHEARD, Document, DocumentSource, DocumentState

MAX_DOCUMENTS = 8
"""As many documents go into one call."""
SILENT = timedelta(minutes=10)
"""A claim is given up after that time. Longer than a call can take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Documents of one client of a user, in the order of their ids. `token` names reader and run."""

    user_id: int
    client_id: int
    token: str
    document_ids: tuple[int, ...]

    def rows(self) -> QuerySet[Document]:
        """Return the claimed documents that are still this run's."""
        return Document.of(self.user_id).filter(
            id__in=self.document_ids, claim=self.token, state=DocumentState.READING
        )


def claim_uploads(*, user_id: int, reader: str) -> Claim | None:
    """Claim the next documents of a user that came in bulk; None if there are none.

    Recordings that aren't words yet have a job of their own.
    """
    # What `manage.py classify` has left behind is read here, too.
    is_left = Q(source=DocumentSource.COMMAND, created_at__lt=timezone.now() - job_time(SILENT))
    uploads = Document.of(user_id).filter(is_left | Q(source=DocumentSource.UPLOAD))
    return _claim(user_id, reader, uploads, without_unheard=True)


def claim_chosen(
    *,
    user_id: int,
    reader: str,
    document_ids: Collection[int],
    is_first_try: bool = False,
    without_unheard: bool = False,
) -> Claim | None:
    """Claim the next of these documents; None if none of them waits.

    Perhaps only one never tried before, or none that is a recording which isn't words yet.
    """
    chosen = Document.of(user_id).filter(id__in=document_ids)
    chosen = chosen.filter(attempts=0) if is_first_try else chosen
    return _claim(user_id, reader, chosen, without_unheard=without_unheard)


def _claim(user_id: int, reader: str, waiting: QuerySet[Document], *, without_unheard: bool) -> Claim | None:
    with moving(waiting):
        left = waiting.filter(state=DocumentState.READING, claim__startswith=f"{reader}:")
        new = waiting.exclude(IS_UNHEARD) if without_unheard else waiting
        taken = list(left.select_for_update().order_by("id")[:MAX_DOCUMENTS]) or _next(new)
        if not taken:
            return None
        claim = Claim(
            user_id=user_id,
            client_id=taken[0].client_id,
            token=f"{reader}:{secrets.token_hex(8)}",
            document_ids=tuple(document.pk for document in taken if document.client_id == taken[0].client_id),
        )
        now = timezone.now()
        Document.of(user_id).filter(id__in=claim.document_ids).update(
            state=DocumentState.READING, claim=claim.token, claimed_at=now, reason="", updated_at=now
        )
        return claim


def _next(waiting: QuerySet[Document]) -> Sequence[Document]:
    """Return the oldest document with others of its client; one that was tried before alone."""
    queued = waiting.filter(state=DocumentState.QUEUED).order_by("id")
    oldest = queued.select_for_update(skip_locked=True).first()
    if oldest is None or oldest.attempts:
        return [oldest] if oldest else []
    others = queued.filter(client_id=oldest.client_id, attempts=0).exclude(id=oldest.pk)
    return [oldest, *others.select_for_update(skip_locked=True)[: MAX_DOCUMENTS - 1]]


def keep(claim: Claim, document_ids: Collection[int]) -> Claim:
    """Return the claim on some of its documents."""
    kept = tuple(each for each in claim.document_ids if each in document_ids)
    return Claim(user_id=claim.user_id, client_id=claim.client_id, token=claim.token, document_ids=kept)


def put_back(
    claim: Claim,
    *,
    document_ids: Collection[int] | None = None,
    state: DocumentState = DocumentState.QUEUED,
    reason: str = "",
    is_attempt: bool = False,
) -> None:
    """Let claimed documents wait again. `is_attempt` counts against how often each is tried."""
    rows = claim.rows() if document_ids is None else claim.rows().filter(id__in=document_ids)
    update_documents(
        rows,
        state=state,
        reason=reason[:500],
        claim="",
        claimed_at=None,
        attempts=F("attempts") + int(is_attempt),
        updated_at=timezone.now(),
    )


def free_silent(now: datetime) -> int:
    """Let documents wait again whose runner has been silent for long; return how many there are."""
    silent = Document.unscoped.filter(state=DocumentState.READING, claimed_at__lt=now - job_time(SILENT))
    return update_documents(silent, state=DocumentState.QUEUED, claim="", claimed_at=None, updated_at=now)
