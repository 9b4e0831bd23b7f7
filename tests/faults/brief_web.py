"""A web process that drains for 3 s instead of 10: `python -m tests.faults.brief_web web --port 0`.

The short form of R13 waits for the whole drain, because some turns can't end. The long form measures the real
time.

It also waits in the middle of statements that are sent together, while the file SAGE_FAULT_HOLD exists: the
database has run them, and expects more. R8 freezes it there.
"""

import os
import sys
import time
from pathlib import Path
from unittest.mock import patch

from django.core.management import execute_from_command_line
from psycopg import Pipeline

from sage import launcher


def sync_later(pipeline: Pipeline) -> None:
    """End a pipeline's statements once the file is gone."""
    while HOLD.exists():
        time.sleep(0.01)
    sync(pipeline)


if __name__ == "__main__":
    launcher.DRAIN_SECONDS = 3.0
    HOLD, sync = Path(os.environ["SAGE_FAULT_HOLD"]), Pipeline.sync
    with patch.object(Pipeline, "sync", sync_later):
        execute_from_command_line(sys.argv)
