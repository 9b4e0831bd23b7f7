#!/usr/bin/env python
"""Django's command-line door. `manage.py up` starts everything."""

import os
import signal
import sys
from types import FrameType

from django.core.management import execute_from_command_line

from sage.env import StartError


def _exit_on_sigterm(_number: int, _frame: FrameType | None) -> None:
    # An orderly exit, so that a command that started the embedded database also stops it.
    sys.exit(128 + signal.SIGTERM)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sage.settings")
    signal.signal(signal.SIGTERM, _exit_on_sigterm)
    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except StartError as error:
        sys.exit(f"Sage can't start: {error}")
