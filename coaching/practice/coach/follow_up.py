"""What follows an answer to one of the thread's questions: it fits whatever the answer is (`thread.py`)."""

import re

from coaching.practice.coach import texts
from coaching.practice.coach.acts import mended_in, plain_act
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.days import days_in, today_in
from coaching.practice.coach.file_names import clip
from coaching.practice.coach.grieving import has_grieved, is_of_loss
from coaching.practice.coach.hearing import Heard, hear, is_about
from coaching.practice.coach.known_scenes import FEELINGS
from coaching.practice.coach.on_list import says
from coaching.practice.coach.plans import CREATE, Plan, said_bare
from coaching.practice.coach.reading import Reading, plans
from coaching.practice.coach.scenes import scene_before, scene_in
from coaching.practice.coach.statements import judges
from coaching.practice.coach.thread import (
    BESIDE,
    asks_nothing,
    go_on,
    join,
    next_question,
    open_question,
    question_in,
    question_of_piece,
    thread,
    weights_in,
)
from coaching.practice.coach.wordings import fill, unsaid
from coaching.safety.intensity import SaidWords, measure_intensity

_MAX_QUOTED, _MIN_QUOTED, _BRIEF_WORDS = 90, 3, 7
_CLIPPED, _MIN_AGAIN = 100, 2
_TOLD_ACTS = frozenset(
    {
        "", "fear", "core", "undecided", "idea", "reassured", "noreason", "notsilly", "decided",
        "better", "whatif", "blank", "sorry", "begin", "taken", "tip_start", "goal", "getthrough", "bigger",
        "whyself", "wonder", "opinion", "too_old", "answered", "intro", "machine", "luck",
    }
)  # fmt: skip
"""Acts by patterns that may be an answer, where nothing is asked in them."""
_JOINS = re.compile(r"\A\W*(?:that|dass|que)\s+", re.IGNORECASE)
"""How an answer begins that goes on from the question's words."""
_QUESTIONS = ("question", "asks_plainly", "what_to_do", "advice")
_SENTENCES = re.compile(r"[^.!?…\n]++[.!?…]*+")
_FIRST_END = re.compile(r"[.,;:!?]")
_CLAUSE_END = re.compile(r"[,;:](?=\s)|\s[–—-]\s")
_DOES_NOTHING = re.compile(
    r"\b(?:nichts|nix|nada) (?!mehr\b|\w+es\b)\w{2,12}(?:en|[aei]r)\W*\Z", re.IGNORECASE
)
"""A thing to do that begins like a word for none: "nichts sagen"."""
_UNTIL = re.compile(r"\s(?:until|till|bis|hasta)\s", re.IGNORECASE)
_CONDITIONAL = re.compile(
    r"\A(?:ich (?:würd|könnt|hätt)e?|i(?:['’]d| would| could)|podría|yo \w+ría)\b", re.IGNORECASE
)
_AROUND = " .,;:!…–-"
_QUOTED = re.compile('["“„«‘]([^"“”„«»‘’\n]{8,200})["”“»’]')


def answer_in_thread(conversation: Conversation, reading: Reading, heard: Heard) -> str:
    """Return what follows the newest words as the answer to the tour's question; nothing if they are none."""
    words = conversation.exchanges[-1].answer
    said = _say_again(conversation) or _say_of_draft(conversation) or _say_how(conversation, heard)
    said = said or _say_meant(conversation)
    if said or not _is_answer(conversation, reading, heard):
        return said
    name, own = open_question(conversation), thread(texts.language())
    if name in {"wish", "hands"} and own["heard"]["begin"].search(words):
        return join(own["begin"], question_of_piece(conversation))
    is_nothing = name == "hands" and _begins_with_none(words) and not _names_some(words)
    if is_nothing or _is_none(words, heard):
        question = next_question(conversation, is_answered=True, is_otherwise=name == "hands")
        return join(thread(texts.language())[name]["none"], question)
    is_dated = any(days_in(words, today_in(conversation)))
    if name == "piece" and _begins_with_none(words) and not is_dated:
        return str(thread(texts.language())[name]["none"])
    beyond = thread(texts.language())["beyond"] if asks_in(words) else ""
    return join(beyond, _take(conversation, "piece" if name in {"wish", "hands"} and plans(words) else name))


def _take(conversation: Conversation, name: str) -> str:
    """Return the newest words as the answer to a question, and what follows it."""
    own, words = thread(texts.language()), conversation.exchanges[-1].answer
    draft = _QUOTED.search(words) if name == BESIDE else None
    quote, scene = draft[1].strip(" .!") if draft else quoted(words), scene_in(words)
    if name == "mind" and scene and not quote and (said := unsaid(conversation, scene.says)):
        return join(said, next_question(conversation, is_answered=True))
    is_awkward = name == "wish" and _CONDITIONAL.match(quote)
    told = own[name]["took"].format(words=quote) if quote and not is_awkward else own[name]["told"]
    return join(told, _after(conversation, name))


