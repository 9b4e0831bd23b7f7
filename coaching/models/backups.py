"""Rows of the installation about its backups, of nobody."""

import secrets

from django.db import models


class Backup(models.Model):
    """A backup that was tried: when it ended, and whether it is whole."""

    ended_at = models.DateTimeField(db_index=True)
    seconds = models.PositiveIntegerField(help_text="How long it took.")
    file = models.CharField(max_length=255, blank=True, default="", help_text="The archive's name.")
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes of the archive; 0 if it failed.")
    is_whole = models.BooleanField()
    reason = models.CharField(max_length=300, blank=True, default="", help_text="Why it isn't whole.")

    class Meta:
        ordering = ["-ended_at"]

    def __str__(self) -> str:
        return f"backup of {self.ended_at:%Y-%m-%d %H:%M}"


def _new_key() -> str:
    return secrets.token_hex(32)


class DepartureKey(models.Model):
    """The key that hides people in the list of departures: one row, in the database and its backups only."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    key = models.CharField(max_length=64, default=_new_key, editable=False)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="departure_key_is_one")]

    def __str__(self) -> str:
        return "key of departures"
