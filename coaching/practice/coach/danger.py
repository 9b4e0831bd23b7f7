"""What the tour says to words that sound like danger: it points to people, and waits.

Where nothing names a danger and only weights suggest one, it asks once, and the next words decide: unless
they are a clear no, or plainly ask for something else, it points to help.
"""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.after_danger import is_still_there, says_yes
from coaching.practice.coach.confiding import is_confided
from coaching.practice.coach.conversation import Conversation, Exchange
from coaching.practice.coach.harm import asks_of_harm
from coaching.practice.coach.hearing import danger_heard, hear
from coaching.practice.coach.leaving import takes_leave
from coaching.practice.coach.replay import is_safe
from coaching.practice.coach.talk import answer_questions
from coaching.practice.coach.thread import weights_in
from coaching.practice.coach.walking import say
from coaching.practice.coach.wordings import without_question
from coaching.practice.script import Reply, ToolUse
from coaching.safety.answers import danger_in_answer, may_take_back
from coaching.safety.doing import agrees_to_do
from coaching.safety.lines import Line, shipped_offer

MAX_HELP_LINES = 5
_STEP_TOOLS = ("create_action_item", "resolve_action_item")
_SHORT_ANSWER = 4
_EVERYDAY = re.compile(
    r"(?=.{0,80}\balready\b)\W{0,9}(?:(?:and|but|so|well|ok|yes|no),? )?"
    r"(?:i(?:['’]ve| have)? (?:already )?(?:sent (?:(?:him|her|them) )?"
    r"(?:\d{1,2}|a|an|two|three|four|five|six|ten|several|some) "
    r"(?:reminders?|invoices?|applications?|e-?mails?)"
    r"|tried (?:that|this)(?: once| twice| three times| before)?|told (?:him|her)(?: that| so| twice)?"
    r"|(?:paid|packed|bought) (?:(?:the|my|our|his|her|a|an|some) )?"
    r"(?:(?:train|bus|birthday|christmas|electricity|water|phone|school) )?"
    r"(?:rent|bills?|invoices?|deposit|tickets?|lunch|boxes|suitcases?|groceries|milk|bread|cake|presents?"
    r"|gifts?|books?|shoes|dress|paint))"
    r"|it(?:['’]s| is) (?:already )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march"
    r"|april|may|june|july|august|september|october|november|december))(?: already)?\W{0,9}",
    re.IGNORECASE,
)
"""Whole messages that only weigh because of “already”, and are said of everyday things."""
_YES = re.compile(r"\W*(?:yes|ja|sí)\b", re.IGNORECASE)
_SHORT_WISH = 6
_BEFORE = (
    r"what|huh|(?:oh )?(?:my |good )?(?:god|lord|gosh|goodness)|jesus|oh|ah|hey|wow"
    r"|was|wie(?: bitte)?|hä|ach(?: was)?|quatsch"
    r"|(?:oh |mein )?gott|um (?:gottes|himmels) willen"
    r"|qu[eé]|c[oó]mo|perd[oó]n|(?:ay |por )?dios(?: m[ií]o)?|ay|uy|hombre|mujer|oye"
)
_HESITATING = r"u+h?m+|u+h+|erm*|hm+|ähm*|eh|em+|sorry|wait"
_ECHOED = (
    r"me|i|am|do|thinking|think|of|about|(?:harm|hurt|kill)ing|myself"
    r"|ich|mir|mich|selbst|etwas|was|antun|anzutun|denke|daran"
    r"|yo|hacerme|daño|pensar|pienso|pensando|estoy|en"
)
_NOT_THINKING = (
    r"i(?:['’]| a)m not thinking (?:of|about) (?:harm|hurt|kill)ing myself"
    r"|ich denke nicht da?ran,? mir (?:et)?was anzutun|no (?:estoy pensando|pienso) en hacerme daño"
)
_PLAIN_NO = (
    r"no|nope|nah|nein|nö|nee|of course not|not at all|natürlich nicht|überhaupt nicht"
    r"|claro que no|para nada|qu[eé] va"
)
_NO = re.compile(
    rf"\W*+(?P<before>(?:(?:{_ECHOED})(?: (?:{_ECHOED})){{0,7}} ?\?\W*+)?"
    rf"(?:(?:{_BEFORE}|(?P<hesitant>{_HESITATING}))\b\W{{1,6}}){{0,2}})"
    rf"(?:(?:(?:{_PLAIN_NO})\W{{1,3}})?(?P<thinking>{_NOT_THINKING})"
    rf"|(?:{_PLAIN_NO})(?: (?:i(?:'m|’m| am) not|thanks?|thank you|danke|gracias))?)"
    r"(?:\W*\Z|[,.;:!–—])",
    re.IGNORECASE,
)
"""A no, after an interjection or the question's own words, too: "What? No!", "Me? No." """
_EXPLAINS = re.compile(
    r"\bi(?: was|(?:['’]| a)m)? (?:only |just )?(?:(?:talking|writing|speaking) (?:about|of)|meant|mean)"
    r" [^.!?;,\n]{2,60}|\bich (?:hab(?:e)?|meinte?|rede|redete|sprach) (?:nur |bloß )?[^.!?;,\n]{2,60}"
    r"|\bes ging (?:nur |bloß )?um [^.!?;,\n]{2,60}"
    r"|\b(?:solo )?(?:hablaba|estaba hablando|me refería|lo decía) (?:de|a|por) [^.!?;,\n]{2,60}",
    re.IGNORECASE,
)
"""What the person says that they meant."""
_WHY_ASKED = re.compile(
    r"\b(?:why (?:would|do|did|are|should) (?:you|u) (?:even |just )?(?:ask\w*|think)"
    r"|what makes you (?:ask|think)"
    r"|(?:warum|wieso|weshalb) (?:fragst|denkst|willst) du|por qué (?:me )?(?:lo )?(?:preguntas|piensas))"
    r"[^.!?\n]{0,30}[.!?]*",
    re.IGNORECASE,
)
_DARK_OBJECT = re.compile(
    r"\b(?:it|that|this|pills?|tablets?|meds|rope|noose|knife|blade|gun|bridge|roof|train|die|died|dying|dead"
    r"|death|kill\w*|suicid\w*|harm\w*|hurt\w*|ending|end|cut\w*|myself|goodbye|funeral|grave|sleep\w*|plan\w*"
    r"|das|daran|tod|tot|sterben|umbring\w*|suizid|tabletten|pillen|messer|brücke|seil|mich|mir|schluss"
    r"|eso|esto|muerte|morir\w*|matar\w*|pastillas|cuchillo|puente|cuerda|daño|acabar)\b",
    re.IGNORECASE,
)
"""What an explanation names that doesn't make a no any clearer."""
_BUT = re.compile(
    r"\b(?:but|not (?:yet|now|today|really|right now|any ?more|sure|always|exactly)|sometimes|often|maybe"
    r"|a (?:bit|little)|(?:don['’]t|do not) know|dunno|no idea|i (?:guess|suppose)|kind of|sort of"
    r"|although|lately|aber|noch nicht|nicht (?:mehr|sicher|immer|ganz)|heute nicht|nicht heute|manchmal"
    r"|oft|vielleicht|ein bisschen|wei(?:ß|ss) (?:ich |es )?(?:nicht|nich)|keine ahnung|obwohl|irgendwie"
    r"|pero|todavía|aún|hoy no|no hoy|ya no|a veces|quizás?|tal vez|un poco|no sé(?! cómo)|no lo s[eé]"
    r"|ni idea|segur[oa]|aunque|no siempre)\b|[.,;:…–—-]\s?(?:well|naja|bueno)\b",
    re.IGNORECASE,
)
"""What makes a no one that isn't clear."""


