"""Opening the day: how the user woke, priorities, an intention. Grounding if it is too much."""

from coaching.practice.coach.arc_files import ArcFile, bold_items, preview, quotes
from coaching.practice.coach.arc_hearing import hear_list, is_skip, one_line
from coaching.practice.coach.arc_steps import words_for_or_first
from coaching.practice.coach.arc_talk import ArcTalk
from coaching.practice.coach.arc_wording import NODS, PASSED
from coaching.practice.coach.day_wording import (
    GROUND,
    GROUND_RETURN,
    INTENTION,
    INTENTION_CHOICE,
    KIND_THING,
    MATTERS,
    MATTERS_CHOICE,
    OPEN_DAY_ENTRIES,
    OPEN_DAY_GREETINGS,
    THREE_KEPT,
    WAKE,
    WAKE_REACTIONS,
)
from coaching.practice.coach.listening import is_heavy
from coaching.practice.coach.scenes.grounding import ground
from coaching.practice.coach.wording import pick
from coaching.practice.script import Reply

GREETINGS, ENTRIES = OPEN_DAY_GREETINGS, OPEN_DAY_ENTRIES
_MOST_PRIORITIES = 3


def go_on(arc: ArcTalk, lead: str = "") -> Reply:
    """Take the next step of opening the day."""
    if is_overwhelmed(arc):
        grounded = ground(arc, lead)
        if grounded is not None:
            return grounded
        if _wants_nothing(arc):
            return arc.complete(is_leaving=True)
        if not arc.is_settled(KIND_THING):
            return arc.ask(KIND_THING, lead)
        return arc.write(_plan(arc)) or arc.complete()
    if not arc.is_settled(WAKE):
        return arc.ask(WAKE, lead)
    lead = lead or _react(arc)
    if not _priorities(arc) and not arc.is_settled(MATTERS):
        return arc.ask(MATTERS, lead)
    if not _priorities(arc) and not arc.is_settled(MATTERS_CHOICE):
        return arc.ask(MATTERS_CHOICE, lead)
    if not arc.is_settled(INTENTION):
        return arc.ask(INTENTION, lead)
    if not _intention(arc) and not arc.is_settled(INTENTION_CHOICE):
        return arc.ask(INTENTION_CHOICE, lead)
    return arc.write(_plan(arc)) or arc.complete()


def is_overwhelmed(arc: ArcTalk) -> bool:
    """Return whether this morning is too much for a plan."""
    return any(
        exchange.value == "too much" or is_heavy(exchange.answer) for exchange in arc.exchanges
    ) or bool(arc.times_asked(GROUND))


def _wants_nothing(arc: ArcTalk) -> bool:
    answer = arc.answer_to(GROUND_RETURN)
    return answer is not None and (answer.value == "leave" or is_skip(answer.answer))


def _react(arc: ArcTalk) -> str:
    newest = arc.newest
    if newest is None:
        return ""
    if newest.value in WAKE_REACTIONS:
        return WAKE_REACTIONS[newest.value]
    if is_skip(newest.answer) and not newest.is_tapped:
        return pick(PASSED, arc.conversation)
    if MATTERS.is_in(newest.question) and len(hear_list(newest.answer, 10)) > _MOST_PRIORITIES:
        return THREE_KEPT[0]
    return pick(NODS, arc.conversation)


def _priorities(arc: ArcTalk) -> list[str]:
    """Return today's priorities, from the answer or the user's first words."""
    if kind := arc.words_for(KIND_THING):
        return [one_line(kind)]
    words = arc.words_for(MATTERS_CHOICE) or words_for_or_first(arc, MATTERS)
    return list(hear_list(words, _MOST_PRIORITIES))


def _intention(arc: ArcTalk) -> str:
    if arc.answer_to(KIND_THING):
        return "Be kind to myself" if arc.words_for(KIND_THING) else ""
    return one_line(arc.words_for(INTENTION_CHOICE) or arc.words_for(INTENTION))


def _plan(arc: ArcTalk) -> ArcFile:
    priorities, intention = _priorities(arc), _intention(arc)
    woke = arc.answer_to(WAKE)
    energy = woke.value if woke and woke.value in WAKE_REACTIONS else ""
    told = [*quotes(arc.words_for(MATTERS)), *([f"- **Woke up**: {energy}"] if energy else [])]
    return ArcFile(
        file_type="day-plan",
        title="Today",
        sections=[
            ("Intention", bold_items([intention] if intention else [])),
            ("What matters", bold_items(priorities)),
            *([("As you said it", told)] if told else []),
        ],
        attributes={
            "energy": energy,
            "intention": intention,
            "priorities": priorities,
            "preview_line": intention or preview(", ".join(priorities)),
        },
    )
