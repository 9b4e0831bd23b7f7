"""A worker that takes a silent one for dead after two seconds: `python -m tests.faults.hasty_worker worker`.

R15 kills a worker at each of its points and can't wait longer for each. The breaker never opens: R5 tests it.
"""

import sys
from importlib import import_module

import django
from django.core.management import execute_from_command_line

from coaching.engine import breaker

if __name__ == "__main__":
    breaker.FAILURES_TO_OPEN = sys.maxsize
    django.setup()
    worker = import_module("coaching.jobs.worker")  # needs Django's models
    vars(worker).update(BEAT_SECONDS=0.2, SILENT_SECONDS=2.0)
    execute_from_command_line(sys.argv)
