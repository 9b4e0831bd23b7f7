"""The long forms of the reliability goals, with real processes that are killed, frozen and cut off.

  python -m tests.faults                          every row, each with its own number of points
  python -m tests.faults R8 R12 --seed 7          these faults, with every row of theirs
  python -m tests.faults R12-twin --points 24     one row, shorter
  python -m tests.faults --list                   the rows

Prints the seed of every run and a table at the end; the exit code is 1 when there was a violation. It brings
its own PostgreSQL in a temporary folder, and a Redis for rows with two processes (`redis-server`).
"""

import argparse
import asyncio
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import django
from django.core.management import call_command

from sage.embedded_postgres import EmbeddedPostgres
from sage.env import variable_names
from tests.printing import say

HEAD = "| fault | seed | points | violations | worst s | what happened |\n|---|---|---|---|---|---|"


def main(arguments: Sequence[str]) -> int:
    """Run the long forms and print their table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("faults", nargs="*", metavar="ROW", help="faults or single rows (default: all)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    parser.add_argument("--points", type=int, help="how many points each (default: each one's own)")
    parser.add_argument("--patience", type=float, default=1.0, help="stretches time limits (default: 1)")
    parser.add_argument("--list", action="store_true", help="print the rows and their points, run nothing")
    chosen = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="sage-long-"))
    os.environ.update(dict.fromkeys(variable_names(), ""))
    os.environ["SAGE_DATA_DIR"] = str(folder / "data")
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    # Commits must survive the server's end (R2), but not the machine's.
    options = ("max_connections=300", "fsync=off", "full_page_writes=off")
    server = EmbeddedPostgres.of(folder, options=options)
    server.join()
    try:
        os.environ["DATABASE_URL"] = server.url
        django.setup()
        if chosen.list:
            return _tell_rows()
        call_command("migrate", verbosity=0)
        return _run_all(chosen, folder, server)
    finally:
        server.leave()
        shutil.rmtree(folder, ignore_errors=True)


def _tell_rows() -> int:
    for form in import_module("tests.faults.long_forms").FORMS:
        processes = "process" if form.processes == 1 else "processes and Redis"
        say(f"{form.name:12} {form.points:5} points, {form.processes} web {processes}")
    return 0


def _run_all(chosen: argparse.Namespace, folder: Path, server: EmbeddedPostgres) -> int:
    # Imported late, because it needs Django's models.
    long_forms = import_module("tests.faults.long_forms")
    known = {form.name.upper(): form for form in long_forms.FORMS}
    wanted = [name.upper() for name in chosen.faults] or list(known)
    rows = []
    has_violations = False
    for name in wanted:
        forms = [form for key, form in known.items() if key == name or key.split("-")[0] == name]
        if not forms:
            say(f"there is no {name}: the faults are {', '.join(known)}")
            return 2
        for form in forms:
            say(f"{form.name} seed {chosen.seed} …")
            began = time.monotonic()
            report = asyncio.run(long_forms.run(form, chosen, folder, server))
            for violation in report.violations:
                say(f"  {form.name}: {violation}")
            report.fault = form.name
            has_violations = has_violations or bool(report.violations)
            rows.append(report.row())
            say(f"{rows[-1]}  ({time.monotonic() - began:.0f} s)")
    say(HEAD)
    for row in rows:
        say(row)
    return int(has_violations)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
