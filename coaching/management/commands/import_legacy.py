"""`manage.py import_legacy FILE --user U`: conversations, files and ratings from another program's export."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from coaching.legacy.costs import enqueue_briefs, estimate_cost
from coaching.legacy.importers.left import printable
from coaching.legacy.importers.things import Format, NotImportable
from coaching.legacy.imports import Export, dry_run_steps, run_steps, take_up
from coaching.legacy.one_at_a_time import only_import_of
from coaching.legacy.reading import Checked, check_steps
from coaching.legacy.tally import Tally
from coaching.legacy.unread import read_documents_of
from coaching.legacy.watching import RowWatch
from coaching.management.people import user_named
from coaching.management.progress import ProgressBar
from coaching.models import Import, ImportFormat
from coaching.sandbox.errors import NotStarted
from sessions_app.errors import Refused
from sessions_app.money import dollars

NOT_READ = (
    "A worker makes the documents searchable. Sage reads them once their person lets it, on the page of "
    "imports, or with --read."
)
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
        parser.add_argument(
            "--read",
            action="store_true",
            help="also queue the reading of the documents, which costs and counts towards the daily budget",
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would be imported")
        parser.add_argument("--json", action="store_true", help="end with one JSON object of counts")

    def handle(self, *_args: Any, **options: Any) -> None:
        user_id = user_named(options["user"]).pk
        tally, path = Tally(), options["file"]
        try:
            with path.open("rb") as file:
                export = Export(file=file, name=path.name, size=path.stat().st_size)
                checked = self._checked(export, options["format"])
                row = self._import(user_id, export, checked, tally, options)
        except OSError as error:
            raise CommandError(f"{path} can't be read ({error.strerror}).") from error
        except NotStarted as error:
            raise CommandError("The process that reads the file can't be started.") from error
        except (NotImportable, Refused) as refusal:
            raise CommandError(printable(str(refusal))) from refusal
        self._report(tally, options)
        if options["briefs"]:
            self._queue_briefs(row, tally)
        if options["read"] and row is not None:
            # An earlier import of the same file may have brought them.
            count = read_documents_of(row, also=row.documents_held)
            self.stderr.write(f"{count:,} documents are queued, and read within the daily budget.")
        if options["json"]:
            self.stdout.write(json.dumps(self._result(tally)))

    def _result(self, tally: Tally) -> dict[str, Any]:
        about = [{"kind": note.kind, "project": note.project} for note in tally.notes]
        problems = [{"where": each.where, "text": each.text} for each in tally.problems]
        return {
            **tally.counts(),
            "about": about,
            "left_behind": tally.left.by_kind(),
            "problems": problems,
            "problem_count": tally.problem_count,
        }

    def _checked(self, export: Export, wanted: Format | None) -> Checked:
        watch = _Checking()
        with ProgressBar(sys.stderr, noun="percent checked") as bar:
            for checked in check_steps(export.file, watch, wanted=wanted):
                bar.show(watch.percent, 100)
                if checked is not None:
                    return checked
        raise AssertionError("a check ends with what it has found")

    def _import(
        self, user_id: int, export: Export, checked: Checked, tally: Tally, options: dict[str, Any]
    ) -> Import | None:
        if options["dry_run"]:
            self._run(dry_run_steps(user_id=user_id, export=export, checked=checked, tally=tally), tally)
            return None
        with only_import_of(user_id):
            row = take_up(user_id=user_id, export=export, checked=checked)
            self._run(run_steps(row, export.file, checked, tally), tally)
        return row

    def _run(self, steps: Iterator[None], tally: Tally) -> None:
        with ProgressBar(sys.stderr, noun="conversations") as bar:
            for _ in steps:
                bar.show(tally.done, tally.total)

    def _report(self, tally: Tally, options: dict[str, Any]) -> None:
        for problem in tally.problems:
            self.stderr.write(printable(f"{problem.where}: {problem.text}"))
        if (more := tally.problem_count - len(tally.problems)) > 0:
            self.stderr.write(f"and {more:,} more")
        for note in tally.notes:
            project = f" of the project “{printable(note.project)}”" if note.project else ""
            self.stderr.write(f"to be read and accepted on the page of imports: {note.kind}{project}")
        for kind, left in tally.left.by_kind().items():
            for each in left["named"]:
                self.stderr.write(f"left behind, {kind}: {_in_words(each)}")
            if (more := left["count"] - sum(each["count"] for each in left["named"])) > 0:
                self.stderr.write(f"left behind, {kind}: and {more:,} more")
        if options["json"]:
            return
        verb = "would be imported" if options["dry_run"] else "imported"
        self.stdout.write(
            f"{tally.sessions:,} new and {tally.continued:,} continued conversations with {tally.messages:,} "
            f"messages, {tally.branches:,} other branches, {tally.answers:,} other answers, "
            f"{tally.completed:,} completed messages, {tally.documents:,} documents, {tally.files:,} files "
            f"and {tally.ratings:,} ratings {verb}; "
            f"{tally.skipped:,} {SKIPPED}; {tally.unread:,} couldn't be read."
        )
        if tally.documents and not options["read"]:
            self.stdout.write(NOT_READ)

    def _queue_briefs(self, row: Import | None, tally: Tally) -> None:
        """Say what the briefs will cost, then queue them."""
        sessions = tally.sessions + tally.branches
        cost = dollars(estimate_cost(tokens=tally.brief_tokens, sessions=sessions))
        self.stderr.write(f"Briefs of {sessions:,} conversations will cost about {cost}.")
        if row is not None:
            self.stderr.write(f"{enqueue_briefs(row):,} briefs are queued, behind all other jobs.")


def _in_words(left: Mapping[str, Any]) -> str:
    times = f" ({left['count']:,} times)" if left["count"] > 1 else ""
    why = f": {left['why']}" if left["why"] else ""
    return f"{left['name']}{times}" + (f", in “{left['where']}”" if left["where"] else "") + why


class _Checking(RowWatch):
    """Watches over a check, before there is a row."""

    def __init__(self) -> None:
        super().__init__(None)
        self.percent = 0

    def has_checked(self, percent: int) -> None:
        self.percent = percent
