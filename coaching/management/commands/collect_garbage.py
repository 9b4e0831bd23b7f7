"""`manage.py collect_garbage`: runs the periodic job by hand."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from coaching.files.former_clusters import remove_former_clusters
from coaching.files.former_databases import drop_former_databases
from coaching.files.garbage import collect_garbage
from coaching.files.objects import STORAGE_ERRORS
from coaching.files.organising import purge_deleted_files
from coaching.voice.recordings import erase_old_recordings


class Command(BaseCommand):
    help = (
        "Delete files that their users deleted weeks ago, recordings whose words nobody took, and stored "
        "objects that belong to no file and are older than an hour."
    )

    def handle(self, *_args: Any, **_options: Any) -> None:
        erase_old_recordings(now=timezone.now())
        purged = purge_deleted_files(now=timezone.now())
        remove_former_clusters(now=timezone.now())
        if drop_former_databases(now=timezone.now()):
            raise CommandError(
                f"{purged} deleted files gone for good. Objects stay for a week after a restore, as does the "
                "database from before it."
            )
        try:
            report = collect_garbage(now=timezone.now())
        except STORAGE_ERRORS as error:
            raise CommandError(f"The file storage can't be listed ({type(error).__name__}).") from error
        self.stdout.write(
            f"{purged} deleted files gone for good, "
            f"{report.seen} objects seen, {report.removed} without a file removed, "
            f"{report.failed} left for next time."
        )
