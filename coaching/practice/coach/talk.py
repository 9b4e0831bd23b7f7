"""What the tour says in an open conversation to what somebody brings, before it shows anything.

It goes by what the newest words do (`reading`): each act has wordings that fit whatever the words are about.
A topic has wordings of its own, which are said only where it is sure: to be taken for something else is
worse than a plain answer. No sentence is said twice as long as there is another.
"""

from dataclasses import replace

from coaching.practice.coach import texts
from coaching.practice.coach.acts import named_in
from coaching.practice.coach.advising import asks_for
from coaching.practice.coach.answering import lead_to, question_passed_over
from coaching.practice.coach.asides import answer_question, in_both_languages, pick
from coaching.practice.coach.confiding import has_confided
from coaching.practice.coach.conversation import Conversation, Exchange
from coaching.practice.coach.days import say_today
from coaching.practice.coach.direct import answer_to, say_plainly
from coaching.practice.coach.follow_up import answer_in_thread, doubts
from coaching.practice.coach.grieving import has_grieved, is_of_grief, is_of_loss
from coaching.practice.coach.harm import asks_of_harm, say_of_harm
from coaching.practice.coach.hearing import Heard, hear, is_about
from coaching.practice.coach.leaving import takes_leave
from coaching.practice.coach.onward import hint, tip_for
from coaching.practice.coach.own_words import name_told, say_of_names, say_told
from coaching.practice.coach.plainly import is_under_way
from coaching.practice.coach.reading import FRIENDLY, Reading, has_just_asked, is_asking, plans, read
from coaching.practice.coach.scenes import (
    is_hard,
    names_situation,
    scene_before,
    scene_in,
    tells_of_no_loss,
    wordings_for,
)
from coaching.practice.coach.sense import CRIES, LAUGHS
from coaching.practice.coach.statements import as_meant, is_of_others, judges, without_tags
from coaching.practice.coach.thread import go_on, go_on_from_advice, lead, question_of_piece
from coaching.practice.coach.wordings import choose, filled, unsaid
from coaching.safety.intensity import SaidWords, measure_intensity

_SIGNS = (("tears", CRIES), ("tease", LAUGHS), ("sign", FRIENDLY))
_AS_HEARD = frozenset({"nonsense", "refusal"})
"""Kinds that are answered whatever else is in the words."""
_STAYS = frozenset({"tell", "open", "short", "confide", "refuse"})
"""What is still about a loss that was told a moment ago."""
_TELLS = frozenset({"tell", "open", "confide"})
_PLAIN = frozenset({"sleep", "exam", "speech", "paperwork", "work", "tired", "panic", "dentist"})
"""Situations that are met as such, however many heavy words they are told in."""
_OF_TOUR = frozenset({"begin", "doubt", "look"})
"""Topics of what is told that are about the tour."""
_ADVISES = frozenset({"ask_advice", "asked"})
_HEARS_SCENES = _TELLS | {"good", "goal", "smalltalk", "greet", "short"}
"""Acts that are about what was told."""
_POOLS = {
    "confide": "felt", "ask_self": "self", "ask_world": "world", "ask_advice": "advice",
}  # fmt: skip
"""The wordings of acts that aren't named like them."""
_MISTAKEN = frozenset({"complain", "refuse", "sorry", "test", "praise", "tease", "thanks"})
"""Acts that aren't meant where a situation is named and the tour isn't."""
_MIN_PASTED = 200
_FEW_WORDS, _MIN_ADDED, _STORY_WORDS, _BEGINNING_WORDS = 6, 3, 9, 16


def talk(conversation: Conversation, newest: Exchange, heard: Heard) -> str:
    """Return what to say to the newest words of an open conversation."""
    words = _as_answer(conversation, as_meant(without_tags(newest.answer)))
    conversation.exchanges[-1] = replace(newest, answer=words)
    if asked := question_passed_over(conversation):
        lead = lead_to(conversation, asked)
        return f"{lead} {talk(conversation, replace(newest, answer=asked), hear(asked))}".strip()
    reading = read(conversation)
    if told := say_of_names(conversation, reading.act):
        return told
    if is_about("clock", words) or is_about("asks_day", words):
        return say_today(conversation) or texts.said("clock")
    if heard.kind == "foreign":
        return in_both_languages(heard)
    is_pasted = heard.kind == "long" or (len(words) > _MIN_PASTED and is_about("pasted", words))
    if heard.kind in _AS_HEARD or is_pasted:
        return pick(texts.reactions("pasted" if is_pasted else heard.kind), conversation)
    if said := answer_in_thread(conversation, reading, heard):
        return said
    said = say_plainly(conversation)
    if not said and is_about("in_play", words):
        return answer_question(conversation, words)
    if heard.kind == "empty" and "?" in words:
        return pick(texts.questions()["again"], conversation)
    if heard.kind == "empty":
        sign = next((name for name, pattern in _SIGNS if pattern.search(words)), "silence")
        return choose(conversation, sign, "short")
    said = said or _answer(conversation, reading)
    has_spoken = bool(conversation.spoken.strip())
    greeting = conversation.is_first and not has_spoken and said not in texts.answers("greet")
    return f"{texts.said('hello_first')} {said}" if greeting else said


