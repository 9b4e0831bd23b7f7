"""A web process whose clock a test sets: `manage.py web` with the time from a named pipe.

Reads one moment per line (ISO 8601 with offset), continues from there, and confirms with the same line. Only
wall clocks change: waits, leases and the event loop use the monotonic clock.
"""

import os
import sys
import threading
from datetime import datetime
from pathlib import Path

import time_machine
from django.core.management import execute_from_command_line


def main(start: str, pipe: str, *arguments: str) -> None:
    """Serve from the moment `start` on, until the process ends."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sage.settings")
    clock = time_machine.travel(datetime.fromisoformat(start), tick=True).start()
    threading.Thread(target=_obey, args=(clock, Path(pipe)), daemon=True).start()
    execute_from_command_line(["manage.py", "web", *arguments])


def _obey(clock: time_machine.Traveller, pipe: Path) -> None:
    while True:
        # Opening blocks until a writer opens the pipe, and reading ends when it closes.
        told = pipe.read_text().strip()
        clock.move_to(datetime.fromisoformat(told))
        sys.stdout.write(f"It is {told}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
