"""One worker for production: it does the background jobs; any number may run."""

import asyncio
import signal
from typing import Any

from django.core.management.base import BaseCommand

from coaching.worker import JobWorker
from sage.startup import check_migrations, check_services


class Command(BaseCommand):
    help = "Work on background jobs until SIGTERM or Ctrl-C. The database must have been migrated."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        check_services()
        check_migrations()
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
