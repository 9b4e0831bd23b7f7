"""The library for operators: documents by state and attempts with retry, calls, what came of them, and audit.

Names, texts and summaries are shown on one page only, to staff with the permission to read messages.

Over 300 lines, because it is a list of tables.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern

from coaching.library.documents.filing import read_again
from coaching.library.rows.costs import DocumentCost, call_costs, costs_of_documents
from coaching.models import (
    ActionItem,
    CallPurpose,
    Document,
    DocumentCall,
    KnowledgeEntry,
    LibraryEffect,
    StepChange,
)
from sessions_app.admin import (
    ROWS_LISTED,
    NewestRows,
    ReadOnlyMixin,
    log_look,
    page_of_row,
    readable_row,
    words_response,
)
from sessions_app.errors import Refused
from sessions_app.money import small_dollars

MAX_READ_AGAIN = 200


class WithoutWords(ReadOnlyMixin, admin.ModelAdmin):
    """Shows rows by their number; their words are on a page of their own."""

    name_field: ClassVar[str]
    word_fields: ClassVar[Sequence[str]]
    search_fields = ("=id", "user__username", "user__email")
    list_select_related = ("user", "client")
    show_full_result_count = False
    ordering = ("-id",)
    change_form_template = "admin/coaching/library/change_form.html"

    @admin.display(description="Number", ordering="id")
    def number(self, row: Any) -> str:
        return f"{row._meta.verbose_name} {row.pk}".capitalize()

    @admin.display(description="Client")
    def client_kind(self, row: Any) -> str:
        """Return what the client is; who it is are words."""
        return str(row.client.get_client_type_display())

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """Return the row with its number as its name, which titles of pages show. It isn't saved."""
        row = super().get_object(request, object_id, from_field)
        return row and self.without_name(row)

    def without_name(self, row: Any) -> Any:
        setattr(row, self.name_field, self.number(row))
        return row

    def get_urls(self) -> list[URLPattern]:
        return [page_of_row(self, self.words, "words"), *super().get_urls()]

    def words(self, request: HttpRequest, row_id: int) -> HttpResponse:
        """Show a row's words, to an operator who may read them, and log the look."""
        pages: Any = self
        row = readable_row(request, pages, pages.model.unscoped, row_id)
        texts = [(name.replace("_", " "), getattr(row, name)) for name in self.word_fields]
        texts += self.further_words(row)
        log_look(request, self.without_name(row))
        return words_response(
            request,
            self,
            "admin/coaching/library/words.html",
            title=self.number(row),
            row=row,
            texts=[(name, text) for name, text in texts if text],
            changelist=f"admin:coaching_{pages.opts.model_name}_changelist",
        )

    def further_words(self, row: Any) -> list[tuple[str, str]]:
        """Return words of rows that belong to this one."""
        return []


@admin.register(Document)
class DocumentAdmin(WithoutWords):
    """Documents by state, with their attempts, and another reading."""

    name_field = "name"
    word_fields = (
        "name",
        "reason",
        "folder",
        "summary",
        "key_facts",
        "why",
        "alternatives",
        "proposal",
        "tags",
    )
    list_display = (
        "user", "number", "state", "client_kind", "file_type", "decided_by", "attempts", "cost", "size",
        "page_count", "source", "created_at",
    )  # fmt: skip
    list_display_links = ("user", "number")
    list_filter = ("state", "source", "decided_by", "is_withheld", "created_at")
    fields = (
        "user", "client_kind", "state", "attempts", "cost", "cost_by_purpose", "source", "is_withheld",
        "content_type", "size", "page_count", "file_type", "category", "level", "confidence", "decided_by",
        "similarity", "created_at", "read_at", "decided_at",
    )  # fmt: skip
    readonly_fields = fields
    actions = ("read_again",)

    @admin.display(description="Cost")
    def cost(self, document: Document) -> str:
        """Return the document's share of the calls about it."""
        return _cost_in_words(_cost_of(document))

    @admin.display(description="Cost by purpose")
    def cost_by_purpose(self, document: Document) -> str:
        found = _cost_of(document)
        purposes = sorted(found.by_purpose.items()) if found else ()
        return ", ".join(
            f"{CallPurpose(name).label}: {small_dollars(round(part))}" for name, part in purposes
        )

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Return the list with the costs of the page's documents, read at once."""
        changelist = super().get_changelist_instance(request)
        rows = list(changelist.result_list)
        ids = {"user_ids": {row.user_id for row in rows}, "document_ids": {row.pk for row in rows}}
        costs = costs_of_documents(**ids)
        for row in rows:
            setattr(row, _COST, costs.get(row.pk))
        changelist.result_list = rows
        return changelist

    def has_read_again_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("coaching.change_document")

    @admin.action(description="Read again, with all attempts", permissions=["read_again"])
    def read_again(self, request: HttpRequest, documents: QuerySet[Document]) -> None:
        """Queue the reading of documents that have ended."""
        queued = refused = 0
        for document in documents[:MAX_READ_AGAIN]:
            try:
                read_again(user_id=document.user_id, document_id=document.pk)
            except Refused:
                refused += 1
            else:
                queued += 1
                self.log_change(request, self.without_name(document), "Had it read again.")
        self.message_user(request, f"{queued} queued.", messages.SUCCESS)
        if refused:
            words = f"{refused} not queued: still being read, or refused without being stored."
            self.message_user(request, words, messages.WARNING)

    def further_words(self, row: Document) -> list[tuple[str, str]]:
        text = getattr(row, "text", None)
        return [("text", text.text)] if text else []


