"""One background worker for production; any number may run."""

import asyncio
import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from coaching.jobs.worker import JobWorker
from sage.schema import check_migrations
from sage.startup import check_services, readable_env_file
from sage.telemetry import start_telemetry


class Command(BaseCommand):
    help = "Work on background jobs until SIGTERM or Ctrl-C. The database must have been migrated."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        if warning := readable_env_file(settings.BASE_DIR / ".env"):
            self.stderr.write(warning)
        check_services()
        check_migrations()
        start_telemetry(self.stderr.write)
        asyncio.run(self._work())
        self.stdout.write("The worker has stopped.")

    async def _work(self) -> None:
        ending = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, ending.set)
        async with JobWorker():
            self.stdout.write("The worker waits for jobs.")
            self.stdout.flush()
            await ending.wait()
