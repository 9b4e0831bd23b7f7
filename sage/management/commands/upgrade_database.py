"""Takes the embedded database over to this version's PostgreSQL, while Sage doesn't run."""

import time
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from coaching.files.former_clusters import BACKUP_START, KEPT, remove_former_clusters, version_of
from sage.backups.databases import on_running_server
from sage.backups.errors import BackupError
from sage.backups.stopping import ended_by_sigterm
from sage.backups.taking import back_up_rows
from sage.cluster_upgrade import ClusterUpgrade
from sage.embedded_postgres import EmbeddedPostgres
from sage.env import StartError
from sage.postgres_programs import FORMER_VERSION, POSTGRES_VERSION


class Command(BaseCommand):
    help = (
        f"Upgrade the embedded database from PostgreSQL {FORMER_VERSION} to {POSTGRES_VERSION}, after a "
        "backup of its rows. Sage must be stopped."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--forget",
            action="store_true",
            help="delete the former database and its backup, which otherwise stay for a week",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.IS_EMBEDDED_DATABASE:
            raise CommandError(
                "DATABASE_URL is set, so Sage doesn't use the embedded database: upgrade your own server by "
                "its own means."
            )
        server = EmbeddedPostgres.of(settings.SAGE_DATA_DIR)
        try:
            if options["forget"]:
                self._forget(server)
            else:
                self._upgrade(server)
        except (StartError, BackupError, OSError) as error:
            raise CommandError(str(error)[:1].upper() + str(error)[1:]) from None

    def _upgrade(self, server: EmbeddedPostgres) -> None:
        began = time.monotonic()
        upgrade = ClusterUpgrade(
            data_dir=settings.SAGE_DATA_DIR, password=server.password, back_up=self._back_up, say=self._say
        )
        with ended_by_sigterm():
            rows = upgrade.run()
        if rows is not None:
            self._say(
                f"Upgraded to PostgreSQL {POSTGRES_VERSION} in {time.monotonic() - began:.1f} s: "
                f"{sum(rows.values()):,} rows in {len(rows):,} tables, as before."
            )
        else:
            self._say("Finished an upgrade that had been interrupted.")
        self._say(
            f"The former database stays for {KEPT.days} days, in {upgrade.folders.former}, and so does its "
            "backup. Once you have seen that Sage works, delete both: manage.py upgrade_database --forget"
        )

    def _back_up(self) -> None:
        folder = settings.SAGE_BACKUP_DIR or settings.SAGE_DATA_DIR / "backups"
        name = f"{BACKUP_START}{POSTGRES_VERSION}.tar{'.enc' if settings.SAGE_BACKUP_KEY else ''}"
        with on_running_server():
            taken = back_up_rows(folder / name)
        self._say(f"  {taken.path}: {taken.size:,} bytes")

    def _forget(self, server: EmbeddedPostgres) -> None:
        with server.not_upgrading():
            if version_of(server.folder) != POSTGRES_VERSION:
                raise StartError(
                    f"{server.folder} isn't of PostgreSQL {POSTGRES_VERSION}, so what is beside it may be "
                    "needed: nothing was deleted."
                )
            count = remove_former_clusters(now=timezone.now(), kept=timedelta(0))
        self._say("Deleted what the upgrade had left." if count else "There is nothing to delete.")

    def _say(self, sentence: str) -> None:
        self.stdout.write(sentence)
        self.stdout.flush()
