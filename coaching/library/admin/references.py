"""References and placement rules for operators: their own texts and rules, preview, history, reset."""

from collections.abc import Mapping, Sequence
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

from coaching.admin.overrides import OverrideAdmin, OverrideForm, diff_lines
from coaching.library.references.current import current_references
from coaching.library.references.files import read_reference_files
from coaching.library.references.placement import Placement, PlacementTable, Rule
from coaching.library.references.store import (
    override_faults,
    return_reference_to_file,
    return_rule_to_file,
    rule_faults,
    store_reference_override,
    store_rule,
)
from coaching.library.references.text import UnusableReference, parse_reference
from coaching.models import ClientType, FilingLevel, PlacementRule, Reference
from coaching.sandbox.markdown import render_markdown
from coaching.skills.rules import estimate_tokens


class ReferenceForm(OverrideForm):
    class Meta:
        model = Reference
        fields = ("override",)
        widgets = {"override": forms.Textarea(attrs={"rows": 32, "class": "vLargeTextField skill-text"})}

    def clean_override(self) -> str:
        text = str(self.cleaned_data["override"]).replace("\r\n", "\n").strip()
        if not text or text == self.instance.file_text.strip():
            return ""
        if faults := override_faults(self.instance, text):
            raise forms.ValidationError("; ".join(faults).capitalize() + ".")
        return text


@admin.register(Reference)
class ReferenceAdmin(OverrideAdmin):
    """References, created by files. An operator's text applies to documents that are read afterwards."""

    form = ReferenceForm
    list_display = ("file_type", "title", "area", "category", "folder", "level", "holds", "updated_at")
    list_filter = ("area", "category", "is_retired")
    search_fields = ("file_type", "title", "phrases")
    fields = ("file_type", "title", "area", "category", "folder", "level", "holds", "override")
    readonly_fields = ("file_type", "title", "area", "category", "folder", "level", "holds")
    override_help = (
        "What you save here replaces the file for every document that is read afterwards. Where documents "
        "are filed is changed in the placement rules."
    )

    def save_model(self, request: HttpRequest, obj: Reference, form: Any, change: bool) -> None:
        """Store the operator's text, or reset to the file if they are equal."""
        store_reference_override(
            file_type=obj.file_type, text=obj.override, editor=cast("User", request.user)
        )

    def describe_preview(self, row: Reference, text: str) -> Mapping[str, Any]:
        try:
            shown = parse_reference(text).guidance
        except UnusableReference:
            shown = text
        return {
            "size": f"{estimate_tokens(shown)} tokens, {len(shown.split())} words",
            "faults": override_faults(row, text),
            "rendered": render_markdown(shown),
        }

    def take_back(self, row: Reference, editor: User) -> str:
        return_reference_to_file(file_type=row.file_type, editor=editor)
        return f"The file is used again for {row.file_type}. Your text stays in the history."


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceLine:
    """Where documents of a kind of client are filed, now and with a rule that isn't saved yet."""

    client: str
    before: str
    after: str


class PlacementRuleForm(forms.ModelForm):
    """A rule. What it is for can't be changed later."""

    class Meta:
        model = PlacementRule
        fields = ("file_type", "category", "client_type", "folder", "level")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        vocabulary = current_references().vocabulary
        for name, words in (("file_type", vocabulary.file_types), ("category", vocabulary.categories)):
            if name in self.fields:
                choices = [("", "–"), *((word, word) for word in words)]
                self.fields[name] = forms.ChoiceField(choices=choices, required=False)

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if not self.errors and (faults := rule_faults(self.rule())):
            # On a field, so that the database's constraint on it doesn't say the same.
            self.add_error("file_type" if "file_type" in self.fields else None, faults)
        return values

    def rule(self) -> Rule:
        """Return the rule that the form describes."""
        given = {
            name: self.cleaned_data.get(name, getattr(self.instance, name))
            for name in ("file_type", "category", "client_type", "folder", "level")
        }
        return Rule(**given | {"level": FilingLevel(given["level"])})