def _after(conversation: Conversation, name: str) -> str:
    """Return what follows an answer to a question: the next one, or how a step gets on the list."""
    if name == "piece":
        is_dated = any(days_in(conversation.exchanges[-1].answer, today_in(conversation)))
        return str(thread(texts.language())["keep_dated" if is_dated else "keep"])
    return "" if name == BESIDE else next_question(conversation, is_answered=True)


def _is_answer(conversation: Conversation, reading: Reading, heard: Heard) -> bool:
    """Return whether the newest words answer the question that the tour has just asked."""
    words = conversation.exchanges[-1].answer
    if not open_question(conversation) or conversation.arc or weights_in(conversation)[-1]:
        return False
    if _is_none(words, heard):
        return True
    if not _fits(conversation):
        return False
    is_asked = asks_in(words) and not _asks_beside(words, reading)
    if is_asked or hear(_own(words).replace("?", ".")).kind != "answer":
        return False
    if _leaves(words) or is_about("no_questions", words) or is_about("not_about", words):
        return False
    scene, before = scene_in(words), scene_before(conversation)
    is_new = scene is not None and scene != before and scene.name not in FEELINGS
    is_early = open_question(conversation) == "mind"  # what would be different isn't so
    is_turned = (
        is_new and scene is not None and (scene.is_quiet or (is_early and (scene.is_grave or scene.is_glad)))
    )
    is_heavy = measure_intensity([SaidWords(text=words)]).is_high
    if is_turned or is_heavy or has_grieved(conversation) or is_of_loss(words) or is_about("harms", words):
        return False
    is_complaint = reading.act == "complain" and is_about("of_tour", words)
    is_told = plain_act(words) in ({""} if "?" in words else _TOLD_ACTS)
    return is_told and not (is_complaint or mended_in(words))


def _leaves(words: str) -> bool:
    """Return whether words say goodbye, rather than what is wanted or until when."""
    is_joined = _JOINS.match(words) or (_UNTIL.search(words) and len(words.split()) > _MIN_QUOTED)
    return not is_joined and is_about("takes_leave", words)


def _fits(conversation: Conversation) -> bool:
    """Return whether words can be what the question asks for, rather than the story that goes on."""
    words, name = conversation.exchanges[-1].answer, open_question(conversation)
    if name not in {"wish", "hands", "piece"} or len(words.split()) <= _BRIEF_WORDS:
        return True
    is_dated = any(days_in(words, today_in(conversation)))
    pattern: re.Pattern[str] = thread(texts.language())["heard"]["wish" if name == "wish" else "hands"]
    return (name == "piece" and is_dated) or bool(pattern.search(words.replace("’", "'")))


def asks_in(words: str) -> bool:
    """Return whether words ask something, rather than only say the question again or an answer doubtfully."""
    said = [each.strip() for each in _SENTENCES.findall(_own(words))]
    is_doubtful = not words.rstrip().endswith("?") or bool(said and doubts(said[-1]))
    parts = [each.strip(" ¿?") for each in said]
    return not is_doubtful or any(is_about(name, each) for each in parts for name in _QUESTIONS)


def doubts(words: str) -> bool:
    """Return whether words are said doubtfully."""
    return bool(thread(texts.language())["heard"]["doubts"].search(words))


def _own(words: str) -> str:
    """Return words without what is in quotation marks, and without how they join on to a question."""
    return _QUOTED.sub("", _JOINS.sub("", words))


def _asks_beside(words: str, reading: Reading) -> bool:
    """Return whether an answer is followed by a question that the tour has nothing to say to."""
    told = [each for each in _SENTENCES.findall(words) if not each.rstrip().endswith("?")]
    return reading.act == "asked" and len(" ".join(told).split()) >= _MIN_QUOTED and not plain_act(words)


def _is_none(words: str, heard: Heard) -> bool:
    """Return whether an answer says that there is none, or that the person doesn't know."""
    found = thread(texts.language())["heard"]["none"].search(words)
    return heard.kind in {"later", "no"} or (bool(found) and not _DOES_NOTHING.search(words))


def _begins_with_none(words: str) -> bool:
    """Return whether an answer begins by saying that there is none, or that the person doesn't know."""
    first = _FIRST_END.split(words, maxsplit=1)[0]
    found = thread(texts.language())["heard"]["none"].search(first)
    return bool(found) and not _DOES_NOTHING.search(first)


def _names_some(words: str) -> bool:
    return bool(thread(texts.language())["heard"]["some"].search(words))


