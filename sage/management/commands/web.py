"""One web process for production; any number may run with REDIS_URL."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from sage.restored_secret import finish_restore
from sage.schema import check_migrations, newer_database_warning
from sage.startup import check_model_server, check_services, environment_warnings, prepare_static_files
from sage.web_process import add_address_arguments, check_address, serve


class Command(BaseCommand):
    help = "Run one web process. The database must have been migrated."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_address_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        check_address(options["host"], options["port"])
        for sentence in environment_warnings():
            self._warn(sentence)
        check_model_server()
        check_services()
        finish_restore()
        check_migrations()
        if warning := newer_database_warning():
            self._warn(warning)
        prepare_static_files()
        serve(host=options["host"], port=options["port"], on_ready=self._announce, warn=self._warn)

    def _announce(self, url: str) -> None:
        self.stdout.write(f"Sage answers at {url}")
        self.stdout.flush()  # even if the output is a file or a pipe

    def _warn(self, sentence: str) -> None:
        self.stderr.write(sentence)
