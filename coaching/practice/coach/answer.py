"""The scripted coach: what the practice model says unless a test scripts it.

A newcomer without a key has their first conversation with it, so it is warm, honest about what it is, and
does what it says. It is a pure function of the request. The first scene with something to say answers; danger
and tool results come first.
"""

from collections.abc import Callable, Mapping
from typing import Any

from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.scenes import (
    approaches,
    arcs,
    brief,
    by_name,
    care,
    lookups,
    offers,
    saving,
    summary,
    talk,
    title,
)
from coaching.practice.script import Reply

Scene = Callable[[Conversation], Reply | None]

SCENES: tuple[Scene, ...] = (
    summary.summarise,
    brief.write_brief,
    title.give_title,
    care.answer_crisis,
    care.stay_after_crisis,
    by_name.say_what_is_in_play,
    by_name.take_up,
    arcs.walk,
    lookups.look_up,
    approaches.weigh_choice,
    approaches.look_at_pattern,
    offers.offer_arcs,
    saving.report_results,
    saving.save_words,
    saving.accept_refusal,
    care.answer_heaviness,
    talk.say_goodbye,
    talk.greet,
    talk.answer_small_talk,
)


def answer(body: Mapping[str, Any]) -> Reply:
    """Answer a validated request."""
    conversation = Conversation(body)
    for scene in SCENES:
        reply = scene(conversation)
        if reply is not None:
            return reply
    return talk.listen(conversation)
