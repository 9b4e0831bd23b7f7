"""The form for editing a file: its body, and a field for each attribute of its type.

It shapes the fields and words validation errors for people. `files.types` and `files.attributes` have the
rules.
"""

from dataclasses import replace
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from coaching.files.attributes import FileAttributes
from coaching.files.edits import Editable, editable_of
from coaching.files.selectors import FileText
from coaching.files.standing import check_standing
from coaching.files.types import ATTRIBUTE_ORDER, RULES, AttributeName
from coaching.models import LifeDomain, UserFileVersion
from coaching.models.life import DomainStatus
from sessions_app.errors import FieldRefused

LISTS = ("priorities", "themes")
# The attributes that people edit most come first.
FIELD_ORDER: tuple[AttributeName, ...] = (
    "status",
    "updated_rating",
    "intention",
    "priorities",
    "themes",
    "energy",
    "mood_signal",
    "domains_touched",
    "preview_line",
)
RATINGS = (
    ("", gettext_lazy("Not set")),
    ("1", gettext_lazy("1 (lowest)")),
    ("2", "2"),
    ("3", "3"),
    ("4", "4"),
    ("5", gettext_lazy("5 (highest)")),
)


class PlainField(forms.Field):
    """Text without stripping; validation is up to its attribute."""

    def to_python(self, value: Any) -> str:
        return str(value or "").replace("\r\n", "\n")


def _line(label: str, help_text: str = "") -> PlainField:
    return PlainField(required=False, label=label, help_text=help_text, widget=forms.TextInput)


def _lines(label: str, help_text: str) -> PlainField:
    return PlainField(
        required=False, label=label, help_text=help_text, widget=forms.Textarea(attrs={"rows": 4})
    )


def _field_of(name: AttributeName) -> forms.Field:
    match name:
        case "status":
            choices = [("", _("Not set")), *DomainStatus.choices]
            return forms.ChoiceField(required=False, label=_("Status"), choices=choices)
        case "updated_rating":
            return forms.ChoiceField(required=False, label=_("Rating"), choices=RATINGS)
        case "energy":
            return _line(_("Energy"), _("In a word or two."))
        case "mood_signal":
            return _line(_("Mood"), _("In a word or two."))
        case "domains_touched":
            return forms.MultipleChoiceField(
                required=False,
                label=_("Parts of life it’s about"),
                choices=LifeDomain.choices,
                widget=forms.CheckboxSelectMultiple,
            )
        case "intention":
            return _line(_("Intention"), _("One sentence."))
        case "priorities":
            return _lines(_("Priorities"), _("One per line, most important first. Up to ten."))
        case "themes":
            return _lines(_("Themes"), _("One per line. Up to ten."))
        case "preview_line":
            return _line(_("One-line summary"), _("Shown in lists of files."))


def text_with_facts(attributes: FileAttributes, body: str) -> str:
    """Return a text below lines with its attributes, for comparing two of them."""
    given = attributes.given()
    lines = [line for name in ATTRIBUTE_ORDER if name in given for line in _fact_lines(name, given[name])]
    return "\n".join([*lines, "", body] if lines else [body])


def readable_text(found: FileText) -> str:
    """Return a version's text below its own attributes in words; as it is if these can't be read."""
    held = editable_of(replace(found, rating=None, rated_at=None))
    return text_with_facts(held.attributes, held.body) if held.has_fields else found.text


def _fact_lines(name: AttributeName, value: Any) -> list[str]:
    field = _field_of(name)
    if isinstance(value, list):
        names = dict(LifeDomain.choices) if name == "domains_touched" else {}
        return [f"{field.label}: {names.get(one, one)}" for one in value]
    return [f"{field.label}: {DomainStatus(value).label if name == 'status' else value}"]


class FileForm(forms.Form):
    """The editing form. `version` is the one that was opened, 0 if unknown, of the file with the id `file`.

    `mine` is the user's text from before another's changes were merged into `body`. An attribute that isn't
    sent stays unchanged; only an empty field removes one.
    """

    body = PlainField(
        required=False, label=gettext_lazy("Text"), widget=forms.Textarea(attrs={"rows": 22, "dir": "auto"})
    )
    mine = PlainField(required=False, widget=forms.HiddenInput)
    version = PlainField(required=False, widget=forms.HiddenInput)
    file = PlainField(required=False, widget=forms.HiddenInput)

    def __init__(self, held: Editable, data: Any = None, *, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial=initial, auto_id="file-%s")
        self._held = held
        taken = RULES[held.file_type].attributes if held.has_fields else frozenset()
        self.attribute_names = [name for name in FIELD_ORDER if name in taken]
        for name in self.attribute_names:
            self.fields[name] = _field_of(name)
            if not isinstance(self.fields[name], forms.MultipleChoiceField):
                self.fields[name].widget.attrs["dir"] = "auto"

    @classmethod
    def showing(
        cls,
        held: Editable,
        *,
        body: str,
        attributes: FileAttributes,
        version: UserFileVersion,
        mine: str = "",
    ) -> "FileForm":
        """Return the form for its first display."""
        shown: dict[str, Any] = {
            "body": body,
            "version": version.number,
            "file": version.file_id,
            "mine": mine,
        }
        for name, value in attributes.given().items():
            shown[name] = "\n".join(map(str, value)) if isinstance(value, list) and name in LISTS else value
        return cls(held, initial=shown)

    def facts(self) -> list[forms.BoundField]:
        return [self[name] for name in self.attribute_names]

    def has_facts(self) -> bool:
        return any(field.value() for field in self.facts())

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        held = self._held.attributes.given()
        given = {
            name: self._value_of(name, cleaned) if self._is_sent(name) else held.get(name)
            for name in self.attribute_names
        }
        try:
            cleaned["attributes"] = FileAttributes.model_validate(given)
        except ValidationError as invalid:
            for fault in invalid.errors():
                self.add_error(str(fault["loc"][0]), _in_words(fault))
        else:
            self._check_standing(cleaned["attributes"])
        return cleaned

    def _check_standing(self, given: FileAttributes) -> None:
        """Refuse a rating that contradicts the status, unless the file has both already."""
        held = self._held.attributes
        if (given.status, given.updated_rating) == (held.status, held.updated_rating):
            return
        try:
            check_standing(given.status, given.updated_rating)
        except FieldRefused as refused:
            self.add_error(refused.field, refused.shown())

    def _is_sent(self, name: AttributeName) -> bool:
        """Return whether a field was sent. Browsers omit unticked boxes: those were sent if any field was."""
        if isinstance(self.fields[name], forms.MultipleChoiceField):
            return any(other in self.data for other in self.attribute_names)
        return name in self.data

    def _value_of(self, name: AttributeName, cleaned: dict[str, Any]) -> Any:
        value = cleaned.get(name)
        if name in LISTS and value:
            value = [line for line in value.split("\n") if line.strip()]
        return value if value and (not isinstance(value, str) or value.strip()) else None


def _in_words(fault: ErrorDetails) -> str:
    context = fault.get("ctx", {})
    match fault["type"], context.get("field_type"):
        case ("too_long", "List"):
            said = _("Up to %(most)s fit here; there are %(count)s.")
            return said % {"most": context["max_length"], "count": context["actual_length"]}
        case ("too_long" | "string_too_long", _):
            said = _("Up to %(most)s characters fit here.") % {"most": context["max_length"]}
        case _:
            said = _("This has a character that can’t be stored. Please remove it.")
    if len(fault["loc"]) == 1:
        return said
    return _("Line %(number)s: %(fault)s") % {"number": int(fault["loc"][1]) + 1, "fault": said}
