"""What the tour says to who asks about their list: what is on it, whether and for when a step was noted."""

from coaching.practice.coach import texts
from coaching.practice.coach.asides import say_put
from coaching.practice.coach.changing import open_steps_here, steps_noted
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.days import say_today
from coaching.practice.coach.file_names import join_words
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.on_list import list_questions, says
from coaching.practice.coach.plans import SENTENCE

_FEW = 9
"""In so few words a question needs no mark."""
_MOST = 16


def asked_of_list(words: str) -> str:
    """Return the name of the question about the list that words ask; nothing for others."""
    for sentence in SENTENCE.findall(words):
        count = len(sentence.split())
        is_asked = count <= _MOST if "?" in sentence else count <= _FEW and says("asks_first", sentence)
        if is_asked and (asked := next((each for each in list_questions() if says(each, sentence)), "")):
            return asked
    return ""


def say_of_list(conversation: Conversation, words: str) -> str:
    """Answer a question about the list; nothing to others, or where no list is spoken of."""
    if is_about("did_put", words):
        return say_put(conversation)
    asked = asked_of_list(words)
    if asked == "today":
        return say_today(conversation, is_asked=True) or texts.said("clock")
    steps = steps_noted(conversation)
    if not asked or not (steps or says("names_list", words)):
        return ""
    noted = join_words(steps)
    match asked:
        case "change" | "shown":
            return texts.questions()["list"][0]
        case "reminds":
            return texts.said("who_reminded")
        case "saved":
            return say_put(conversation)
        case _ if not steps:
            return texts.said("list_empty")
        case "listed":
            return texts.said("wrote_steps", steps=noted)
        case "time" if not any(each.get("due_time") for each in open_steps_here(conversation)):
            return texts.said("no_time_noted", steps=noted)
        case _:
            return texts.said("noted_so", steps=noted)
