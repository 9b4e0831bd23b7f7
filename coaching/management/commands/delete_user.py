"""`manage.py delete_user U --yes`: removes a person with every row and every object."""

import asyncio
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from coaching.files.errors import ObjectsNotErased
from coaching.management.people import user_named
from coaching.personal_data.ownership import owned_models
from coaching.personal_data.removal import remove_person


class Command(BaseCommand):
    help = "Permanently remove a person and all their data. Can be repeated after an interruption."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", metavar="U", help="a username, an email address or a user id")
        parser.add_argument("--yes", action="store_true", help="confirm; without it, only count the rows")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = user_named(options["user"])
        name = user.get_username()
        if not options["yes"]:
            for owned in owned_models():
                if count := owned.rows_of(user.pk).count():
                    self.stdout.write(f"{count:>9,}  {owned.model._meta.verbose_name_plural}")
            raise CommandError(f"Nothing was removed. Add --yes to remove {name} and all of this for good.")
        try:
            report = asyncio.run(remove_person(user.pk))
        except ObjectsNotErased as error:
            raise CommandError(
                f"{name} is locked out, but the file storage doesn't delete everything. Run it again later."
            ) from error
        self.stdout.write(
            f"{name} is gone: {sum(report.rows.values()):,} rows and {report.objects:,} stored objects."
        )
