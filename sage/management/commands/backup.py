"""Takes a backup of everything, while Sage runs or not."""

import secrets
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from sage.backups.copying import Taken
from sage.backups.errors import BackupError
from sage.backups.stopping import ended_by_sigterm
from sage.backups.taking import file_name, take_backup
from sage.schema import check_connection, check_migrations

SHOWN = 10


class Command(BaseCommand):
    help = "Take a backup of the database, the files and the keys that they need, into one file."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--out",
            type=Path,
            metavar="FILE",
            help="default: a new file in SAGE_BACKUP_DIR, or in the data folder",
        )
        parser.add_argument(
            "--new-key", action="store_true", help="print a new key for SAGE_BACKUP_KEY, and take no backup"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["new_key"]:
            self.stdout.write(secrets.token_urlsafe(32))
            return
        check_connection()
        check_migrations()
        folder = settings.SAGE_BACKUP_DIR or settings.SAGE_DATA_DIR / "backups"
        path = options["out"] or folder / file_name(timezone.now())
        if options["out"] and not path.absolute().parent.is_dir():
            # A misspelt or unmounted one would otherwise be made on the disk that the backup is to survive.
            raise CommandError(f"There is no folder {path.absolute().parent}: make it first.")
        try:
            with ended_by_sigterm():
                taken = take_backup(path.absolute())
        except BackupError as error:
            raise CommandError(str(error)) from None
        self._tell(taken)

    def _tell(self, taken: Taken) -> None:
        self.stdout.write(
            f"{taken.path}: {taken.size:,} bytes, {taken.objects:,} files, {taken.seconds:.1f} s."
        )
        if not settings.SAGE_BACKUP_KEY:
            self.stdout.write("It isn't encrypted: whoever has it can read everything (SAGE_BACKUP_KEY).")
        if taken.gone:
            self.stdout.write(f"{len(taken.gone):,} files were deleted meanwhile, or lost before a restore.")
        if taken.damaged:
            for key in taken.damaged[:SHOWN]:
                self.stderr.write(f"  {key}")
            self.stderr.write(f"{len(taken.damaged):,} files are lost or damaged, and were so before.")
            sys.exit(1)
