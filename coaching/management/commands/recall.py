"""`manage.py recall "QUERY" --user U`: the search over a person's history, from the shell."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from coaching.management.people import user_named
from coaching.recall.encoder import configured_encoder
from coaching.recall.hits import Passage
from coaching.recall.passages import read_passages
from coaching.recall.search import DEFAULT_LIMIT, MAX_LIMIT, search

LOAD_SECONDS = 120.0
"""How long to wait for the model before words alone decide."""


class Command(BaseCommand):
    help = "Search a person's messages, tool calls, summaries, briefs and files. The best hits come first."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("query", nargs="?", help="a question in everyday words; empty: the newest")
        parser.add_argument("--user", metavar="U", help="a username, an address, or a number")
        parser.add_argument("--limit", type=int, default=DEFAULT_LIMIT, help=f"at most {MAX_LIMIT} hits")
        parser.add_argument("--json", action="store_true", help="print one JSON list")
        parser.add_argument(
            "--stdin",
            action="store_true",
            help='answer lines {"user","query","limit"} with one JSON list each',
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if encoder := configured_encoder():
            encoder.wait_until_loaded(seconds=LOAD_SECONDS)
        if options["stdin"]:
            self._answer_lines()
            return
        if options["query"] is None or options["user"] is None:
            raise CommandError("Give a query and --user, or --stdin.")
        if options["limit"] < 1:
            raise CommandError("--limit is 1 or more.")
        user_id = user_named(options["user"]).pk
        found = _found(options["query"], user_id=user_id, limit=options["limit"])
        if options["json"]:
            self.stdout.write(_as_json(found))
            return
        for passage in found:
            hit = passage.hit
            where = f"{passage.title or hit.session_id or ''} {hit.number or ''}".strip()
            self.stdout.write(f"{hit.score:6.2f}  {hit.moment:%Y-%m-%d}  {hit.source}  {where}")
            self.stdout.write(f"        {' '.join(passage.text.split())[:200]}")

    def _answer_lines(self) -> None:
        """Answer each line before the next is read; a bad one gets an empty list, and stderr the reason."""
        user_id_of = cache(lambda name: user_named(name).pk)
        for number, line in enumerate(sys.stdin.buffer, 1):
            if not line.strip():
                continue
            try:
                asked = _read_line(line)
                found = _found(asked.query, user_id=user_id_of(asked.user), limit=asked.limit)
            except CommandError as error:
                self.stderr.write(f"Line {number}: {error}")
                self.stderr.flush()
                found = ()
            self.stdout.write(_as_json(found))
            self.stdout.flush()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """A line's request."""

    user: str
    query: str
    limit: int


def _read_line(line: bytes) -> _Asked:
    """Read a line's request. Raises `CommandError` if it is none.

    The decoder of pydantic would refuse a query with half a surrogate pair, which the search takes.
    """
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CommandError("this isn't JSON.") from error
    if not isinstance(values, dict):
        raise CommandError("this isn't an object.")
    user, query, limit = values.get("user"), values.get("query"), values.get("limit")
    if not isinstance(user, str | int) or not isinstance(query, str):
        raise CommandError("an object has a user and a query.")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise CommandError("a limit is a whole number, 1 or more.")
    return _Asked(user=str(user), query=query, limit=DEFAULT_LIMIT if limit is None else limit)


def _found(query: str, *, user_id: int, limit: int) -> Sequence[Passage]:
    hits = search(query, user_id=user_id, now=timezone.now(), limit=limit)
    return read_passages(hits, user_id=user_id)


def _as_json(found: Sequence[Passage]) -> str:
    return json.dumps([_values(passage) for passage in found])


def _values(passage: Passage) -> Mapping[str, Any]:
    hit = passage.hit
    return {
        "source": hit.source,
        "session": hit.session_id and str(hit.session_id),
        "message": hit.number or None,
        "importedId": passage.imported_id,
        "date": hit.moment.isoformat(),
        "score": round(hit.score, 4),
        "passage": passage.text,
    }
