"""What an import has done so far, as numbers and as the problems that its person is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext_noop

from coaching.legacy.importers.about import MAX_NOTES, FoundNote
from coaching.legacy.importers.left import LeftBehind, Leftovers, MoreLeftBehind
from coaching.legacy.importers.things import (
    MAX_NAMES,
    MAX_PROBLEMS,
    MoreProblems,
    Problem,
    Thing,
    UnknownFields,
)
from coaching.models import Import
from coaching.safety.card import danger_in
from sessions_app.text import mended_json

UNKNOWN_FIELD = gettext_noop("Sage doesn’t know this field, so it was skipped.")

WITHHELD = "…"
"""Stands for a name that speaks of danger, as titles do that are withheld in lists."""


@dataclass(slots=True, kw_only=True)
class Tally:
    """Numbers of what was made, of what exists already (`skipped`), and of what couldn't be read.

    `continued` are earlier imports' sessions that got newer messages, `completed` messages of earlier imports
    that got what had been left out. `branches` are other branches of sessions, `answers` others to messages,
    and `documents` are in the library; `documents_held` are those that an earlier import has brought.
    """

    sessions: int = 0
    branches: int = 0
    continued: int = 0
    messages: int = 0
    completed: int = 0
    answers: int = 0
    documents: int = 0
    files: int = 0
    ratings: int = 0
    skipped: int = 0
    unread: int = 0
    done: int = 0
    total: int = 0
    brief_tokens: int = 0
    problem_count: int = 0
    problems: list[Problem] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    notes: list[FoundNote] = field(default_factory=list)
    documents_held: set[int] = field(default_factory=set)
    left: Leftovers = field(default_factory=Leftovers)

    def take(self, thing: Thing) -> None:
        """Take in what is shown and not stored."""
        match thing:
            case Problem():
                self.report(thing)
            case MoreProblems():
                self.unread += thing.lost
                self.problem_count += thing.count
            case UnknownFields():
                self._report_unknown(thing.names)
            case FoundNote():
                if len(self.notes) < MAX_NOTES:
                    self.notes.append(thing)
            case LeftBehind():
                self.left.add(_without_danger(thing))
            case MoreLeftBehind():
                self.left.add_more(thing)

    def report(self, problem: Problem) -> None:
        self.unread += problem.is_lost
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)

    def _report_unknown(self, names: frozenset[str]) -> None:
        """Take in names of unknown fields, each once."""
        for name in sorted(names - self.unknown)[: max(0, MAX_NAMES - len(self.unknown))]:
            self.unknown.add(name)
            self.report(Problem(where=name, text=UNKNOWN_FIELD, is_lost=False))
            self.left.add(LeftBehind(kind="field", name=name))

    def counts(self) -> dict[str, int]:
        """Return the numbers of `import_legacy --json`."""
        names = (
            "sessions", "branches", "continued", "messages", "completed", "answers", "documents", "files",
            "ratings", "skipped", "unread",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names}

    def keep_more(self, counts: Mapping[str, int]) -> None:
        """Take over what an earlier run of the import had made, where this one hasn't come as far."""
        for name, count in counts.items():
            if name in self.counts():
                setattr(self, name, max(count, getattr(self, name)))

    def put_into(self, row: Import) -> Sequence[str]:
        """Set an import's fields to the tally; return their names."""
        values: dict[str, Any] = {
            "counts": self.counts(),
            "problems": mended_json([{"where": each.where, "text": each.text} for each in self.problems]),
            "problem_count": self.problem_count,
            "done": self.done,
            "total": self.total,
            "brief_tokens": self.brief_tokens,
            "documents_held": sorted(self.documents_held.union(row.documents_held)),
            "left_behind": mended_json(self.left.by_kind()),
        }
        for name, value in values.items():
            setattr(row, name, value)
        return list(values)


def _without_danger(left: LeftBehind) -> LeftBehind:
    return replace(
        left,
        name=WITHHELD if danger_in(left.name) else left.name,
        where=WITHHELD if danger_in(left.where) else left.where,
    )
