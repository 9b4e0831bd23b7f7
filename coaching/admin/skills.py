"""Skills for operators: the current text, an override of the file's, its history, and the reset."""

from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest

from coaching.admin.overrides import OverrideAdmin, OverrideForm
from coaching.context.fences import TAGS
from coaching.files.types import ATTRIBUTE_ORDER
from coaching.models import Skill, SkillKind
from coaching.sandbox.markdown import render_markdown
from coaching.skills.rules import budget_of, estimate_tokens, text_faults, tool_faults
from coaching.skills.store import check_override, return_to_file, store_override
from coaching.tools import TOOL_NAMES
from sessions_app.errors import Refused
from sessions_app.models import SessionKind


def describe_size(skill: Skill, text: str) -> str:
    """Return a text's size in words, with its budget if there is one."""
    budget = budget_of(skill.name, SkillKind(skill.kind))
    tokens = estimate_tokens(text)
    return f"{tokens} tokens" if budget is None else f"{tokens} of {budget} tokens"


def _tool_faults(text: str) -> list[str]:
    """Return errors for tool names in a text that no model is offered."""
    other_names = {*TAGS, *ATTRIBUTE_ORDER, *SessionKind.values}
    return tool_faults(text, declared=TOOL_NAMES, offered_tools=TOOL_NAMES, other_names=other_names)


class SkillForm(OverrideForm):
    class Meta:
        model = Skill
        fields = ("override",)
        widgets = {"override": forms.Textarea(attrs={"rows": 32, "class": "vLargeTextField skill-text"})}

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
class SkillAdmin(OverrideAdmin):
    """Skills, created by files. An operator's text applies to sessions that start afterwards."""

    form = SkillForm
    list_display = ("name", "kind", "holds", "size", "signal_names", "updated_at")
    list_filter = ("kind", "is_retired")
    search_fields = ("name", "description")
    fields = ("name", "kind", "description", "signal_names", "tool_names", "holds", "size", "override")
    readonly_fields = ("name", "kind", "description", "signal_names", "tool_names", "holds", "size")
    override_help = (
        "What you save here replaces the file in every session that starts afterwards. Running sessions "
        "continue with the text they started with."
    )

    @admin.display(description="Size")
    def size(self, skill: Skill) -> str:
        return describe_size(skill, skill.text)

    @admin.display(description="Signals")
    def signal_names(self, skill: Skill) -> str:
        return ", ".join(skill.signals) or "–"

    @admin.display(description="Tools")
    def tool_names(self, skill: Skill) -> str:
        return ", ".join(skill.tools) or "–"

    def save_model(self, request: HttpRequest, obj: Skill, form: Any, change: bool) -> None:
        """Store the operator's text, or reset to the file if they are equal."""
        store_override(name=obj.name, text=obj.override, editor=cast("User", request.user))

    def describe_preview(self, row: Skill, text: str) -> Mapping[str, Any]:
        faults = text_faults(name=row.name, kind=SkillKind(row.kind), text=text)
        return {
            "size": describe_size(row, text),
            "faults": faults + _tool_faults(text),
            "rendered": render_markdown(text),
        }

    def take_back(self, row: Skill, editor: User) -> str:
        return_to_file(name=row.name, editor=editor)
        return (
            f"The file is used again for {row.name}, in sessions that start from now on. "
            "Your text stays in the history."
        )
