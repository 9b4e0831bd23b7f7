"""The forms of a next step: what it says, and what became of it."""

from typing import Any

from django import forms
from django.utils.dates import WEEKDAYS_ABBR
from django.utils.translation import gettext_lazy as _

from coaching.library.drafts import MAX_DESCRIPTION, MAX_OUTCOME, MAX_TITLE
from coaching.library.pages.forms import id_field
from coaching.library.pages.knowledge import add_clients
from coaching.models import ActionItem, ActionPriority
from coaching.steps.repeats import DAILY, DAYS, MONTHLY, WEEKLY
from coaching.steps.words import repeats_in_words
from coaching.views.edit_forms import EditForm

REPEATS = [
    ("", _("Doesn’t repeat")),
    (DAILY, _("Every day")),
    (WEEKLY, _("Every week")),
    (MONTHLY, _("Every month")),
]


class StepForm(EditForm):
    """Add or change a next step."""

    UNITS = (("repeats", "days"),)

    title = forms.CharField(
        label=_("What needs to be done"),
        max_length=MAX_TITLE,
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    client = id_field(widget=forms.Select)
    due_date = forms.DateField(
        label=_("Due date (optional)"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    due_time = forms.TimeField(
        label=_("Time (optional)"),
        required=False,
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
    )
    repeats = forms.ChoiceField(label=_("Repeats"), choices=REPEATS, required=False)
    days = forms.MultipleChoiceField(
        label=_("On these days of the week"),
        help_text=_("None: on the weekday of the due date."),
        choices=[(day, WEEKDAYS_ABBR[number]) for number, day in enumerate(DAYS)],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    priority = forms.ChoiceField(label=_("Priority"), choices=ActionPriority.choices)
    owner = forms.CharField(
        label=_("Assigned to (optional)"),
        max_length=120,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "dir": "auto"}),
    )
    description = forms.CharField(
        label=_("Details (optional)"),
        max_length=MAX_DESCRIPTION,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
    )

    def __init__(self, data: Any = None, *, user_id: int, item: ActionItem | None = None) -> None:
        made_with = {"user_id": user_id, "item": item}
        super().__init__(data, made_with=made_with, initial=_initial(item), auto_id="action-%s")
        self.user_id, self.item = user_id, item
        if item:
            del self.fields["client"]
            self.carry()
        else:
            add_clients(self, user_id)

    def in_words(self, name: str) -> str:
        """Return what an unbound form's field says; a repetition with its days."""
        if name == "repeats" and self.item:
            return repeats_in_words(self.item.repeats) or str(REPEATS[0][1])
        return super().in_words(name)

    def values(self) -> dict[str, Any]:
        """Return a valid form's values for the services."""
        names = ("title", "due_date", "due_time", "repeats", "owner", "description")
        given = {name: self.cleaned_data[name] for name in names}
        if given["repeats"] == WEEKLY and self.cleaned_data["days"]:
            given["repeats"] = ",".join(self.cleaned_data["days"])
        return {**given, "priority": ActionPriority(self.cleaned_data["priority"])}


class ShownForm(forms.Form):
    """What the page of a form shows of a step: its due date, and its newest change (the audit row)."""

    occurrence = forms.DateField(required=False, input_formats=["%Y-%m-%d"])
    effect = id_field(required=False)


class OutcomeForm(forms.Form):
    """What became of a step, in the person's words."""

    outcome = forms.CharField(
        label=_("What happened? (optional)"),
        max_length=MAX_OUTCOME,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
    )


def _initial(item: ActionItem | None) -> dict[str, Any]:
    if item is None:
        return {"priority": ActionPriority.MEDIUM}
    names = ("title", "due_date", "due_time", "priority", "owner", "description")
    is_weekly = item.repeats not in ("", DAILY, MONTHLY)
    repeats = {"repeats": WEEKLY, "days": item.repeats.split(",")} if is_weekly else {"repeats": item.repeats}
    return {name: getattr(item, name) for name in names} | repeats