def quoted(words: str) -> str:
    """Return an answer, or how it begins, word for word if that is short enough; nothing for others."""
    fillers: re.Pattern[str] = thread(texts.language())["heard"]["fillers"]
    plain = fillers.sub("", " ".join(words.split()))
    said = [each.strip() for each in _SENTENCES.findall(plain) if not each.endswith("?")]
    if _is_quotable(whole := (" ".join(said) if asks_in(plain) else plain).strip(_AROUND)):
        return whole
    parts = [*said, *(part for each in said for part in _CLAUSE_END.split(each))]
    fit = (part.strip(_AROUND) for part in parts if len(part.split()) >= _MIN_QUOTED)
    return next((f"{part} …" for part in fit if _is_quotable(part)), "")


def _is_quotable(words: str) -> bool:
    is_plain = not (set(words) & set('"“”„«»{}')) and not judges(words) and not says("fits_day", words)
    return _MIN_QUOTED <= len(words) <= _MAX_QUOTED and is_plain


def _say_again(conversation: Conversation) -> str:
    """Go on from what the person has said already, as they point out; nothing if they don't."""
    words = conversation.exchanges[-1].answer
    own = thread(texts.language())
    found = own["heard"]["again"].search(words.replace("’", "'"))
    is_other = asks_in(words) or is_about("takes_leave", words)
    if not found or is_other or len(conversation.exchanges) < _MIN_AGAIN:
        return ""
    weighed = zip(conversation.exchanges[:-1], weights_in(conversation), strict=False)
    earlier = [each.answer for each, weight in weighed if not (each.value or weight)]
    told = [words for words in earlier if "?" not in words]
    parts = [words[found.end() :] if words[found.end() :].lstrip().startswith((",", ":")) else ""]
    parts = [each.strip(_AROUND) for each in (*parts, words[: found.start()])]
    own_words = [each for each in parts if len(quoted(each).split()) >= _MIN_QUOTED]
    known = [*own_words, *reversed(told), ""][0]
    quote = quoted(known) or clip(" ".join(known.split()), _CLIPPED).rstrip(". ")
    said = fill(conversation, own["again"], quote) if quote and not judges(quote) else own["again_bare"][0]
    is_last = open_question(conversation) == "piece"
    return (
        join(said, _after(conversation, "piece")) if is_last else go_on(conversation, said, is_answered=True)
    )


def _say_meant(conversation: Conversation) -> str:
    """Take what the newest words put right as the answer to the question before; nothing for others."""
    words, newest = conversation.exchanges[-1].answer, conversation.exchanges[-1]
    own, before = thread(texts.language()), question_in(newest.question)
    found = own["heard"]["meant"].search(words)
    answered = question_in(conversation.exchanges[-2].question) if len(conversation.exchanges) > 1 else ""
    if not (found and before and answered) or asks_nothing(conversation) or asks_in(words):
        return ""
    quote = quoted(words[found.end() :])
    told = own[answered]["took"].format(words=quote) if quote else own[answered]["told"]
    again = next((each for each in own[before]["asks"] if each in newest.question), "")
    return join(own["meant"], told, again)


def _say_of_draft(conversation: Conversation) -> str:
    """Return three checks for a sentence in quotation marks that they ask about; nothing for others."""
    draft = draft_in(conversation.exchanges[-1].answer)
    return fill(conversation, thread(texts.language())["draft"], draft) if draft else ""


def draft_in(words: str) -> str:
    """Return the sentence in quotation marks of which words ask how it sounds, or nothing."""
    found, asks = _QUOTED.search(words), thread(texts.language())["heard"]["draft"]
    return found[1].strip(" .!") if found and asks.search(words.replace(found[0], " ")) else ""


def _has_told_how(said: str) -> bool:
    own = thread(texts.language())
    return any(each in said for each in (own["keep"], own["keep_dated"], *own["yes"]))


def _say_how(conversation: Conversation, heard: Heard) -> str:
    """Return how a step is said, to who only agrees that it goes on the list, or only names its day."""
    own, newest = thread(texts.language()), conversation.exchanges[-1]
    is_day = len(newest.answer.split()) <= _MIN_QUOTED and any(days_in(newest.answer, today_in(conversation)))
    if not (_has_told_how(newest.question) and (heard.kind == "yes" or is_day)):
        return ""
    return unsaid(conversation, own["yes"])


def said_as_step(conversation: Conversation) -> Plan | None:
    """Return the step that is said with its day right after the tour asked for that; None for other words."""
    newest = conversation.exchanges[-1]
    if newest.value or not _has_told_how(newest.question) or CREATE not in conversation.tools:
        return None
    own = thread(texts.language())["heard"]
    words = own["fillers"].sub("", newest.answer.strip())
    is_other = is_about("takes_leave", words) or asks_in(words) or own["no_step"].search(words)
    return None if is_other else said_bare(conversation, words)