def _as_answer(conversation: Conversation, words: str) -> str:
    """Return words without the mark of a first sentence that answers the last question doubtfully."""
    first, mark, rest = words.partition("?")
    is_told = (
        len(first.split()) >= _MIN_ADDED // 2 and rest.strip() and not any(each in first for each in ".!\n")
    )
    is_doubted = has_just_asked(conversation) or doubts(first)
    if not (mark and is_told and is_doubted) or is_about("of_tour", first):
        return words
    return f"{first}.{rest}" if hear(first).kind == "answer" and not is_asking(first) else words


def answer_questions(conversation: Conversation) -> str:
    """Answer what the newest words ask about the tour; nothing if they don't."""
    asked = read(conversation).questions
    new = [each for each in asked if unsaid(conversation, texts.questions()[each])]
    return "\n\n".join(answer_to(each, conversation) for each in new or asked[:1])


def stay_with(conversation: Conversation) -> str:
    """Answer what the newest words ask about the tour, or say goodbye; else only take note of them."""
    if asks_of_harm(conversation):
        return say_of_harm(conversation)
    words = conversation.exchanges[-1].answer
    if takes_leave(words) and "?" not in words:
        return say_goodbye_to(conversation)
    return answer_questions(conversation) or choose(conversation, "felt", "after")


def _answer(conversation: Conversation, reading: Reading) -> str:
    """Answer what was asked about the tour, then say goodbye to who is leaving."""
    is_sigh = reading.questions == ["point"] and is_hard(conversation.exchanges[-1].answer)
    if is_sigh and (said := unsaid(conversation, wordings_for(conversation, is_hard=True))):
        return said
    asked = answer_questions(conversation)
    if reading.is_leaving:
        return " ".join(filter(None, [asked, say_goodbye_to(conversation)]))
    return asked or _say_to(conversation, reading)


def _say_to(conversation: Conversation, reading: Reading) -> str:
    """Return what to say to newest words that do one thing."""
    words = conversation.exchanges[-1].answer
    is_told = len(words.split()) > _BEGINNING_WORDS
    if reading.topic == "begin" and (is_told or is_under_way(conversation)):
        reading = replace(reading, act="open", topic="")
    if reading.act == "ask_back":
        return say_told(conversation)
    if reading.act == "show":
        return answer_to("able", conversation)
    is_loss = reading.topic == "loss" and is_of_loss(words) and not tells_of_no_loss(words)
    goes_on = (reading.act in _STAYS or reading.topic == "begin") and has_grieved(conversation)
    if is_loss or (goes_on and not tells_of_no_loss(words)):
        return _say_to_grief(conversation, reading)
    scene = scene_in(words)
    is_plain = scene is not None and scene.name in _PLAIN
    is_heavy = reading.act == "confide" and measure_intensity([SaidWords(text=words)]).is_high
    is_heavy = is_heavy and not is_plain
    heavy = unsaid(conversation, texts.reactions("heavy")) if is_heavy else ""
    said = heavy or _say_to_question(conversation, reading) or _say_of_scene(conversation, reading)
    return said or _say_by_act(conversation, reading)


def _say_of_scene(conversation: Conversation, reading: Reading) -> str:
    """Return what to say in the situation that was told; nothing where none was, or all of it was said."""
    words, act = conversation.exchanges[-1].answer, reading.act
    is_named = names_situation(words)
    is_to_tour = is_about("of_tour", words) and len(words.split()) <= _STORY_WORDS
    is_mistaken = act in _MISTAKEN and is_named and not is_to_tour
    before = scene_before(conversation)
    is_plan = act == "goal" and (is_about("promise", words) or plans(words))
    is_plan = is_plan and not (before and before.is_glad)
    if not is_named and (is_plan or _asks_which(words)):
        return ""
    is_brief = act in {"short", "greet", "smalltalk"} and not (is_named or _adds(words))
    if act == "good" and not is_named and not (before and before.is_glad):
        return ""  # good news comes before whoever or whatever is only mentioned
    if not (act in _HEARS_SCENES or is_mistaken) or is_brief:
        return ""
    name = named_in(words)
    known = wordings_for(conversation, is_hard=act == "confide" and "!" not in words)
    scene = scene_in(words)
    is_mentioned = scene is not None and scene.is_background and not (before and before.weight > scene.weight)
    if is_mentioned or not (said := unsaid(conversation, known)):
        return ""  # people and things are only mentioned
    return go_on(conversation, f"{name}. {said}" if name else said)


