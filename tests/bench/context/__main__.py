"""Runs the measurement on a temporary PostgreSQL."""

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
    """Measure, print the table, and return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="tests.bench.context", description=__doc__)
    parser.add_argument("--builds", type=int, default=200, help="builds a row (200)")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sage-bench-"))
    server = EmbeddedPostgres.of(folder, is_lasting=False)
    os.environ.update(dict.fromkeys(variable_names(), ""))
    os.environ["SAGE_DATA_DIR"] = str(folder / "data")
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    server.join()
    try:
        os.environ["DATABASE_URL"] = server.url
        django.setup()
        call_command("migrate", verbosity=0)
        # Its models can only be imported now.
        is_met: bool = importlib.import_module("tests.bench.context.measure").run(builds=arguments.builds)
        return 0 if is_met else 1
    finally:
        server.leave()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
