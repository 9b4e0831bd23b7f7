"""`manage.py resume_turns`: what every web process does all the time, once and by hand.

Turns whose process is dead are gone on with, here, from their last committed round; what can't go on is
closed as interrupted. It watches for some seconds first, so that no turn of a living process is taken.
"""

import asyncio
from typing import Any

from django.core.management.base import BaseCommand

from coaching.live.runner import Runner
from coaching.live.upkeep import resume_lost_turns


class Command(BaseCommand):
    help = (
        "Finish the turns that a dead process has left running, as any living web process does by itself. "
        "Useful where none runs; it takes some seconds to see which processes live."
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
