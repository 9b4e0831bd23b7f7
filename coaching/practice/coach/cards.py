"""What is written in answer to a step's card, instead of tapped: a yes or a no."""

import re

from coaching.practice.coach import texts
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.days import days_in
from coaching.practice.coach.noted import RESOLVE
from coaching.practice.coach.on_list import says
from coaching.practice.coach.plans import CREATE
from coaching.practice.script import Reply, ToolUse

_MOST_WORDS = 6
_BOTH = re.compile(r"\A\W*(?:both|all|beides?|alle|(?:los|las) dos|amb[oa]s|tod[oa]s)\b", re.IGNORECASE)


def answered(conversation: Conversation, words: str) -> Reply | None:
    """Return the reply to a yes or a no that is written instead of tapped in a step's card; None else."""
    newest = conversation.exchanges[-1]
    before = conversation.exchanges[-2].position if len(conversation.exchanges) > 1 else 0
    waiting = [
        call
        for call in conversation.calls
        if before < call.position < newest.position
        and call.name in {CREATE, RESOLVE}
        and "written" not in call.values
        and not call.is_error
    ]
    if not waiting or "?" in words or len(words.split()) > _MOST_WORDS or any(days_in(words, None)):
        return None
    if says("no", words) or says("forgets", words):
        return Reply.of(texts.said("step_not_kept" if waiting[0].name == CREATE else "step_stays"))
    if not says("yes", _BOTH.sub("", words)):
        return None
    return Reply.of(*(ToolUse(call.name, {**call.input, "quote": words.strip()}) for call in waiting))
