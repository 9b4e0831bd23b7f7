"""Restores a backup, while Sage doesn't run."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from coaching.personal_data.departures import KEPT
from sage.backups.contents import Contents, examine
from sage.backups.databases import join_server
from sage.backups.errors import BackupError
from sage.backups.restoring import Restored, check_suitable, restore
from sage.backups.stopping import ended_by_sigterm
from sage.schema import check_connection

SHOWN = 10


class Command(BaseCommand):
    help = "Restore a backup in place of the present database. Web processes and workers must be stopped."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--check", action="store_true", help="only read it, and print what it holds")
        parser.add_argument(
            "--plain",
            action="store_true",
            help="take an archive that isn't encrypted, although there is a key",
        )
        parser.add_argument("--yes", action="store_true", help="don't ask")
        parser.add_argument(
            "--keep-links",
            action="store_true",
            help="keep a SECRET_KEY of the environment although it is the backup's",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            contents = examine(options["file"], is_plain=options["plain"])
            self._describe(contents)
            if options["check"]:
                return
            check_connection()
            join_server()
            check_suitable(contents, keeps_links=options["keep_links"])
            if not options["yes"] and not self._agrees():
                raise CommandError("Nothing was changed.")
            with ended_by_sigterm():
                done = restore(options["file"], contents)
            self._tell(done)
        except BackupError as error:
            raise CommandError(str(error)) from None

    def _describe(self, contents: Contents) -> None:
        self.stdout.write(
            f"A backup of {contents.taken_at:%Y-%m-%d %H:%M} UTC by Sage {contents.sage}, PostgreSQL "
            f"{contents.postgres}: {contents.objects:,} files ({contents.object_bytes:,} bytes). It is whole."
        )
        if not contents.has_objects:
            self.stdout.write("It has rows only: restore it where the files of that time still are.")
        if contents.damaged:
            self.stdout.write(f"{contents.damaged:,} files were lost or damaged before it was taken.")
        if contents.gone:
            self.stdout.write(
                f"{contents.gone:,} files aren't in it: deleted while it was taken, or lost long before."
            )
        if timezone.now() - contents.taken_at > KEPT:
            self.stdout.write(
                f"It is older than {KEPT.days} days: who was deleted more than so long ago comes back."
            )

    def _agrees(self) -> bool:
        if not sys.stdin.isatty():
            raise CommandError("Add --yes to restore it without a question. Nothing was changed.")
        answer = input("Put it in place of everything that is there now? [yes/no] ")
        return answer.strip().lower() == "yes"

    def _tell(self, done: Restored) -> None:
        lines = [f"Restored, with {done.objects:,} files that weren't there."]
        if done.departed:
            lines.append(f"{done.departed:,} people were deleted after the backup, and are deleted again.")
        if done.interrupted:
            lines.append(f"{done.interrupted:,} answers that were being written are marked as interrupted.")
        if done.lost:
            lines.append(f"Lost files, which neither the backup nor the storage has: {len(done.lost):,}")
            lines += [f"  {key}" for key in done.lost[:SHOWN]]
            if len(done.lost) > SHOWN:
                lines.append("  … the log has the others (object_lost)")
        if done.unreadable_second_factors:
            lines.append(f"{done.unreadable_second_factors:,} second factors were unreadable in the backup.")
        lines.append("Everybody has to sign in again, and to allow notifications again on each device.")
        if done.former:
            lines.append(f"What was there before stays for a week, as the database {done.former}.")
        self.stdout.write("\n".join(lines))
