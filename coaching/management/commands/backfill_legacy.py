"""`manage.py backfill_legacy`: old blocks in stored replies become calls."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from coaching.legacy.backfill import BATCH, backfill_steps
from coaching.legacy.tally import Tally
from coaching.management.people import user_named
from coaching.management.progress import ProgressBar

MAX_BATCH = 10_000


class Command(BaseCommand):
    help = (
        "Rewrite the text blocks in replies of the earlier app into calls of today's tools. Writes no file."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say what would be rewritten")
        parser.add_argument("--batch-size", type=int, default=BATCH, metavar="N", help="messages at a time")
        parser.add_argument(
            "--user", metavar="U", help="a username, an email address or an id; else everybody"
        )
        parser.add_argument("--json", action="store_true", help="end with one JSON object of counts")

    def handle(self, *_args: Any, **options: Any) -> None:
        if not 1 <= options["batch_size"] <= MAX_BATCH:
            raise CommandError(f"A batch has 1 to {MAX_BATCH:,} messages.")
        user_id = user_named(options["user"]).pk if options["user"] else None
        tally = Tally()
        steps = backfill_steps(
            tally, user_id=user_id, batch_size=options["batch_size"], is_dry_run=options["dry_run"]
        )
        with ProgressBar(sys.stderr, noun="message ids") as bar:
            for _ in steps:
                bar.show(tally.done, tally.total)
        for problem in tally.problems:
            self.stderr.write(f"{problem.where}: {problem.text}")
        if (more := tally.problem_count - len(tally.problems)) > 0:
            self.stderr.write(f"and {more:,} more")
        if options["json"]:
            self.stdout.write(json.dumps(tally.counts()))
            return
        verb = "would be rewritten" if options["dry_run"] else "rewritten"
        self.stdout.write(
            f"{tally.messages:,} replies in {tally.sessions:,} conversations {verb}; {tally.skipped:,} in "
            f"use and skipped; {tally.unread:,} blocks couldn't be read, so their words stay in the text."
        )
