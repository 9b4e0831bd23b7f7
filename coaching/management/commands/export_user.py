"""`manage.py export_user U --out FILE.zip`: a person's data, as in their own download."""

import os
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from coaching.management.people import user_named
from coaching.people.languages import in_language_of
from coaching.personal_data.archive import write_archive


class Command(BaseCommand):
    help = "Write all of a person's data into a zip: conversations, files with their versions, and JSON."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", metavar="U", help="a username, an email address or a user id")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE.zip", help="where to write it")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = user_named(options["user"])
        out: Path = options["out"]
        try:
            with in_language_of(user):
                archive = write_archive(user, now=timezone.now())
            size = self._write(out, archive)
        except OSError as error:
            raise CommandError(f"{out} can't be written ({error.strerror}).") from error
        self.stdout.write(f"{user.get_username()}: {size:,} bytes in {out}")

    def _write(self, out: Path, pieces: Any) -> int:
        """Write to a temporary file and move it at the end, so that no partial archive is ever found."""
        with tempfile.NamedTemporaryFile(dir=out.parent, prefix=f".{out.name}.", delete=False) as file:
            partial = Path(file.name)  # readable by its owner only
            try:
                for piece in pieces:
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
                partial.replace(out)
            except BaseException:
                partial.unlink(missing_ok=True)
                raise
            return file.tell()
