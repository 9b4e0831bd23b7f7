"""`manage.py export_user U --out FILE.zip`: a person's whole data, as they can download it themselves."""

import os
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from coaching.belongings.archive import write_archive
from coaching.management.people import user_named


class Command(BaseCommand):
    help = "Write all of a person's data into a zip: conversations, files with their versions, and JSON."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", metavar="U", help="a username, an address, or a number")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE.zip", help="where to write it")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = user_named(options["user"])
        out: Path = options["out"]
        try:
            size = self._write(out, write_archive(user, now=timezone.now()))
        except OSError as error:
            raise CommandError(f"{out} can't be written ({error.strerror}).") from error
        self.stdout.write(f"{user.get_username()}: {size:,} bytes in {out}")

    def _write(self, out: Path, pieces: Any) -> int:
        """Write beside the target and move it there at the end: no half archive is ever found."""
        with tempfile.NamedTemporaryFile(dir=out.parent, prefix=f".{out.name}.", delete=False) as file:
            beside = Path(file.name)  # only its owner may read it
            try:
                for piece in pieces:
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
                beside.replace(out)
            except BaseException:
                beside.unlink(missing_ok=True)
                raise
            return file.tell()
