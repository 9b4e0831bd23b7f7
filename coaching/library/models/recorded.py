"""Rows of files that operators may replace: with a history that says who changed them and why."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import models


class Recorded(models.Model):
    """A row with a history that says who changed it and why."""

    # The history reads them when the row is saved or deleted.
    _history_user: User | None
    _change_reason: str

    class Meta:
        abstract = True

    def change(self, values: Mapping[str, Any], *, reason: str, editor: User | None = None) -> bool:
        """Store values that differ, with one row of history; return whether there were any."""
        if self.pk and all(getattr(self, name) == value for name, value in values.items()):
            return False
        for name, value in values.items():
            setattr(self, name, value)
        self.save_with_reason(editor=editor, reason=reason)
        return True

    def save_with_reason(self, *, editor: User | None, reason: str) -> None:
        self._history_user, self._change_reason = editor, reason
        self.save()

    def delete_with_reason(self, *, editor: User | None, reason: str) -> None:
        self._history_user, self._change_reason = editor, reason
        self.delete()


class Overridable(Recorded):
    """A file's text, and an operator's in its place: `override` is empty if the file's is used.

    `overridden_sha256` is the hash of the file's text that the override replaced: if it differs from
    `file_sha256`, the file has changed since.
    """

    file_text = models.TextField()
    file_sha256 = models.CharField(max_length=64)
    override = models.TextField(
        blank=True,
        default="",
        verbose_name="text of your own",
        help_text="Used instead of the file's. Empty: the file holds.",
    )
    overridden_sha256 = models.CharField(max_length=64, blank=True, default="")
    is_retired = models.BooleanField(default=False, help_text="It has no file any more and isn't used.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True

    @property
    def text(self) -> str:
        return self.override or self.file_text

    @property
    def is_overridden(self) -> bool:
        return bool(self.override)

    @property
    def has_file_changed(self) -> bool:
        return self.is_overridden and self.overridden_sha256 != self.file_sha256