@admin.register(PlacementRule)
class PlacementRuleAdmin(SimpleHistoryAdmin):  # type: ignore[misc]  # the package has no types
    """Where documents are filed. A rule of a file is kept until an operator changes it."""

    form = PlacementRuleForm
    fields = ("file_type", "category", "client_type", "folder", "level")
    list_display = ("__str__", "file_type", "category", "client_type", "folder", "level", "is_overridden")
    list_filter = ("is_overridden", "client_type", "level", "folder")
    search_fields = ("file_type", "category", "folder")
    change_form_template = "admin/coaching/placementrule/change_form.html"
    object_history_template = "admin/coaching/override/history.html"
    object_history_list_template = "admin/coaching/override/history_list.html"

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """“Use the file again” deletes a rule that no file has."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[str]:
        return ("file_type", "category", "client_type") if obj else ()

    def get_urls(self) -> list[URLPattern]:
        site, view = self.admin_site, require_POST(self.return_to_file)
        own = [
            path(
                "preview/", site.admin_view(require_POST(self.preview)), name="coaching_placementrule_preview"
            ),
            path("<int:rule_id>/return/", site.admin_view(view), name="coaching_placementrule_return"),
        ]
        return [*own, *super().get_urls()]

    def set_history_delta_changes(
        self, request: HttpRequest, historical_records: Any, foreign_keys_are_objs: bool = True
    ) -> None:
        for record, before in pairwise(list(historical_records)):
            record.difference = diff_lines(_place_of(before), _place_of(record))

    def save_model(self, request: HttpRequest, obj: PlacementRule, form: Any, change: bool) -> None:
        obj.pk = store_rule(rule=form.rule(), editor=cast("User", request.user)).pk

    def preview(self, request: HttpRequest) -> HttpResponse:
        """Show where documents would be filed with a rule, by the type of client."""
        rule_id = request.POST.get("rule", "")
        row = PlacementRule.objects.filter(pk=int(rule_id)).first() if rule_id.isdecimal() else None
        is_allowed = self.has_change_permission(request, row) if row else self.has_add_permission(request)
        if not is_allowed:
            raise PermissionDenied
        given = request.POST.copy()
        for name in ("file_type", "category", "client_type"):
            if row:
                given[name] = getattr(row, name)
        form = PlacementRuleForm(given, instance=row)
        rule = form.rule() if form.is_valid() else None
        context = {
            **self.admin_site.each_context(request),
            "title": "Preview of a placement rule",
            "original": row,
            "errors": form.errors,
            "rule": rule,
            "lines": place_lines(rule) if rule else [],
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/coaching/placementrule/preview.html", context)

    def return_to_file(self, request: HttpRequest, rule_id: int) -> HttpResponse:
        row = PlacementRule.objects.filter(pk=rule_id).first()
        if row is None:
            raise Http404
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        self.log_change(request, row, "Returned to the file.")
        editor = cast("User", request.user)
        kept = return_rule_to_file(rule_id=rule_id, file_rules=read_reference_files().rules, editor=editor)
        if kept is None:
            messages.success(request, f"No file has this rule: {row} is deleted.")
            return HttpResponseRedirect(reverse("admin:coaching_placementrule_changelist"))
        messages.success(request, f"The file is used again: {kept}.")
        return HttpResponseRedirect(reverse("admin:coaching_placementrule_change", args=[rule_id]))


def place_lines(rule: Rule) -> Sequence[PlaceLine]:
    """Return where documents of a rule's kind are filed for each type of client, without it and with it."""
    now = current_references().placement
    then = PlacementTable({**now.rules, rule.key: rule}, now.categories)

    def place(table: PlacementTable, client_type: str) -> str:
        return _in_words(
            table.place(
                # A type that isn't known falls back to its category.
                file_type=rule.file_type or "–",
                category=rule.category,
                client_type=client_type,
                has_project=True,
            )
        )

    return [
        PlaceLine(client=str(label), before=place(now, value), after=place(then, value))
        for value, label in ClientType.choices
    ]


def _place_of(rule: Any) -> str:
    """Return what a rule, or a state in its history, says."""
    return f"folder: {rule.folder}\nlevel: {rule.level}"


def _in_words(placement: Placement) -> str:
    return placement.review or f"{placement.folder} ({placement.level})"
