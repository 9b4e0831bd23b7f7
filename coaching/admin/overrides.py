"""Pages for texts of files that an operator can replace: difference, preview, history, reset."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST
from simple_history.admin import SimpleHistoryAdmin

from coaching.models import Reference, Skill

Overridable = Skill | Reference


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffLine:
    """A line of a difference: `kind` is added, removed, place or same."""

    kind: str
    text: str


def diff_lines(old: str, new: str) -> list[DiffLine]:
    """Return a line-by-line difference with some context; empty if the texts are equal."""
    kinds = {"+": "added", "-": "removed", "@": "place"}
    lines = list(difflib.unified_diff(old.splitlines(), new.splitlines(), n=2, lineterm=""))[2:]
    return [DiffLine(kind=kinds.get(line[:1], "same"), text=line) for line in lines]


class OverrideForm(forms.ModelForm):
    """The override's text; it starts as the current one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "override" in self.fields and not self.initial.get("override"):
            self.initial["override"] = self.instance.file_text


class OverrideAdmin(SimpleHistoryAdmin):  # type: ignore[misc]  # the package has no types
    """Rows that files create. An operator's text replaces a file's until it is taken back."""

    change_form_template = "admin/coaching/override/change_form.html"
    object_history_template = "admin/coaching/override/history.html"
    object_history_list_template = "admin/coaching/override/history_list.html"
    override_help = ""
    """Says on the form when an operator's text takes effect."""

    def describe_preview(self, row: Any, text: str) -> Mapping[str, Any]:
        """Return `size`, `faults` and the `rendered` text."""
        raise NotImplementedError

    def take_back(self, row: Any, editor: User) -> str:
        """Use the file again, and return what to say."""
        raise NotImplementedError

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A new row is a new file."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """An override outlives its file."""
        return False

    @admin.display(description="Holds")
    def holds(self, row: Overridable) -> str:
        if row.is_retired:
            return "nothing: its file is missing"
        if row.has_file_changed:
            return "a text of your own; the file has changed since"
        return "a text of your own" if row.is_overridden else "the file"

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                f"<int:row_id>/{action}/",
                self.admin_site.admin_view(require_POST(view)),
                name=f"{self.opts.app_label}_{self.opts.model_name}_{action}",
            )
            for action, view in (("preview", self.preview), ("return", self.return_to_file))
        ]
        return [*own, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        row = self.get_object(request, object_id)
        context = {
            **(extra_context or {}),
            "difference": diff_lines(row.file_text, row.text) if row else [],
            "override_help": self.override_help,
        }
        return cast("HttpResponse", super().change_view(request, object_id, form_url, context))

    def set_history_delta_changes(
        self, request: HttpRequest, historical_records: Any, foreign_keys_are_objs: bool = True
    ) -> None:
        records = list(historical_records)
        for record, before in pairwise(records):
            record.difference = diff_lines(
                before.override or before.file_text, record.override or record.file_text
            )

    def preview(self, request: HttpRequest, row_id: int) -> HttpResponse:
        """Show a text as it would be used: size, errors, difference, rendered."""
        row = self._editable(request, row_id)
        text = request.POST.get("override", "").replace("\r\n", "\n").strip() + "\n"
        context = {
            **self.admin_site.each_context(request),
            **self.describe_preview(row, text),
            "title": f"Preview of {row}",
            "original": row,
            "text": text,
            "difference": diff_lines(row.file_text, text),
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/coaching/override/preview.html", context)

    def return_to_file(self, request: HttpRequest, row_id: int) -> HttpResponse:
        row = self._editable(request, row_id)
        said = self.take_back(row, cast("User", request.user))
        self.log_change(request, row, "Returned to the file.")
        messages.success(request, said)
        return HttpResponseRedirect(reverse(f"admin:coaching_{self.opts.model_name}_change", args=[row.pk]))

    def _editable(self, request: HttpRequest, row_id: int) -> Overridable:
        row = cast("Overridable | None", self.get_queryset(request).filter(pk=row_id).first())
        if row is None:
            raise Http404
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        return row
