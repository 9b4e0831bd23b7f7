"""The context pipeline: builds every section of a turn from one life.

A section whose read fails is left out and logged, and the turn goes on. Unknown isn't empty.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import structlog

from coaching.context.entries import Section
from coaching.context.header import header, header_digest
from coaching.context.library import is_about_other
from coaching.context.life import READ_ERRORS, Life, known
from coaching.context.plan_offer import fits_plan
from coaching.context.sections import STANDING, TEMPORAL
from coaching.safety.intensity import SaidWords
from coaching.skills.facts import life_facts
from coaching.skills.signals import Called, call_skills

logger = structlog.get_logger(__name__)

T = TypeVar("T")

NOTHING_CALLED = Called(arc=None, approaches=(), trace=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The sections at one moment. `unknown` names those that couldn't be built.

    `header_digest` identifies the header's content without its clock.
    """

    header: Section | None
    header_digest: str
    sections: Mapping[str, Section]
    unknown: frozenset[str]
    called: Called


def build_context(
    life: Life,
    *,
    recent: Sequence[SaidWords],
    file_reader: str,
    arc: str = "",
    is_first_day: bool = False,
) -> Context:
    """Build all sections in order, and find the skills that the signals call for.

    `recent` are the user's last messages, oldest first; `file_reader` is the tool that shows a file whole.
    `arc` is the session's current one. `is_first_day`: it began today.
    """
    sections: dict[str, Section] = {}
    unknown: set[str] = set()
    for name, function in (*STANDING.items(), *TEMPORAL.items()):
        built = _attempt(name, partial(function, life))
        if isinstance(built, _Failed):
            unknown.add(name)
        elif built is not None:
            sections[name] = replace(built, file_reader=file_reader)
    head = _attempt("session_context", lambda: (header(life), header_digest(life)))
    called = _attempt("signals", partial(_called, life, recent=recent, arc=arc, is_first_day=is_first_day))
    return Context(
        header=None if isinstance(head, _Failed) else head[0],
        header_digest="" if isinstance(head, _Failed) else head[1],
        sections=sections,
        unknown=frozenset(unknown),
        called=NOTHING_CALLED if isinstance(called, _Failed) else called,
    )


class _Failed:
    """Stands for a section whose read failed."""


def _attempt(name: str, build: Callable[[], T]) -> T | _Failed:
    try:
        return build()
    except READ_ERRORS as error:
        # Only the error's type: its text may contain what a person wrote.
        logger.warning("context_section_left_out", section=name, error=type(error).__name__)
        return _Failed()


def _called(life: Life, *, recent: Sequence[SaidWords], arc: str, is_first_day: bool) -> Called:
    is_first_talk = is_first_day and life.last_session is None
    plan = known(life.plans).get(life.today)
    facts = life_facts(
        profile=life.profile,
        now=life.now,
        files=[(file.file_type, file.path, file.frontmatter) for file in known(life.files).values()],
        has_plan_today=plan is not None and plan.says_something,
        unfolded_captures=known(life.waiting_captures),
        recent=recent,
        # The first conversation offers nothing, and in later ones the map comes after days and weeks.
        is_map_offered=not is_first_talk,
        is_first_talk=is_first_talk,
        is_about_client=is_about_other(known(life.library)),
        arc=arc,
        holds_offers=life.holds_offers,
        is_plan_fitting=fits_plan(life, arc=arc),
    )
    return call_skills(facts)
