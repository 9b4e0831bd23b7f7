"""Prints how many documents workers read, how soon one of a conversation is, and what models are sent for it.

  python -m tests.bench.library

It brings its own PostgreSQL. The model answers after two seconds and runs in this process; workers are
processes of their own. A worker makes two calls at once, each with up to eight documents.
"""

import argparse
import asyncio
import os
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import django
from django.core.management import call_command

from sage.embedded_postgres import EmbeddedPostgres
from sage.env import variable_names
from tests.printing import say


def main() -> int:
    """Run the measurements and print their rows."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.library", description=__doc__)
    parser.add_argument("--documents", type=int, default=320)
    parser.add_argument("--seconds", type=float, default=2.0, help="how long an answer takes (default: 2)")
    parser.add_argument("rows", nargs="*", default=["one", "two", "mix", "chat", "cost"])
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sage-library-"))
    os.environ.update(dict.fromkeys(variable_names(), ""))
    os.environ["SAGE_DATA_DIR"] = str(folder / "data")
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    server = EmbeddedPostgres.of(folder)
    server.join()
    try:
        os.environ["DATABASE_URL"] = server.url
        django.setup()
        call_command("migrate", verbosity=0)
        measure = import_module("tests.bench.library.measure")  # needs Django's models
        say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        for row in asyncio.run(measure.run(chosen.rows, documents=chosen.documents, seconds=chosen.seconds)):
            say(row)
        if "cost" in chosen.rows:
            for row in asyncio.run(import_module("tests.bench.library.cost").run()):
                say(row)
        return 0
    finally:
        server.leave()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