def is_in_danger(conversation: Conversation) -> bool:
    """Return whether words sounded like danger.

    Immediate danger lasts until the person says that they're safe, anything else until they write again.
    """
    return any(_open_levels(conversation)[-1:])


def _open_levels(conversation: Conversation) -> Sequence[str]:
    """Return the level of the danger that is open after each exchange, or nothing."""
    levels = [""]
    has_asked = False
    for exchange, weight in zip(conversation.exchanges, weights_in(conversation), strict=True):
        has_asked = has_asked or was_asked_about_danger(exchange)
        is_harmless = not (any(levels) or has_asked) and _agrees_to_step(conversation, exchange)
        level = "" if is_harmless else _level_of(exchange, is_open=bool(levels[-1]), has_asked=has_asked)
        level = level or ("concern" if has_asked and weight == "danger" else "")
        lasts = levels[-1] == "immediate" and (bool(level) or not is_safe(exchange.answer))
        levels.append("immediate" if lasts else level)
    return levels[1:]


def answer_danger(conversation: Conversation) -> Reply | None:
    """Point to help; ask about immediate danger that the newest words only suggest; None without either."""
    if is_in_danger(conversation):
        return point_to_help(conversation)
    if _suggested_level(conversation) != "immediate":
        return None
    heard = answer_questions(conversation) or without_question(texts.answers("felt")[0])
    return say(heard, texts.said("help_maybe"))


