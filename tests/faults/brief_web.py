"""A web process that drains for three seconds and not ten: `python -m tests.faults.brief_web web --port 0`.

The short form of R13 waits for the whole of it, since some turns can't end. How long it really is the long
form measures.
"""

import sys

from django.core.management import execute_from_command_line

from sage import launcher

if __name__ == "__main__":
    launcher.DRAIN_SECONDS = 3.0
    execute_from_command_line(sys.argv)
