"""What the tour says to words that plainly do one thing, whatever is sensed in them."""

from coaching.practice.coach import texts
from coaching.practice.coach.acts import mended_in
from coaching.practice.coach.advising import asks_for
from coaching.practice.coach.answering import say_of_answer
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.grieving import has_grieved
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.joking import play_along
from coaching.practice.coach.onward import is_of_harm
from coaching.practice.coach.plainly import act_of
from coaching.practice.coach.scenes import names_situation, scene_in
from coaching.practice.coach.thread import go_on, go_on_from_advice
from coaching.practice.coach.wordings import choose, filled, holds, unsaid

_TELLS_MORE = frozenset({"core", "fear", "notsilly", "bigger"})
"""Acts of who tells something, after which the next question may be asked."""
_ASKS_MORE = frozenset({"advice", "anything_else", "howtell"})
_FEW_WORDS = 6
_LATELY = 2
"""So many messages may tell what somebody asks about in a few words."""


def say_plainly(conversation: Conversation) -> str:
    """Answer words that plainly do one thing, whatever is sensed in them; nothing for any others."""
    words = conversation.exchanges[-1].answer
    if joking := play_along(conversation):
        return joking
    if is_about("asks_of_grief", words):
        return choose(conversation, "grief_lasts")
    if is_about("how_to_tell", words) and has_grieved(conversation):
        return unsaid(conversation, asks_for(conversation, is_quiet=True))
    mended = mended_in(words) if len(conversation.exchanges) > 1 else ""
    if mended:
        return filled(conversation, "mended", mended)
    if told := say_of_answer(conversation):
        return told
    act = act_of(conversation)
    if act in texts.questions():
        return answer_to(act, conversation)
    if said := _suggest(conversation, act):
        return said
    act = act or _goes_on(conversation)
    if act == "normal":
        act = _reassurance(conversation)
    return _say_as(conversation, act) if act else ""


def _say_as(conversation: Conversation, act: str) -> str:
    """Return what to say to an act, with a question where something is told or advised."""
    told = choose(conversation, act)
    if act == "howtell":
        return go_on_from_advice(conversation, told, is_of_words=True)
    is_told = act in _TELLS_MORE and "?" not in conversation.exchanges[-1].answer
    return go_on(conversation, told) if is_told else told


def answer_to(question: str, conversation: Conversation) -> str:
    """Answer a question about the tour; a second time with a word that says so."""
    answers = texts.questions()[question]
    return unsaid(conversation, answers) or texts.said("as_before", answer=answers[-1])


def _suggest(conversation: Conversation, act: str) -> str:
    """Return what there is to say to who asks what to do in their situation; nothing to others."""
    words = conversation.exchanges[-1].answer
    new = scene_in(words)
    if act == "undecided" and "?" in words and new and not new.is_background:
        return unsaid(conversation, new.asks)
    if act not in _ASKS_MORE:
        return ""
    advice = unsaid(conversation, asks_for(conversation, is_quiet=False))
    return go_on_from_advice(
        conversation, advice, is_of_words=act == "howtell" or is_about("tip_talk", words)
    )


def _goes_on(conversation: Conversation) -> str:
    """Return the name of what to say to words that only make sense after the last answer, or nothing."""
    words, last = conversation.exchanges[-1].answer, conversation.exchanges[-1].question
    if "?" in words:
        is_further = len(words.split()) <= _FEW_WORDS and holds(last, texts.answers("medical"))
        return "medical" if is_further else ""
    return "asked_me" if holds(last, texts.answers("ask_me")) and not names_situation(words) else ""


def _reassurance(conversation: Conversation) -> str:
    """Return the name of what to say to who asks whether something is normal."""
    told = [each.answer for each in conversation.exchanges[-_LATELY:] if not each.value]
    if has_grieved(conversation) and not is_of_harm(told[-1]):
        return "normal_grief"
    return "selfask" if any(map(is_of_harm, told)) else "normal"
