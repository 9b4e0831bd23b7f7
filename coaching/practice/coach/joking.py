"""The tour's part in a joke, which the person or the tour has told."""

from coaching.practice.coach import texts
from coaching.practice.coach.acts import plain_act
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.hearing import hear
from coaching.practice.coach.scenes import names_situation
from coaching.practice.coach.wordings import choose, holds

_FEW_WORDS = 6


def play_along(conversation: Conversation) -> str:
    """Return the tour's part in a joke whose first line was told before; nothing without one."""
    words, last = conversation.exchanges[-1].answer, conversation.exchanges[-1].question
    if holds(last, texts.answers("knock")):
        return texts.answers("knock_who")[0].format(words=words.strip(" .!?").capitalize())
    if "?" in words or names_situation(words):
        return ""
    is_told = holds(last, texts.answers("riddle")) or any(
        last.endswith(each.partition("}")[2]) and len(last.split()) < _FEW_WORDS
        for each in texts.answers("knock_who")
    )
    if is_told:
        return choose(conversation, "tease")
    is_verdict = 1 < len(words.split()) < _FEW_WORDS and not plain_act(words)
    is_verdict = is_verdict and hear(words).kind in {"answer", "remark"}
    return choose(conversation, "joked") if is_verdict and holds(last, texts.answers("joke")) else ""