_COST = "cost_found"


def _cost_of(document: Document) -> DocumentCost | None:
    """Return a document's cost: a list has read it; None without calls."""
    if not hasattr(document, _COST):
        ids = {"user_ids": [document.user_id], "document_ids": [document.pk]}
        setattr(document, _COST, costs_of_documents(**ids).get(document.pk))
    found: DocumentCost | None = getattr(document, _COST)
    return found


def _cost_in_words(cost: DocumentCost | None) -> str:
    if cost is None:
        return "no calls"
    words = small_dollars(cost.micro_usd)
    return (
        f"{words}, and {cost.unknown} of {cost.calls} calls not known"
        if 0 < cost.unknown < cost.calls
        else words
    )


@admin.register(KnowledgeEntry)
class KnowledgeEntryAdmin(WithoutWords):
    """Knowledge entries by kind and state."""

    name_field = "title"
    word_fields = ("title", "content", "key_points", "tags")
    list_display = ("user", "number", "entry_type", "state", "client_kind", "made_by", "created_at")
    list_display_links = ("user", "number")
    list_filter = ("state", "entry_type", "made_by", "created_at")
    fields = ("user", "client_kind", "entry_type", "state", "made_by", "created_at", "updated_at")
    readonly_fields = fields


class StepChangeInline(ReadOnlyMixin, admin.TabularInline):
    """The history of a step, without what was said of it."""

    model = StepChange
    formset = NewestRows
    verbose_name_plural = f"History (the newest {ROWS_LISTED})"
    fields = ("kind", "due_date", "at")
    readonly_fields = fields
    extra = 0
    ordering = ("-at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[StepChange]:
        return super().get_queryset(request).defer("quote", "outcome")


@admin.register(ActionItem)
class ActionItemAdmin(WithoutWords):
    """Next steps by state and date, with their history."""

    inlines = (StepChangeInline,)
    name_field = "title"
    word_fields = ("title", "description", "due_words", "owner", "quote", "outcome")
    list_display = ("user", "number", "state", "due_date", "repeats", "client_kind", "origin", "created_at")
    list_display_links = ("user", "number")
    list_filter = ("state", "origin", "priority", "created_at")
    fields = (
        "user", "client_kind", "state", "due_date", "due_time", "repeats", "priority", "origin", "created_at",
        "done_at",
    )  # fmt: skip
    readonly_fields = fields

    def further_words(self, row: ActionItem) -> list[tuple[str, str]]:
        return [
            (f"{change}: {name}", text)
            for change in StepChange.of(row.user_id).filter(action_item=row)
            for name, text in (("quote", change.quote), ("outcome", change.outcome))
        ]


@admin.register(DocumentCall)
class DocumentCallAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """Calls about documents, without what was sent and answered."""

    list_display = (
        "user",
        "purpose",
        "state",
        "attempts",
        "document_count",
        "cost",
        "created_at",
        "answered_at",
    )
    list_filter = ("state", "purpose", "created_at")
    list_select_related = ("user",)
    search_fields = ("=id", "user__username", "user__email", "=batch")
    show_full_result_count = False
    ordering = ("-id",)
    fields = (
        "user",
        "purpose",
        "state",
        "attempts",
        "documents",
        "cost",
        "error",
        "batch",
        "created_at",
        "answered_at",
    )
    readonly_fields = fields

    @admin.display(description="Documents")
    def document_count(self, call: DocumentCall) -> int:
        return len(call.documents)

    @admin.display(description="Cost")
    def cost(self, call: Any) -> str:
        return small_dollars(call.cost if call.replies > call.unpriced else None)

    def get_queryset(self, request: HttpRequest) -> QuerySet[DocumentCall]:
        found: QuerySet[DocumentCall] = call_costs(super().get_queryset(request))
        return found.defer("request", "rounds", "answer")


@admin.register(LibraryEffect)
class LibraryEffectAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """The audit: what was changed, by whom, and whether it was undone; not the words."""

    list_display = ("user", "kind", "about", "made_by", "created_at", "undone_at")
    list_filter = ("kind", "made_by", "created_at")
    list_select_related = ("user",)
    search_fields = ("=id", "user__username", "user__email", "=document__id")
    show_full_result_count = False
    ordering = ("-id",)
    fields = ("user", "kind", "about", "made_by", "tool_use_id", "created_at", "undone_at")
    readonly_fields = fields

    @admin.display(description="What")
    def about(self, effect: LibraryEffect) -> str:
        of_kind = {
            "document": effect.document_id,
            "knowledge entry": effect.entry_id,
            "action item": effect.action_item_id,
        }
        return ", ".join(f"{name} {number}" for name, number in of_kind.items() if number)
