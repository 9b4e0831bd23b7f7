"""The library's forms. They only shape fields; services have the rules and refusals."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from coaching.models import Client, ClientStatus, ClientType, Project
from coaching.views.edit_forms import EditForm

MAX_ID = 2**63 - 1
STATUSES = [(value, label) for value, label in ClientStatus.choices if value != ClientStatus.ARCHIVED]
TYPES = [(value, label) for value, label in ClientType.choices if value != ClientType.SELF]


def id_field(**options: Any) -> forms.IntegerField:
    return forms.IntegerField(min_value=1, max_value=MAX_ID, **options)


def ids_in(values: Sequence[str]) -> list[int]:
    return [int(value) for value in values if value.isascii() and value.isdigit() and len(value) < 19]


def seen_in(form: QueryDict) -> datetime:
    """Return when the newest of the shown rows had changed; long ago, if the form doesn't say."""
    return moment_in(form, "seen_at") or datetime.min.replace(tzinfo=UTC)


def moment_in(form: QueryDict, name: str) -> datetime | None:
    """Return a moment of a form or a URL; None without one."""
    try:
        moment = datetime.fromisoformat(form.get(name, ""))
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


class ClientForm(EditForm):
    """Add or change a client."""

    name = forms.CharField(
        label=_("Name"), max_length=120, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    client_type = forms.ChoiceField(label=_("Type"), choices=TYPES)
    status = forms.ChoiceField(label=_("Status"), choices=STATUSES, required=False)
    notes = forms.CharField(
        label=_("Notes (optional)"),
        max_length=2_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
    )

    def __init__(self, data: Any = None, *, client: Client | None = None) -> None:
        initial = {}
        if client:
            initial = {
                "name": client.shown_name,
                "client_type": client.client_type,
                "status": client.unarchived_status,
                "notes": client.notes,
            }
        super().__init__(data, made_with={"client": client}, initial=initial, auto_id="client-%s")
        self.client = client
        if client and client.client_type == ClientType.SELF:
            del self.fields["client_type"], self.fields["status"]
        elif client and client.status == ClientStatus.ARCHIVED:
            self.fields["status"].label = _("Status after restoring")
        if client:
            self.carry()

    def values(self) -> dict[str, Any]:
        """Return a valid form's values for the service that changes a client."""
        assert self.client is not None
        return {
            **self.cleaned_data,
            "status": self.cleaned_data.get("status") or self.client.unarchived_status,
        }


class ProjectForm(EditForm):
    """Add or change a project."""

    name = forms.CharField(
        label=_("Name"), max_length=120, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    notes = forms.CharField(
        label=_("Notes (optional)"),
        max_length=2_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2, "dir": "auto"}),
    )

    def __init__(self, data: Any = None, *, project: Project | None = None) -> None:
        initial = {"name": project.name, "notes": project.notes} if project else {}
        super().__init__(data, made_with={"project": project}, initial=initial, auto_id="project-%s")
        if project:
            self.carry()
