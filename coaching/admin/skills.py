"""Skills for operators: the current text, an override of the file's, its history, and the reset."""

import difflib
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

from coaching.context.fences import TAGS
from coaching.files.types import ATTRIBUTE_ORDER
from coaching.models import Skill, SkillKind
from coaching.sandbox.markdown import render_markdown
from coaching.skills.rules import budget_of, estimate_tokens, text_faults, tool_faults
from coaching.skills.store import check_override, return_to_file, store_override
from coaching.tools import TOOL_NAMES
from sessions_app.errors import Refused
from sessions_app.models import SessionKind


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


def describe_size(skill: Skill, text: str) -> str:
    """Return a text's size in words, with its budget if there is one."""
    budget = budget_of(skill.name, SkillKind(skill.kind))
    tokens = estimate_tokens(text)
    return f"{tokens} tokens" if budget is None else f"{tokens} of {budget} tokens"


def _tool_faults(text: str) -> list[str]:
    """Return errors for tool names in a text that no model is offered."""
    other_names = {*TAGS, *ATTRIBUTE_ORDER, *SessionKind.values}
    return tool_faults(text, declared=TOOL_NAMES, offered_tools=TOOL_NAMES, other_names=other_names)


class SkillForm(forms.ModelForm):
    """The override's text; it starts as the current one."""

    class Meta:
        model = Skill
        fields = ("override",)
        widgets = {"override": forms.Textarea(attrs={"rows": 32, "class": "vLargeTextField skill-text"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "override" in self.fields and not self.initial.get("override"):
            self.initial["override"] = self.instance.file_text

    def clean_override(self) -> str:
        text = str(self.cleaned_data["override"])
        if not text.strip() or text.replace("\r\n", "\n").strip() == self.instance.file_text.strip():
            return ""
        if faults := _tool_faults(text):
            raise forms.ValidationError("; ".join(faults).capitalize() + ".")
        try:
            return check_override(name=self.instance.name, kind=SkillKind(self.instance.kind), text=text)
        except Refused as refused:
            raise forms.ValidationError(str(refused)) from refused


@admin.register(Skill)
class SkillAdmin(SimpleHistoryAdmin):  # type: ignore[misc]
    """Skills, created by files. An operator's text applies to sessions that start afterwards."""

    form = SkillForm
    list_display = ("name", "kind", "holds", "size", "signal_names", "updated_at")
    list_filter = ("kind", "is_retired")
    search_fields = ("name", "description")
    fields = ("name", "kind", "description", "signal_names", "tool_names", "holds", "size", "override")
    readonly_fields = ("name", "kind", "description", "signal_names", "tool_names", "holds", "size")
    change_form_template = "admin/coaching/skill/change_form.html"
    object_history_template = "admin/coaching/skill/history.html"
    object_history_list_template = "admin/coaching/skill/history_list.html"

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A new skill is a new folder."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """An override outlives its file."""
        return False

    @admin.display(description="Holds")
    def holds(self, skill: Skill) -> str:
        if skill.is_retired:
            return "nothing: its file is missing"
        if skill.has_file_changed:
            return "a text of your own; the file has changed since"
        return "a text of your own" if skill.is_overridden else "the file"

    @admin.display(description="Size")
    def size(self, skill: Skill) -> str:
        return describe_size(skill, skill.text)

    @admin.display(description="Signals")
    def signal_names(self, skill: Skill) -> str:
        return ", ".join(skill.signals) or "–"

    @admin.display(description="Tools")
    def tool_names(self, skill: Skill) -> str:
        return ", ".join(skill.tools) or "–"

    def get_urls(self) -> list[URLPattern]:
        own = [
            path(
                "<int:skill_id>/preview/",
                self.admin_site.admin_view(require_POST(self.preview)),
                name="coaching_skill_preview",
            ),
            path(
                "<int:skill_id>/return/",
                self.admin_site.admin_view(require_POST(self.return_to_file)),
                name="coaching_skill_return",
            ),
        ]
        return [*own, *super().get_urls()]

    def save_model(self, request: HttpRequest, obj: Skill, form: Any, change: bool) -> None:
        """Store the operator's text, or reset to the file if they are equal."""
        store_override(name=obj.name, text=obj.override, editor=cast("User", request.user))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        skill = self.get_object(request, object_id)
        difference = diff_lines(skill.file_text, skill.text) if skill else []
        context = {**(extra_context or {}), "difference": difference}
        return cast("HttpResponse", super().change_view(request, object_id, form_url, context))

    def set_history_delta_changes(
        self, request: HttpRequest, historical_records: Any, foreign_keys_are_objs: bool = True
    ) -> None:
        records = list(historical_records)
        for record, before in pairwise(records):
            record.difference = diff_lines(
                before.override or before.file_text, record.override or record.file_text
            )

    def preview(self, request: HttpRequest, skill_id: int) -> HttpResponse:
        """Show a text as it would be used: size, budget, errors, difference, rendered."""
        skill = self._editable(request, skill_id)
        text = request.POST.get("override", "").replace("\r\n", "\n").strip() + "\n"
        context = {
            **self.admin_site.each_context(request),
            "title": f"Preview of {skill.name}",
            "skill": skill,
            "text": text,
            "size": describe_size(skill, text),
            "faults": text_faults(name=skill.name, kind=SkillKind(skill.kind), text=text)
            + _tool_faults(text),
            "difference": diff_lines(skill.file_text, text),
            "rendered": render_markdown(text),
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/coaching/skill/preview.html", context)

    def return_to_file(self, request: HttpRequest, skill_id: int) -> HttpResponse:
        skill = self._editable(request, skill_id)
        returned = return_to_file(name=skill.name, editor=cast("User", request.user))
        self.log_change(request, returned, "Returned to the file.")
        messages.success(
            request,
            f"The file is used again for {skill.name}, in sessions that start from now on. "
            "Your text stays in the history.",
        )
        return HttpResponseRedirect(reverse("admin:coaching_skill_change", args=[skill.pk]))

    def _editable(self, request: HttpRequest, skill_id: int) -> Skill:
        skill = Skill.objects.filter(pk=skill_id).first()
        if skill is None:
            raise Http404
        if not self.has_change_permission(request, skill):
            raise PermissionDenied
        return skill
