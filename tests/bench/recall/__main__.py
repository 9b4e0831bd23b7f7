"""Recall's quality on labelled conversations and its speed at scale, in a PostgreSQL of its own.

`uv run python -m tests.bench.recall PATH` reads the file of LoCoMo (each turn is a message, questions as they
were asked, adversarial ones left out), and without a path the questions about a coach's conversations; with
`--scale MESSAGES` it measures speed, size and inserts instead.
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

RECALL_BAR, RANK_BAR = 0.69, 0.54
MEANING_RECALL_BAR, MEANING_RANK_BAR = 0.77, 0.57


def main() -> int:
    """Measure, print what was measured, and return 1 where a bar isn't met."""
    parser = argparse.ArgumentParser(prog="tests.bench.recall", description=__doc__)
    parser.add_argument(
        "path", type=Path, nargs="?", help="LoCoMo's conversations, as JSON; without, a coach's"
    )
    parser.add_argument("--anonymous", action="store_true", help="Sage doesn't know what the user is called")
    parser.add_argument(
        "--misses", action="store_true", help="print the questions with evidence that wasn't found"
    )
    parser.add_argument("--model", default="", help="go by meaning, too: a name or a path of a model")
    parser.add_argument("--scale", type=int, default=0, metavar="MESSAGES", help="measure speed (1000000)")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sage-bench-"))
    server = EmbeddedPostgres.of(folder, is_lasting=False)
    os.environ.update(dict.fromkeys(variable_names(), ""))
    os.environ["SAGE_DATA_DIR"] = str(folder / "data")
    os.environ["SAGE_EMBEDDING_MODEL"] = arguments.model
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    server.join()
    try:
        os.environ["DATABASE_URL"] = server.url
        django.setup()
        call_command("migrate", verbosity=0)
        # Their models can only be imported now.
        if arguments.scale:
            scale = importlib.import_module("tests.bench.recall.scale")
            return 0 if scale.run(arguments.path, messages=arguments.scale) else 1
        quality = importlib.import_module("tests.bench.recall.quality")
        if arguments.path is None:
            coach_set = importlib.import_module("tests.bench.recall.coach_set")
            figures = quality.ask(coach_set.load_coach_set(), now=coach_set.ASKED_AT)
        else:
            seed = importlib.import_module("tests.bench.recall.seed")
            asked = seed.load_conversations(arguments.path, is_named=not arguments.anonymous)
            figures = quality.ask(asked, now=seed.ASKED_AT)
        quality.show(figures, shows_misses=arguments.misses)
        recall, rank = (MEANING_RECALL_BAR, MEANING_RANK_BAR) if arguments.model else (RECALL_BAR, RANK_BAR)
        return 0 if figures.at_10 >= recall and figures.rank >= rank else 1
    finally:
        server.leave()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