def _say_to_question(conversation: Conversation, reading: Reading) -> str:
    """Return what to say to a question that isn't about the tour; nothing to other words."""
    words, act = conversation.exchanges[-1].answer, reading.act
    is_of_words = act not in _TELLS and is_about("tip_talk", words)
    is_quiet = has_grieved(conversation)
    is_advised = not is_quiet or len(words.split()) > _FEW_WORDS
    if reading.topic == "undecided" and "?" not in words and not is_quiet:
        return unsaid(conversation, wordings_for(conversation, is_hard=False))
    if (
        (act in _ADVISES or is_of_words or is_about("what_to_do", words))
        and is_advised
        and (said := unsaid(conversation, asks_for(conversation, is_quiet=is_quiet)))
    ):
        return go_on_from_advice(conversation, said, is_of_words=is_about("tip_talk", words))
    is_asked = act in _ADVISES or is_about("what_to_do", words)
    if is_asked and not is_quiet and (tip := tip_for(conversation, words)):
        return go_on_from_advice(conversation, tip, is_of_words=is_about("tip_talk", words))
    if act in _ADVISES and is_quiet:
        return choose(conversation, "wonder", "presence")
    if act in _TELLS and words.rstrip().endswith("?") and not has_just_asked(conversation):
        return choose(conversation, "wonder" if act == "confide" else "asked", "asked")
    return ""


def _say_by_act(conversation: Conversation, reading: Reading) -> str:
    words, act, topic = conversation.exchanges[-1].answer, reading.act, reading.topic
    if reading.is_thankful:
        return " ".join([choose(conversation, "thanks"), *hint(conversation, "thanks")])
    if (name := named_in(words)) and (named := filled(conversation, "named", name)):
        return named
    if act in _TELLS and _asks_which(words):
        return choose(conversation, "which")
    before = scene_before(conversation)
    pool = "good" if act == "confide" and before and before.is_glad else _pool_of(conversation, act, topic)
    if act == "goal" and (asked := question_of_piece(conversation)):
        return " ".join([choose(conversation, "goal_first"), asked])
    if act in _TELLS and pool != "good" and topic not in _OF_TOUR:
        plain = lead(conversation) if pool == "tell" and not topic else ""
        return go_on(conversation, plain or choose(conversation, topic or pool, pool))
    return " ".join([choose(conversation, topic or pool, pool), *hint(conversation, act)])


def _pool_of(conversation: Conversation, act: str, topic: str) -> str:
    """Return the name of the wordings for words that do one thing and are about nothing known."""
    words = conversation.exchanges[-1].answer
    if act == "short" and judges(words):
        return "felt"
    if act == "short" and len(words.split()) > 1 and hear(words).kind == "answer":
        return "tell"
    if act == "short" and topic != "tease":
        return "presence" if has_confided(conversation) else "short"
    if act in {"tell", "open"}:
        return "after" if has_confided(conversation) else "tell"
    return _POOLS.get(act, act)


def _asks_which(words: str) -> bool:
    """Return whether a few words refer to one of several things, which the tour can't count."""
    return len(words.split()) <= _FEW_WORDS and is_about("which_one", words)


def _adds(words: str) -> bool:
    """Return whether a few words tell something more rather than only react."""
    return len(words.split()) >= _MIN_ADDED and hear(words).kind == "answer"


def _say_to_grief(conversation: Conversation, reading: Reading) -> str:
    if reading.act == "short":
        return choose(conversation, "presence", "after")
    words = conversation.exchanges[-1].answer
    is_refused = texts.language() != texts.ENGLISH or is_about("not_about", words)
    if reading.act == "refuse" and is_refused and not is_of_others(words):
        return choose(conversation, "refuse", "presence")
    own = "grief" if is_of_grief(reading, words) else "after_grief"
    said = [unsaid(conversation, texts.reactions(name)) for name in dict.fromkeys((own, "after_grief"))]
    told = next(filter(None, said), "") or choose(conversation, "after", "presence")
    name = named_in(words)
    return f"{name}. {told}" if name else told


def say_goodbye_to(conversation: Conversation) -> str:
    """Say goodbye by name, if it was told here."""
    if name := name_told(conversation):
        return texts.said("bye_name", name=name)
    if is_about("night", conversation.exchanges[-1].answer):
        return choose(conversation, "good_night", "goodbye")
    return choose(conversation, "goodbye_after" if has_confided(conversation) else "goodbye", "goodbye")
