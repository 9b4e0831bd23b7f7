"""`manage.py import_legacy FILE --user U`: conversations, files and ratings from another program's export."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from coaching.legacy.costs import enqueue_briefs, estimate_cost
from coaching.legacy.importers.formats import find_adapter
from coaching.legacy.importers.source import Source, open_source
from coaching.legacy.importers.things import Adapter, NotImportable
from coaching.legacy.imports import dry_run_steps, run_steps, take_up
from coaching.legacy.one_at_a_time import only_import_of
from coaching.legacy.tally import Tally
from coaching.management.people import user_named
from coaching.management.progress import ProgressBar
from coaching.models import Import, ImportFormat
from sessions_app.database import no_time_limits
from sessions_app.errors import Refused
from sessions_app.money import dollars

SKIPPED = "skipped, because they exist already or are empty"


class Command(BaseCommand):
    help = (
        "Import an export of the earlier app, of ChatGPT or of Claude: JSON, or the ZIP as it was downloaded."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="a JSON file or a ZIP")
        parser.add_argument(
            "--user", required=True, metavar="U", help="a username, an email address or an id"
        )
        parser.add_argument("--format", choices=ImportFormat.values, help="found out unless it is given")
        parser.add_argument(
            "--briefs", action="store_true", help="also queue the briefs of the conversations, which cost"
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would be imported")
        parser.add_argument("--json", action="store_true", help="end with one JSON object of counts")

    def handle(self, *_args: Any, **options: Any) -> None:
        user_id = user_named(options["user"]).pk
        tally = Tally()
        try:
            with ExitStack() as held:
                source = open_source(held.enter_context(options["file"].open("rb")))
                wanted = ImportFormat(options["format"]) if options["format"] else None
                adapter = find_adapter(source, wanted)
                row = self._import(user_id, source, adapter, tally, options)
        except OSError as error:
            raise CommandError(f"{options['file']} can't be read ({error.strerror}).") from error
        except (NotImportable, Refused) as refusal:
            raise CommandError(str(refusal)) from refusal
        self._report(tally, options)
        if options["briefs"]:
            self._queue_briefs(row, tally)
        if options["json"]:
            self.stdout.write(json.dumps(tally.counts()))

    def _import(
        self, user_id: int, source: Source, adapter: Adapter, tally: Tally, options: dict[str, Any]
    ) -> Import | None:
        if options["dry_run"]:
            self._run(dry_run_steps(user_id=user_id, source=source, adapter=adapter, tally=tally), tally)
            return None
        with only_import_of(user_id):
            row = take_up(user_id=user_id, name=options["file"].name, source=source, adapter=adapter)
            with no_time_limits():
                self._run(run_steps(row, source, adapter, tally), tally)
        return row

    def _run(self, steps: Iterator[None], tally: Tally) -> None:
        with ProgressBar(sys.stderr, noun="conversations") as bar:
            for _ in steps:
                bar.show(tally.done, tally.total)

    def _report(self, tally: Tally, options: dict[str, Any]) -> None:
        for problem in tally.problems:
            self.stderr.write(f"{problem.where}: {problem.text}")
        if (more := tally.problem_count - len(tally.problems)) > 0:
            self.stderr.write(f"and {more:,} more")
        if options["json"]:
            return
        verb = "would be imported" if options["dry_run"] else "imported"
        self.stdout.write(
            f"{tally.sessions:,} new and {tally.continued:,} continued conversations with {tally.messages:,} "
            f"messages, {tally.files:,} files and {tally.ratings:,} ratings {verb}; "
            f"{tally.skipped:,} {SKIPPED}; {tally.unread:,} couldn't be read."
        )

    def _queue_briefs(self, row: Import | None, tally: Tally) -> None:
        """Say what the briefs will cost, then queue them."""
        cost = dollars(estimate_cost(tokens=tally.brief_tokens, sessions=tally.sessions))
        self.stderr.write(f"Briefs of {tally.sessions:,} conversations will cost about {cost}.")
        if row is not None:
            self.stderr.write(f"{enqueue_briefs(row):,} briefs are queued, behind all other jobs.")
