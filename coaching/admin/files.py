"""People's files for operators: names, sizes, versions; their text only with a separate permission.

Private files aren't there at all.
"""

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern

from coaching.models import PRIVATE_TYPES, UserFile, UserFileVersion
from sessions_app.admin import ReadOnlyMixin, page_of_row, row_to_read, words_response

VERSIONS_LISTED = 50
VERSIONS_A_PAGE = 20


class VersionInline(ReadOnlyMixin, admin.TabularInline):
    """A file's newest versions, without their text; the page `words` shows all."""

    model = UserFileVersion
    fields = ("number", "size", "source", "session", "tool_use_id", "storage_key", "created_at")
    readonly_fields = fields
    extra = 0
    ordering = ("-number",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[UserFileVersion]:
        versions = super().get_queryset(request).select_related("session").defer("content")
        return versions.filter(number__gt=F("file__version_number") - VERSIONS_LISTED)


@admin.register(UserFile)
class UserFileAdmin(ReadOnlyMixin, admin.ModelAdmin):
    """Files with their versions, read-only."""

    list_display = ("path", "user", "file_type", "version_number", "size", "updated_at")
    list_filter = ("file_type", "updated_at")
    list_select_related = ("user",)
    search_fields = ("path", "user__username", "user__email")
    fields = ("user", "path", "file_type", "version_number", "size", "sha256", "created_at", "updated_at")
    readonly_fields = fields
    inlines = (VersionInline,)
    change_form_template = "admin/coaching/userfile/change_form.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[UserFile]:
        # Not even that somebody has a safety plan.
        return super().get_queryset(request).exclude(file_type__in=PRIVATE_TYPES)

    def get_urls(self) -> list[URLPattern]:
        return [page_of_row(self, self.words, "words"), *super().get_urls()]

    def words(self, request: HttpRequest, row_id: int) -> HttpResponse:
        file = row_to_read(request, self, self.get_queryset(request).select_related("user"), row_id)
        return words_response(
            request,
            self,
            "admin/coaching/userfile/words.html",
            title=file.path,
            file=file,
            page=Paginator(file.versions.order_by("-number"), VERSIONS_A_PAGE).get_page(
                request.GET.get("page")
            ),
        )
