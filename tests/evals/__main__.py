"""Plays the situations on a temporary PostgreSQL. `docs/evals/README.md` says how to read what comes of it.

The model is the one that the environment and `.env` name, as for Sage: ANTHROPIC_API_KEY for Claude,
ANTHROPIC_BASE_URL for any other server, neither for the practice model. Nothing else of them is used.
"""

import argparse
import importlib
import os
import re
import shutil
import tempfile
from pathlib import Path

import django
from django.core.management import call_command

from sage.embedded_postgres import EmbeddedPostgres
from sage.env import variable_names

KEPT = re.compile(
    r"ANTHROPIC_\w+|SAGE_(?:MODEL|SAFETY_MODEL|BRIEF_MODEL|CONTEXT_TOKENS|TURN_SECONDS|MAX_TOKENS|MAX_ROUNDS)"
)
"""The variables that decide which model answers, and how."""


def main() -> None:
    """Read the command line, start a database, and run."""
    parser = _parser()
    options = parser.parse_args()
    if options.write and options.names:
        parser.error("--write stores a run of all situations: name none")
    folder = Path(tempfile.mkdtemp(prefix="sage-evals-"))
    server = EmbeddedPostgres.of(folder, is_lasting=False)
    os.environ.update(dict.fromkeys((name for name in variable_names() if not KEPT.fullmatch(name)), ""))
    os.environ["SAGE_DATA_DIR"] = str(folder / "data")
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.evals.settings"
    if options.model:
        os.environ["SAGE_MODEL"] = options.model
    server.join()
    try:
        os.environ["DATABASE_URL"] = server.url
        django.setup()
        call_command("migrate", verbosity=0)
        call_command("sync_skills", verbosity=0)
        # Models can be imported now, not before.
        running = importlib.import_module("tests.evals.running")
        running.run(
            running.Options(
                names=options.names,
                judge=options.judge,
                at_once=options.at_once,
                transcripts=options.transcripts,
                is_written=options.write,
            )
        )
    finally:
        server.leave()
        shutil.rmtree(folder, ignore_errors=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.evals", description=__doc__)
    parser.add_argument("names", nargs="*", help="situations or groups; without: all")
    parser.add_argument("--model", metavar="M", help="instead of SAGE_MODEL")
    parser.add_argument("--judge", metavar="M", default="", help="a model that judges by the rubric, twice")
    parser.add_argument("--at-once", type=int, default=4, metavar="N", help="processes (4)")
    parser.add_argument("--transcripts", type=Path, metavar="FOLDER", help="keep what was said")
    parser.add_argument("--write", action="store_true", help="put the results into docs/evals; only for all")
    return parser


if __name__ == "__main__":
    main()
