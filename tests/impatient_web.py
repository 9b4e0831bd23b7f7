"""A web process with a short time limit for requests: `tests/impatient_web.py 1.5 --port 0`.

Operators can't set it; tests show what a slow line may take without waiting for half a minute.
"""

import os
import sys

from django.core.management import execute_from_command_line

from sage.http_limits import HttpLimits


def main(seconds: str, *arguments: str) -> None:
    """Serve with at most `seconds` for a request; an upload gets more for its data."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sage.settings")
    defaults = HttpLimits.__init__.__kwdefaults__
    assert defaults is not None
    defaults["request_seconds"] = float(seconds)
    execute_from_command_line(["manage.py", "web", *arguments])


if __name__ == "__main__":
    main(*sys.argv[1:])
