"""A web process whose wall clock is an hour off: the first is slow, the second fast.

`python -m tests.faults.shifted_web web --port 0`: SAGE_FAULT_PLACE is its number. Leases use the monotonic
clock and the database's, so take-over must be neither too early nor too late.
"""

import os
import sys
from datetime import UTC, datetime, timedelta

import time_machine
from django.core.management import execute_from_command_line

HOURS = (-1, 1)

if __name__ == "__main__":
    shift = timedelta(hours=HOURS[int(os.environ["SAGE_FAULT_PLACE"]) % len(HOURS)])
    with time_machine.travel(datetime.now(UTC) + shift, tick=True):
        execute_from_command_line(sys.argv)
