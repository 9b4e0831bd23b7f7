"""Calls to the model about documents, and what they cost."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from coaching.library.models.clients import Client
from sessions_app.owned import Owned


class CallPurpose(models.TextChoices):
    CLASSIFY = "classify", "Classification"
    CRITIC = "critic", "Second reading"
    SUMMARY = "summary", "Summary"
    TRANSCRIPT = "transcript", "Transcript"
    PAGES = "pages", "Pages read from pictures"
    FACTS = "facts", "Facts"


class DocumentCallState(models.TextChoices):
    """How far a call has come."""

    OPEN = "open", "Open"
    ANSWERED = "answered", "Answered"
    FAILED = "failed", "Failed"


class DocumentCall(Owned):
    """A model call about documents of one client, with its tool rounds: once answered, it isn't sent again.

    `key` names the same call after a restart. `request` and `rounds` are canonical JSON text.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="document_calls"
    )
    client = models.ForeignKey(Client, on_delete=models.CASCADE, related_name="calls")
    purpose = models.CharField(max_length=16, choices=CallPurpose)
    key = models.CharField(max_length=100)
    documents = models.JSONField(default=list, help_text="Their ids, in the order in which they are sent.")
    used = models.JSONField(default=list, help_text="The ids of those for which the answer was used.")
    state = models.CharField(max_length=16, choices=DocumentCallState, default=DocumentCallState.OPEN)
    request = models.TextField(blank=True, default="")
    rounds = models.TextField(blank=True, default="")
    answer = models.TextField(blank=True, default="")
    error = models.CharField(max_length=500, blank=True, default="")
    attempts = models.PositiveIntegerField(default=0)
    batch = models.CharField(max_length=100, blank=True, default="", help_text="The model API's batch.")
    prefix = models.CharField(max_length=64, blank=True, default="", help_text="Of its tools and system.")
    prompt_tokens = models.PositiveIntegerField(default=0, help_text="An estimate.")
    sent_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="document_call_once"),
            models.CheckConstraint(
                condition=Q(purpose__in=CallPurpose.values), name="document_call_purpose_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=DocumentCallState.values), name="document_call_state_known"
            ),
        ]
        indexes = [
            models.Index(fields=["state", "batch"], name="document_call_open"),
            models.Index(fields=["prefix", "-sent_at"], name="document_call_prefix"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.key}"

    def is_for(self, document_id: int) -> bool:
        """Return whether the answer hasn't been used for this document yet."""
        return document_id in self.documents and document_id not in self.used


class CallUsage(Owned):
    """A reply that a call about documents took and that was paid for."""

    owner_path = "usage__user"

    usage = models.OneToOneField(
        "sessions_app.ModelUsage", on_delete=models.CASCADE, primary_key=True, related_name="document_call"
    )
    call = models.ForeignKey(DocumentCall, on_delete=models.CASCADE, related_name="replies_paid")

    class Meta:
        verbose_name_plural = "usage of document calls"

    def __str__(self) -> str:
        return f"usage {self.usage_id} of call {self.call_id}"
