"""Inside an arc: introduce it, continue, handle interruptions, say goodbye."""

from collections.abc import Mapping, Sequence
from types import ModuleType

from coaching.practice.coach.arc_hearing import wants_to_leave, wants_to_pause
from coaching.practice.coach.arc_talk import ArcTalk, say
from coaching.practice.coach.arc_wording import (
    CONVERSATION_GOES_ON,
    ENGLISH_ONLY,
    FAREWELLS,
    LEFT_FAREWELLS,
    NEXT_CHECKIN,
    PAUSED,
    SHORT_INTRODUCTION,
    STILL_HERE,
    STILL_MISSING,
)
from coaching.practice.coach.conversation import CallOutcome, Conversation
from coaching.practice.coach.file_names import missing_in_words
from coaching.practice.coach.header import read_header
from coaching.practice.coach.listening import hear_intent, is_foreign
from coaching.practice.coach.scenes import close_day, life_mapping, open_day, weekly_checkin
from coaching.practice.coach.scenes.talk import describe_coach
from coaching.practice.coach.story import Story, read_story
from coaching.practice.coach.wording import INTRODUCTION, join_words, pick
from coaching.practice.script import Reply, Text, ToolUse

_SCRIPTS: Mapping[str, ModuleType] = {
    "open_day": open_day,
    "close_day": close_day,
    "weekly_checkin": weekly_checkin,
    "life_mapping": life_mapping,
}


def walk(conversation: Conversation) -> Reply | None:
    """Take the next step of the conversation's arc; None without one."""
    story = read_story(conversation)
    completed = [
        o for o in conversation.fresh_outcomes if o.name == "complete_session" and o.values.get("success")
    ]
    if completed and not completed[-1].is_error:
        return _say_goodbye(conversation, story, completed[-1])
    if story.arc is None:
        return None
    arc = ArcTalk(conversation, story, story.arc)
    script = _SCRIPTS[story.arc.name]
    if arc.is_beginning:
        reply: Reply = script.go_on(arc, _greet(arc, script) if arc.span.is_whole_session else "")
        return reply
    return _bear_interruption(arc) or script.go_on(arc, _answer_aside(arc))


def enter(conversation: Conversation, name: str) -> Reply:
    """Enter an arc. The introduction comes before the call: text after it would only be a note."""
    entry = pick(_SCRIPTS[name].ENTRIES, conversation)
    return Reply.of(
        Text(_introduce(conversation, name, entry)), ToolUse("enter_structured_arc", {"arc": name})
    )


def _introduce(conversation: Conversation, name: str, greeting: str) -> str:
    """Return the introduction, with what the coach is if the user can't know yet."""
    if conversation.position > 0 or read_header(conversation).is_known_user:
        return greeting
    parts = (INTRODUCTION, greeting) if name == "life_mapping" else (greeting, SHORT_INTRODUCTION)
    return "\n\n".join(parts)


def _greet(arc: ArcTalk, script: ModuleType) -> str:
    conversation = arc.conversation
    parts = [_introduce(conversation, arc.span.name, pick(script.GREETINGS, conversation))]
    if is_foreign(conversation.newest):
        parts.append(ENGLISH_ONLY)
    return "\n\n".join(parts)


def _bear_interruption(arc: ArcTalk) -> Reply | None:
    """Let the user leave or pause the arc."""
    last = arc.exchanges[-1] if arc.exchanges else None
    if last is None or last.is_tapped:
        return None
    if wants_to_leave(last.answer):
        return arc.complete(is_leaving=True)
    if arc.newest is not None and arc.span.name != "close_day" and wants_to_pause(last.answer):
        return say(pick(PAUSED, arc.conversation))
    return None


def _answer_aside(arc: ArcTalk) -> str:
    """Answer a side remark, then repeat the open question."""
    newest = arc.newest
    if newest is None or newest.is_tapped:
        return ""
    match hear_intent(newest.answer, was_offered=False):
        case "about":
            return describe_coach(arc.conversation)
        case "hello" | "continue":
            return pick(STILL_HERE, arc.conversation)
        case _:
            return ""


def _say_goodbye(conversation: Conversation, story: Story, outcome: CallOutcome) -> Reply:
    """Report the completion's result: what is missing, and when the next check-in is."""
    span = story.ended_arc
    arc = ArcTalk(conversation, story, span) if span else None
    missing = _names(outcome.values.get("still_missing"))
    has_saved = arc is not None and any(call.outcome.path for call in arc.calls)
    is_left = arc is not None and bool(arc.exchanges) and wants_to_leave(arc.exchanges[-1].answer)
    words = FAREWELLS[span.name] if span and has_saved and not is_left and not missing else LEFT_FAREWELLS
    parts = [pick(words, conversation)]
    if missing:
        parts.append(pick(STILL_MISSING, conversation).format(word=join_words(missing)))
    next_checkin = outcome.values.get("next_checkin")
    if next_checkin and span and span.name == "weekly_checkin":
        parts.append(pick(NEXT_CHECKIN, conversation).format(word=next_checkin))
    if outcome.values.get("completed") == "arc":
        parts.append(pick(CONVERSATION_GOES_ON, conversation))
    return say(*parts)


def _names(missing: object) -> Sequence[str]:
    """Return names for people of what is missing."""
    items = [str(item) for item in missing] if isinstance(missing, list) else []
    return [missing_in_words(item) for item in items]
