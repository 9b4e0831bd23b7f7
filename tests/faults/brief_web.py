"""A web process that drains for 3 s instead of 10: `python -m tests.faults.brief_web web --port 0`.

The short form of R13 waits for the whole drain, because some turns can't end. The long form measures the real
time.
"""

import sys

from django.core.management import execute_from_command_line

from sage import launcher

if __name__ == "__main__":
    launcher.DRAIN_SECONDS = 3.0
    execute_from_command_line(sys.argv)
