"""One background worker for production; any number may run."""

import asyncio
import signal
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from coaching.jobs.worker import JobWorker
from coaching.model_client.servers import model_server
from sage.env import StartError
from sage.garbage import collect_as_usual
from sage.restored_secret import finish_restore
from sage.schema import check_migrations, newer_database_warning
from sage.startup import check_model_server, check_services, environment_warnings
from sage.telemetry import start_telemetry
from sage.web_process import DEFAULT_HOST
from sage.worker_metrics import PATH, served_metrics


class Command(BaseCommand):
    help = "Work on background jobs until SIGTERM or Ctrl-C. The database must have been migrated."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--metrics-port",
            type=int,
            metavar="PORT",
            help="answer /metrics on this port, with the token in SAGE_METRICS_TOKEN (0: a free one)",
        )
        parser.add_argument(
            "--metrics-host", default=DEFAULT_HOST, metavar="HOST", help=f"default: {DEFAULT_HOST}"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        for sentence in environment_warnings():
            self.stderr.write(sentence)
        check_model_server()
        check_services()
        finish_restore()
        check_migrations()
        if warning := newer_database_warning():
            self.stderr.write(warning)
        start_telemetry(self.stderr.write)
        model_server()  # the jobs' time depends on it
        with self._metrics(options["metrics_host"], options["metrics_port"]):
            asyncio.run(self._work())
        self.stdout.write("The worker has stopped.")

    @contextmanager
    def _metrics(self, host: str, port: int | None) -> Iterator[None]:
        if port is None:
            yield
            return
        if not settings.SAGE_METRICS_TOKEN:
            raise StartError("--metrics-port needs SAGE_METRICS_TOKEN.")
        with served_metrics(host=host, port=port) as open_port:
            self.stdout.write(f"Metrics at http://{host}:{open_port}{PATH}")
            yield

    async def _work(self) -> None:
        ending = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, ending.set)
        async with JobWorker():
            collect_as_usual()
            self.stdout.write("The worker waits for jobs.")
            self.stdout.flush()
            await ending.wait()
