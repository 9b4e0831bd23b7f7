"""A web process whose circuit breaker never opens: `python -m tests.faults.unbroken_web web --port 0`.

R4 sends hundreds of faults through one process, and each must reach its turn. R5 tests the breaker.
"""

import sys

from django.core.management import execute_from_command_line

from coaching.engine import breaker

if __name__ == "__main__":
    breaker.FAILURES_TO_OPEN = sys.maxsize
    execute_from_command_line(sys.argv)
