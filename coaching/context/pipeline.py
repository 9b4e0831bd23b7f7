"""The context pipeline: every section of a turn, built from one batch of reads.

A section whose read fails is left out and logged, and the turn goes on: it is unknown then, which is
something else than empty.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import structlog
from django.db import DatabaseError

from coaching.context.entries import Section
from coaching.context.sections import STANDING, TEMPORAL, header, header_digest
from coaching.context.shelf import Shelf
from coaching.skills.facts import life_facts
from coaching.skills.intensity import Words
from coaching.skills.signals import Called, call_skills
from sessions_app.rows import ask_together

logger = structlog.get_logger(__name__)

# What a read can raise, and odd stored data: nothing else may pass for a missing section.
READ_ERRORS = (DatabaseError, ValueError, LookupError, TypeError, AttributeError, OverflowError)

T = TypeVar("T")

NOTHING_CALLED = Called(arc=None, approaches=(), trace=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What holds at one moment. `unknown` names the sections that couldn't be built.

    `header_digest` names the header's content without its clock.
    """

    header: Section | None
    header_digest: str
    sections: Mapping[str, Section]
    unknown: frozenset[str]
    called: Called


def read_ahead(shelf: Shelf) -> None:
    """Make all reads of a shelf now: inside a transaction one that fails would break all that follows.

    They are asked together, unless the shelf has the answers already. Where one fails then, each is asked
    alone, so that only that one is unknown.
    """
    if not shelf.answers:
        _attempt("all_together", lambda: shelf.take(ask_together(shelf.questions())))
    for read in shelf.reads():
        _attempt(read.name, partial(getattr, shelf, read.name))
    shelf.close()


def build_context(shelf: Shelf, *, recent: Sequence[Words]) -> Context:
    """Build all sections in their order, and what the signals call for.

    `recent` are the user's last messages, oldest first.
    """
    sections: dict[str, Section] = {}
    unknown: set[str] = set()
    for name, function in (*STANDING.items(), *TEMPORAL.items()):
        built = _attempt(name, partial(function, shelf))
        if isinstance(built, _Failed):
            unknown.add(name)
        elif built is not None:
            sections[name] = built
    head = _attempt("session_context", lambda: (header(shelf), header_digest(shelf)))
    called = _attempt("signals", partial(_called, shelf, recent))
    return Context(
        header=None if isinstance(head, _Failed) else head[0],
        header_digest="" if isinstance(head, _Failed) else head[1],
        sections=sections,
        unknown=frozenset(unknown),
        called=NOTHING_CALLED if isinstance(called, _Failed) else called,
    )


class _Failed:
    """What a section is whose read failed."""


def _attempt(name: str, build: Callable[[], T]) -> T | _Failed:
    try:
        return build()
    except READ_ERRORS as error:
        # The kind of the error alone: its words may hold what somebody wrote.
        logger.warning("context_section_left_out", section=name, error=type(error).__name__)
        return _Failed()


def _called(shelf: Shelf, recent: Sequence[Words]) -> Called:
    plan = shelf.plans.get(shelf.today)
    facts = life_facts(
        profile=shelf.profile,
        now=shelf.now,
        files=[(file.file_type, file.path, file.frontmatter) for file in shelf.files.values()],
        has_plan_today=plan is not None and plan.says_something,
        unfolded_captures=shelf.unfolded_captures,
        recent=recent,
    )
    return call_skills(facts)
