"""Mail that people send to their library: addresses, and what was taken, waits, or was refused."""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from sessions_app.owned import Owned

LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
TOKEN_LENGTH = 20
"""Five bits a character: 100 bits. Small letters, because mail servers change others."""


def new_token() -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(TOKEN_LENGTH))


class InboxRefusalReason(models.TextChoices):
    """Why a mail was left on the server."""

    ADDRESS = "address", _("It wasn’t sent to an address that Sage knows.")
    SEVERAL = "several", _("It was sent to several addresses of Sage.")
    UNUSUAL = "unusual", _("Its headers weren’t as mail programs write them.")
    UNPROVEN = "unproven", _("The mail server couldn’t confirm the sender.")
    SENDER = "sender", _("It wasn’t sent from the confirmed address of your account.")
    LARGE = "large", _("It was too large.")
    WAITING = "waiting", _("Too many emails were waiting.")
    ROOM = "room", _("There was no room left in your library.")
    UNREADABLE = "unreadable", _("The mail server couldn’t hand it over.")


class InboxAddress(Owned):
    """The token in a person's address. Another one replaces it; mail to the old one is refused.

    `fetched_bytes` were fetched from the server for the person on a day (of UTC), also in vain.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="inbox_address"
    )
    token = models.CharField(max_length=32, unique=True, default=new_token)
    made_at = models.DateTimeField(auto_now_add=True)
    fetched_on = models.DateField(null=True, blank=True)
    fetched_bytes = models.PositiveBigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "inbox addresses"

    def __str__(self) -> str:
        return f"address of {self.user_id}"


class InboxMail(Owned):
    """A mail that was taken, committed together with its document, so that it is taken once.

    The digests are SHA-256 of its Message-ID and of its body. `is_moved`: it is in the server's folder of
    taken mails, or its number there doesn't count any more.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="inbox_mails")
    document = models.ForeignKey(
        "coaching.Document", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    message_digest = models.CharField(max_length=64)
    body_digest = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    uid_validity = models.PositiveBigIntegerField()
    uid = models.PositiveBigIntegerField()
    is_moved = models.BooleanField(default=False)
    taken_at = models.DateTimeField()

    class Meta:
        ordering = ["-taken_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "message_digest", "body_digest"], name="inbox_mail_taken_once"
            ),
        ]
        indexes = [
            models.Index(fields=["user", "-taken_at"], name="inbox_mail_day"),
            models.Index(fields=["uid"], condition=Q(is_moved=False), name="inbox_mail_to_move"),
        ]

    def __str__(self) -> str:
        return f"mail {self.pk}"


class InboxWaiting(Owned):
    """A mail on the server that is tried again at `due_at`: its person’s day, or library, is full.

    Without a user, the server didn't hand it over. A mail waits once, whoever it is for.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="inbox_waiting",
    )
    uid = models.PositiveBigIntegerField()
    since = models.DateTimeField()
    due_at = models.DateTimeField()

    class Meta:
        ordering = ["uid"]
        verbose_name_plural = "inbox waiting"
        constraints = [models.UniqueConstraint(fields=["uid"], name="inbox_mail_waits_once")]

    def __str__(self) -> str:
        return f"waiting mail {self.uid}"


class InboxRefusal(Owned):
    """How many mails were refused on a day for a reason. `user` is null if none's address was named."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="inbox_refusals",
    )
    day = models.DateField()
    reason = models.CharField(max_length=16, choices=InboxRefusalReason)
    count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-day", "reason"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "day", "reason"], nulls_distinct=False, name="inbox_refusals_once"
            ),
            models.CheckConstraint(
                condition=Q(reason__in=InboxRefusalReason.values), name="inbox_refusal_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.count} refused on {self.day}"


class InboxState(models.Model):
    """How far the mailbox was read. One row.

    Numbers up to `last_uid` are decided, except those in `InboxWaiting`. They are those of the mailbox whose
    hash `place_digest` is. `lease` names the reader that may write; another one takes it over.
    """

    lease = models.UUIDField(null=True, blank=True)
    place_digest = models.CharField(max_length=64, blank=True, default="")
    uid_validity = models.PositiveBigIntegerField(default=0)
    last_uid = models.PositiveBigIntegerField(default=0)
    read_at = models.DateTimeField(null=True, blank=True, help_text="When it could be read last.")
    failures = models.PositiveIntegerField(default=0, help_text="How often in a row it couldn't be read.")
    failing_since = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=32, blank=True, default="")
    next_try_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(id=1), name="inbox_state_is_one_row")]
        verbose_name = "mailbox"
        verbose_name_plural = "mailbox"

    def __str__(self) -> str:
        return "mailbox"
