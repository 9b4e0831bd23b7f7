"""One web process whose clock a test moves: `manage.py web` with the time that a named pipe tells.

Reads one moment a line (ISO 8601 with its offset) and goes on from there; says so with the same line. Only
clocks on the wall move: waiting, leases and the event loop count by the monotonic clock, as ever.
"""

import os
import sys
import threading
from datetime import datetime
from pathlib import Path

import time_machine
from django.core.management import execute_from_command_line


def main(start: str, pipe: str, *arguments: str) -> None:
    """Serve from the moment `start` on, until the process is ended."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sage.settings")
    clock = time_machine.travel(datetime.fromisoformat(start), tick=True).start()
    threading.Thread(target=_obey, args=(clock, Path(pipe)), daemon=True).start()
    execute_from_command_line(["manage.py", "web", *arguments])


def _obey(clock: time_machine.Traveller, pipe: Path) -> None:
    while True:
        # Opening waits for whoever tells the time, and reading ends with what they told.
        told = pipe.read_text().strip()
        clock.move_to(datetime.fromisoformat(told))
        sys.stdout.write(f"It is {told}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