def line_of_help(conversation: Conversation) -> str:
    """Return a line for the end of the answer to words that suggest a concern, or ask about harm.

    The tour says it once, and not after it has asked; the page shows its card in any case.
    """
    if _leaves_lightly(conversation):
        return ""
    said = [exchange.question for exchange in conversation.exchanges]
    has_spoken = any(texts.stands_in(name, each) for name in ("help_maybe", "help_hint") for each in said)
    is_due = _suggested_level(conversation) == "concern" or asks_of_harm(conversation)
    return texts.said("help_hint") if is_due and not has_spoken else ""


def _leaves_lightly(conversation: Conversation) -> bool:
    """Return whether the newest words say goodbye to a conversation in which nothing hard was told."""
    newest = conversation.newest
    is_goodbye = newest is not None and takes_leave(newest.answer) and len(conversation.exchanges) > 1
    earlier = [each.answer for each in conversation.exchanges[:-1] if not each.value]
    return is_goodbye and not any(is_confided(each) or danger_heard(each) for each in earlier)


def suggests_danger(conversation: Conversation) -> bool:
    """Return whether the newest words suggest danger without naming it."""
    return bool(_suggested_level(conversation))


def _suggested_level(conversation: Conversation) -> str:
    """Return the level of danger that the newest words only suggest, or nothing."""
    newest = conversation.newest
    if newest is None or newest.value or is_in_danger(conversation):
        return ""
    if weights_in(conversation)[-1] == "danger":
        return "immediate"
    if _agrees_to_step(conversation, newest):
        return ""
    found = danger_heard(newest.answer)
    is_everyday = _EVERYDAY.fullmatch(newest.answer) is not None  # the page shows its card in any case
    return found.level if found and not is_everyday else ""


def _agrees_to_step(conversation: Conversation, exchange: Exchange) -> bool:
    """Return whether words only say when a proposal, or a step just noted or offered, will be done."""
    earlier = [each.position for each in conversation.exchanges if each.position < exchange.position]
    since = min(earlier[-2:]) if len(earlier) > 1 else 0  # before the yes or no to a card
    steps = [
        str(call.input.get("title", ""))
        for call in conversation.calls
        if call.name in _STEP_TOOLS and since < call.position < exchange.position
    ]
    asked = "\n".join([exchange.question, *(f"Next step: {title}" for title in steps)])
    return agrees_to_do(exchange.answer, asked=asked)


def denies_danger(conversation: Conversation) -> bool:
    """Return whether the newest words say no to the tour's question."""
    newest = conversation.newest
    return newest is not None and was_asked_about_danger(newest) and _denies(newest)


def thanks_for_no(conversation: Conversation) -> str:
    """Thank for a no to the tour's question, with why it asked if that is wondered at, or nothing."""
    if not denies_danger(conversation):
        return ""
    answer = conversation.exchanges[-1].answer
    is_wondering = _WHY_ASKED.search(answer) or _EXPLAINS.search(answer)
    return " ".join([texts.said("care_thanks"), *([texts.said("why_asked")] if is_wondering else [])])


def was_asked_about_danger(exchange: Exchange) -> bool:
    return texts.stands_in("help_maybe", exchange.question)


