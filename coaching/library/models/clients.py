"""Clients and projects: whom documents and conversations are about."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from sessions_app.owned import Owned

OWN_NAME = gettext_noop("Me")
"""The name of the client that is the user, until they change it."""


class ClientType(models.TextChoices):
    """Whom documents are about. The first client of a user is the user."""

    SELF = "self", _("Me")
    PERSON = "person", _("Person")
    HOUSEHOLD = "household", _("Household")
    COMPANY = "company", _("Company")


class ClientStatus(models.TextChoices):
    """Whether a client is worked for."""

    ACTIVE = "active", _("Active")
    PROSPECT = "prospect", _("Prospect")
    ARCHIVED = "archived", _("Archived")


class Client(Owned):
    """Somebody that documents are about."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="clients")
    name = models.CharField(max_length=120)
    client_type = models.CharField(max_length=16, choices=ClientType, default=ClientType.PERSON)
    status = models.CharField(max_length=16, choices=ClientStatus, default=ClientStatus.ACTIVE)
    was_prospect = models.BooleanField(
        default=False, db_default=False, help_text="Whether an archived client is a prospect once restored."
    )
    notes = models.TextField(blank=True, default="", max_length=2_000)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint("user", Lower("name"), name="client_name_once_per_user"),
            models.UniqueConstraint(
                fields=["user"], condition=Q(client_type=ClientType.SELF), name="client_self_once_per_user"
            ),
            models.UniqueConstraint(fields=["id", "user"], name="client_of_user"),
            models.CheckConstraint(condition=Q(client_type__in=ClientType.values), name="client_type_known"),
            models.CheckConstraint(condition=Q(status__in=ClientStatus.values), name="client_status_known"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def shown_name(self) -> str:
        """The name for pages, in the language that is active."""
        return gettext(OWN_NAME) if self.name == OWN_NAME else self.name

    @property
    def unarchived_status(self) -> ClientStatus:
        """The status; of an archived client the one that it gets when it is restored."""
        if self.status != ClientStatus.ARCHIVED:
            return ClientStatus(self.status)
        return ClientStatus.PROSPECT if self.was_prospect else ClientStatus.ACTIVE


class ProjectStatus(models.TextChoices):
    """Whether a project is worked on."""

    ACTIVE = "active", _("Active")
    ARCHIVED = "archived", _("Archived")


class Project(Owned):
    """A matter of a client with documents of its own."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="library_projects"
    )
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="projects")
    name = models.CharField(max_length=120)
    status = models.CharField(max_length=16, choices=ProjectStatus, default=ProjectStatus.ACTIVE)
    notes = models.TextField(blank=True, default="", max_length=2_000)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.UniqueConstraint("client", Lower("name"), name="project_name_once_per_client"),
            models.UniqueConstraint(fields=["id", "client"], name="project_of_client"),
            models.CheckConstraint(condition=Q(status__in=ProjectStatus.values), name="project_status_known"),
        ]

    def __str__(self) -> str:
        return self.name


class SessionScope(Owned):
    """The client, and perhaps the project, that a conversation was opened from."""

    owner_path = "session__user"

    session = models.OneToOneField(
        "sessions_app.Session", on_delete=models.CASCADE, primary_key=True, related_name="scope"
    )
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="scopes")
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.CASCADE, related_name="scopes"
    )

    def __str__(self) -> str:
        return f"scope of session {self.session_id}"
