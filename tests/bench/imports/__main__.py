"""How long an import of years of conversations takes, in how much memory, and what a kill leaves of it.

Then the replies' old blocks are rewritten, and every request that these conversations can lead to is passed
through the practice model's strict checks: the next message's as it would be sent, and that of each message
so far with the window that its turn would have had.

    uv run python -m tests.bench.imports [--sessions 2000] [--messages 60000] [--kills 10] [--megabytes 0]

Brings its own PostgreSQL. Each import runs in a process of its own.
"""

import argparse
import importlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

import django
from django.core.management import call_command

from sage.embedded_postgres import EmbeddedPostgres
from sage.env import variable_names


def main() -> int:
    """Measure and print; return 1 if an import that was killed leaves other rows."""
    parser = argparse.ArgumentParser(prog="tests.bench.imports", description=__doc__)
    parser.add_argument("--sessions", type=int, default=2_000)
    parser.add_argument("--messages", type=int, default=60_000)
    parser.add_argument("--kills", type=int, default=10, help="at how many points it is killed (10)")
    parser.add_argument("--megabytes", type=int, default=0, help="also read a file of that size (0)")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sage-bench-"))
    server = EmbeddedPostgres.of(folder, is_lasting=False)
    os.environ.update(dict.fromkeys(variable_names(), ""))
    os.environ |= {"SAGE_DATA_DIR": str(folder / "data"), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    server.join()
    try:
        os.environ["DATABASE_URL"] = server.url
        django.setup()
        call_command("migrate", verbosity=0)
        # Its models can only be imported now.
        measure = importlib.import_module("tests.bench.imports.measure")
        is_met: bool = measure.run(folder, **vars(chosen))
        return 0 if is_met else 1
    finally:
        server.leave()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
