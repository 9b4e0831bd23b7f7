"""A web process with a pool of a few connections: `tests/small_pool_web.py 2 --port 0`.

Operators can't set the pool's size; tests show how few connections are enough.
"""

import os
import sys

import django
from django.conf import settings
from django.core.management import execute_from_command_line


def main(size: str, *arguments: str) -> None:
    """Serve with at most `size` connections in the pool."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sage.settings")
    django.setup()
    settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"] = int(size)
    execute_from_command_line(["manage.py", "web", *arguments])


if __name__ == "__main__":
    main(*sys.argv[1:])