def point_to_help(conversation: Conversation) -> Reply:
    """Point to help lines; show their card where the tool is offered and the page hasn't shown it."""
    section = conversation.section("help_lines")
    shown = next((c for c in conversation.part_calls if c.name == "show_help_lines"), None)
    is_immediate = "immediate" in _open_levels(conversation)
    if shown is None and "show_help_lines" in conversation.tools and 'shown="yes"' not in section:
        reason = "immediate" if is_immediate else "concern"
        return Reply.of(ToolUse("show_help_lines", {"reason": reason}))
    noted = [line[2:] for line in section.splitlines() if line.startswith("- ")]
    found = noted or (shown.values.get("lines") if shown else None) or map(_in_words, shipped_offer().lines)
    lines = "\n".join(f"- {line}" for line in list(found)[:MAX_HELP_LINES])
    if noted and 'shown="yes"' in section and texts.language() != texts.ENGLISH:
        lines = texts.said("help_card")  # the request has them in English, the card in the person's language
    if not is_immediate:
        asked = answer_questions(conversation) if was_asked_about_danger(conversation.exchanges[-1]) else ""
        return say(asked, texts.said("help_concern"), lines)
    is_again = any(texts.stands_in("safe", exchange.question) for exchange in conversation.exchanges[-1:])
    is_third = any(
        texts.stands_in("help_stay", exchange.question) for exchange in conversation.exchanges[-1:]
    )
    name = "help_still" if is_third else "help_stay" if is_again else "help_first"
    return say(texts.said(name), lines, texts.said("safe"))


def _level_of(exchange: Exchange, *, is_open: bool, has_asked: bool) -> str:
    """Return the level of danger that an answer names, or nothing where it names none or only suggests it.

    What suggests it counts while danger is open and right after the tour has asked about it; so does
    immediate danger that is suggested once more. Right after the question, whatever doesn't deny it is a
    concern.
    """
    if exchange.value or (
        not (is_open or has_asked) and agrees_to_do(exchange.answer, asked=exchange.question)
    ):
        return ""
    answer, is_answer = exchange.answer, was_asked_about_danger(exchange)
    if is_answer and _agrees(answer):
        return "immediate"
    if found := danger_heard(answer):
        if is_open or is_answer or not found.is_weighed:
            return found.level
        return "concern" if has_asked and found.level == "immediate" else ""
    if is_still_there(exchange):
        return "immediate"
    return "concern" if is_answer and not (_denies(exchange) or _wants_another_thing(answer)) else ""


def _agrees(answer: str) -> bool:
    """Return whether an answer to the tour's question begins with a yes, or is short and means one."""
    is_short = len(answer.split()) <= _SHORT_ANSWER
    return bool(_YES.match(answer)) or (is_short and says_yes(answer))


def _denies(exchange: Exchange) -> bool:
    """Return whether an answer to the tour's question is a clear no that nothing in it takes back."""
    answer = exchange.answer
    found = _NO.match(answer)
    rest = _without_explanation(answer[found.end() :]) if found else ""
    if found and (found["before"] or found["thinking"]) and may_take_back(rest):
        return False
    if found and found["hesitant"] and rest.strip():
        return False
    is_no = bool(found) or (is_safe(answer) and len(answer.split()) <= _SHORT_ANSWER)
    return is_no and not _BUT.search(answer) and danger_in_answer(answer, asked=exchange.question) is None


def _without_explanation(rest: str) -> str:
    """Return what follows a no, without what the words were about and why it was asked.

    An explanation that names means, death or “it” takes nothing away.
    """
    plain = _WHY_ASKED.sub(" ", rest)
    return _EXPLAINS.sub(lambda found: found[0] if _DARK_OBJECT.search(found[0]) else " ", plain)


def _wants_another_thing(answer: str) -> bool:
    """Return whether an answer to the tour's question plainly asks for something that the tour shows."""
    return len(answer.split()) <= _SHORT_WISH and hear(answer).kind in {"menu", "wish"}


def _in_words(line: Line) -> str:
    return " · ".join(filter(None, (line.name, line.phone, line.text, line.site)))
