"""Situations in which a script must not play the coach: danger and distress."""

from coaching.practice.coach.arc_talk import ArcTalk
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.listening import hear_intent, is_crisis, is_heavy, reflect
from coaching.practice.coach.scenes.skills import load_quietly
from coaching.practice.coach.story import open_span, read_story
from coaching.practice.coach.wording import (
    AFTER_CRISIS_REPLIES,
    CRISIS_REPLIES,
    HEAVY_QUESTIONS,
    HEAVY_REPLIES,
    INTRODUCTION,
    pick,
)
from coaching.practice.script import Reply, Text


def answer_crisis(conversation: Conversation) -> Reply | None:
    """Refer to real help at once when words suggest self-harm or danger."""
    notes = [str(outcome.values.get("note", "")) for outcome in conversation.fresh_outcomes]
    if not is_crisis("\n".join([conversation.newest, *notes])):
        return None
    has_pointed = any(_points_to_help(text) for text in conversation.coach_texts)
    return Reply.of(Text(CRISIS_REPLIES[1 if has_pointed else 0]))


def stay_after_crisis(conversation: Conversation) -> Reply | None:
    """Stay on the subject for one more answer, whatever the user says next."""
    if not _points_to_help(conversation.answered_text):
        return None
    intent = hear_intent(conversation.newest, was_offered=True)
    return Reply.of(Text(AFTER_CRISIS_REPLIES["yes" if intent == "yes" else "other"]))


def _points_to_help(text: str) -> bool:
    return any(reply in text for reply in CRISIS_REPLIES)


def answer_heaviness(conversation: Conversation) -> Reply | None:
    """Respond to distress: no task, no offer, one gentle question."""
    if not is_heavy(conversation.newest):
        return None
    story = read_story(conversation)
    if quiet := load_quietly(ArcTalk(conversation, story, open_span(story)), "crisis-support"):
        return quiet
    parts = [reflect(conversation.newest), pick(HEAVY_REPLIES, conversation)]
    if conversation.position == 0:
        parts.append(INTRODUCTION)
    parts.append(pick(HEAVY_QUESTIONS, conversation))
    return Reply.of(Text("\n\n".join(part for part in parts if part)))
