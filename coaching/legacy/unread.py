"""The documents that imports have brought: what Sage hasn't read yet, and what it reads.

Storing them costs nothing. Sage reads them only once their person lets it; see `library.documents.on_hold`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Count, Max, Q, QuerySet

from coaching.library.documents.on_hold import let_read, on_hold
from coaching.models import UNFINISHED_STATES, Document, DocumentState, Import

POLL_SECONDS, WAITING_POLL_SECONDS = 5, 60
_IS_UNFINISHED = Q(state__in=UNFINISHED_STATES)
_IS_UNREAD = Q(state=DocumentState.UNREAD, is_withheld=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedDocuments:
    """How many documents of an import are stored but still `prepared`, wait `unread`, or are being read.

    Those that are prepared get their text, without any model. `newest` is the highest id of those that are
    `unread`. `reading` counts those that wait for the budget, too, which `waiting` are.
    """

    prepared: int
    unread: int
    newest: int | None
    reading: int
    waiting: int

    @property
    def can_be_read(self) -> bool:
        """Whether their person can be asked: before all are prepared, the price isn't known."""
        return bool(self.unread and not self.prepared)

    @property
    def are_under_way(self) -> bool:
        """Whether the page shows a change by itself, which would close what a person opens to answer."""
        return bool(self.prepared or self.reading) and not self.can_be_read

    @property
    def poll_seconds(self) -> int:
        """After how many seconds the page asks again how far they are."""
        return WAITING_POLL_SECONDS if self.reading == self.waiting and not self.prepared else POLL_SECONDS


def imported_documents(user_id: int, import_ids: Collection[int]) -> Mapping[int, ImportedDocuments]:
    """Return the documents of imports that Sage hasn't read; an import without such is missing."""
    open_rows = Document.of(user_id).filter(_IS_UNFINISHED | _IS_UNREAD, made_by_import__in=import_ids)
    counted = (
        open_rows.order_by()
        .values_list("made_by_import")
        .annotate(
            prepared=Count("id", filter=_IS_UNFINISHED & Q(is_on_hold=True)),
            unread=Count("id", filter=_IS_UNREAD),
            newest=Max("id", filter=_IS_UNREAD),
            reading=Count("id", filter=_IS_UNFINISHED & Q(is_on_hold=False)),
            waiting=Count("id", filter=Q(state=DocumentState.WAITING, is_on_hold=False)),
        )
    )
    return {
        import_id: ImportedDocuments(
            prepared=prepared, unread=unread, newest=newest, reading=reading, waiting=waiting
        )
        for import_id, prepared, unread, newest, reading, waiting in counted
    }


def unread_documents(row: Import) -> QuerySet[Document]:
    """Return the documents of an import that wait for their person."""
    return Document.of(row.user_id).filter(_IS_UNREAD, made_by_import=row)


def read_shown_documents_of(row: Import, *, newest: int) -> int:
    """Let Sage read what a page has shown and priced: up to the id `newest`; return how many there are."""
    shown = unread_documents(row).filter(id__lte=newest)
    return let_read(user_id=row.user_id, document_ids=list(shown.values_list("id", flat=True)))


def read_documents_of(row: Import, *, also: Collection[int] = ()) -> int:
    """Let Sage read the documents of an import, and perhaps some others; return how many there are.

    Those that are still prepared are read after that.
    """
    held = on_hold(row.user_id).filter(Q(made_by_import=row) | Q(id__in=also))
    return let_read(user_id=row.user_id, document_ids=list(held.values_list("id", flat=True)))
