"""`manage.py collect_garbage`: runs the periodic job by hand."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from coaching.files.garbage import collect_garbage
from coaching.files.objects import STORAGE_ERRORS


class Command(BaseCommand):
    help = "Delete stored objects that belong to no file and are older than an hour."

    def handle(self, *_args: Any, **_options: Any) -> None:
        try:
            report = collect_garbage(now=timezone.now())
        except STORAGE_ERRORS as error:
            raise CommandError(f"The file storage can't be listed ({type(error).__name__}).") from error
        self.stdout.write(
            f"{report.seen} objects seen, {report.removed} without a file removed, "
            f"{report.failed} left for next time."
        )
