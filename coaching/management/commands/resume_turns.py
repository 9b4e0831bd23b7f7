"""`manage.py resume_turns`: does once what web processes do all the time.

Turns of dead processes resume here from their last committed round; those that can't are closed as
interrupted. It first watches for some seconds, so that it takes no turn of a living process.
"""

import asyncio
from typing import Any

from django.core.management.base import BaseCommand

from coaching.live.runner import Runner
from coaching.live.upkeep import resume_lost_turns


class Command(BaseCommand):
    help = (
        "Finish the turns that a dead process left running, as a running web process does by itself. "
        "For when none is running; takes some seconds to find out which processes are alive."
    )
    requires_system_checks = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        self.stdout.write(f"Turns resumed and ended: {asyncio.run(self._resume())}.")

    async def _resume(self) -> int:
        runner = Runner()
        try:
            return await resume_lost_turns(runner)
        finally:
            await runner.drain(0)
