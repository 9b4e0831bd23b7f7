"""The person's own words said back: a script that understands nothing can at least keep to what was said."""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
from coaching.practice.coach.colloquial import standard
from coaching.practice.coach.conversation import Conversation
from coaching.practice.coach.hearing import hear
from coaching.practice.coach.reading import has_just_asked, wants_no_questions
from coaching.practice.coach.spoken import PATTERNS
from coaching.practice.coach.tables import is_put_in

_REACTS = frozenset(PATTERNS["common"]["reacts"].split())
"""Words that only react."""
_TELLS = frozenset({"tell", "open", "confide"})
_CLAUSE_WORDS = range(4, 14)
_MIN_WORDS, _MIN_BESIDE = 10, 4
"""So many words the message has, and so many outside the clause."""
_CLAUSE = re.compile(r"[^.,;:!?…\n()\"“”„«»–]++")
_MAX_ECHOED = 3
"""So often in a row something is said back."""
_ECHOED = range(3, 13)
"""So many words a message has that is said back whole."""
_UNFIT = re.compile(
    r"[?()\"“”„«»]|\b(?:you|your)\b|\bi (?:don['’]t|do not|can['’]t) (?:know|say|tell)\b"
    r"|\b(?:hate[sd]?|stupid|die|conversation|chat|app|script|bot)\b"
    r"|\A(?:and|but|no|yes|ok|well|so|also)\b",
    re.IGNORECASE,
)
"""What isn't one plain statement about anything but the tour."""
_JUDGES = re.compile(
    r"\b(?:failures?|worthless|useless|deserv\w*|ruin\w*|disgust\w*|worst|nobody|no one|not (?:good )?enough"
    r"|cowards?|liars?|losers?|burden|pathetic|unlovable|idiots?|not good at|good for nothing|ugly"
    r"|versager\w*|wertlos\w*|nutzlos\w*|verdien\w*|ruin\w*|widerlich\w*|ekelhaft\w*|feigling\w*|lügner\w*"
    r"|niemand|nicht genug|belastung|hässlich\w*|erbärmlich\w*|abschaum|dumm\w*"
    r"|fracas\w*|in[uú]til\w*|merezco|arruin\w*|asco|asqueros\w*|cobarde\w*|mentiros\w*|nadie"
    r"|no (?:soy )?suficiente|una carga|perdedor\w*|fe[oa]|patétic\w*)\b",
    re.IGNORECASE,
)
"""How somebody judges themselves, or says who does: said back, it would be the tour's judgement."""
_LEADS = re.compile(
    r"\A(?:(?:ok|so|and|anyway|fine|lol|idk|i (?:suppose|guess|think|mean))\b[ ,.!…]{0,4})+", re.IGNORECASE
)
_PARTS = re.compile(r"[.!…\n]+\s{0,3}|[,;:–—]\s{1,3}|\s(?:but|because)\s")
"""What ends a part of a message that may be said back by itself."""
_FILLERS = re.compile(
    r"\A(?:(?:hm+|well|yeah|yes|no|nope|nah|ok|okay|oh|ah|ugh|honestly)\b[ ,.!…]{0,4})+",
    re.IGNORECASE,
)
_YOURS = {
    "i": "you", "i'm": "you're", "i've": "you've", "i'd": "you'd", "i'll": "you'll", "my": "your",
    "me": "you", "mine": "yours", "myself": "yourself", "i am": "you are", "i was": "you were",
    "im": "you're", "we": "you", "our": "your", "we're": "you're", "we've": "you've", "us": "you",
    "we'll": "you'll", "we'd": "you'd", "ours": "yours",
}  # fmt: skip
_MINE = re.compile(
    r"\bi (?:am|was)\b|\b(?:i['’](?:m|ve|d|ll)|we['’](?:re|ve|ll|d)|im|i|my|me|mine|myself|we|ours?|us)\b",
    re.IGNORECASE,
)
_TURNED_WRONG = re.compile(
    r"\b(?:am i|was i|thing is|lol|haha|idk|let|today i|ourselves)\b|\b(?:am|was) \w+ing me\b"
    r"|\bi \w+ly (?:am|was)\b|\bi (?:just|also|still|never|always|only) (?:am|was)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\A(?:the|a|my|der|die|das|mein|meine|el|la|los|las|mi|mis)\s+", re.IGNORECASE)
_ITS = re.compile(
    r"\bits(?= (?:the|a|an|not|so|too|been|my|just|really|all|like|hard|about|only|always"
    r"|never|getting|going)\b)",
    re.IGNORECASE,
)
_TAILS = re.compile(
    r"[ ,]{0,3}\b(?:i (?:guess|suppose|think)|lol|haha|tho|though|anyway|actually|to be honest|tbh|honestly"
    r"|really)\Z",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?:(?:maybe|perhaps) )?(?:i|i['’]\w{1,2}|im|we|we['’]\w{1,2}|my|our|he|she|it|they"
    r"|(?:he|she|it|they)['’]\w{1,2}"
    r"|his|her|their|the|there|there['’]s|this|that|that['’]s|a|an|some|both|all|everybody|everyone|people|today"
    r"|yesterday|tomorrow|last (?:night|week|year)|this (?:week|morning)|work|school|life|things|everything"
    r"|nothing|nobody|somebody|someone|one of (?:my|the|them|us))\s",
    re.IGNORECASE,
)
"""How an English statement begins that can be said back."""
_DEPENDS = re.compile(
    r"\A(?:forgive|sorry|don't|if|which|that|who|die ich|der ich|das ich|dass|wenn|si|cuando)\b",
    re.IGNORECASE,
)
"""How clauses begin that don't stand alone."""
_HEDGES = re.compile(
    r"\A(?:(?:yeah|yes|no|probably|mostly|mainly|maybe|just|only|about|like)\b[ ,]{0,3})+", re.IGNORECASE
)
_PLAIN = re.compile(r"[^\W_]+(?:[ '’-][^\W_]+)*")
_NO_THING = re.compile(
    r"\b(?:you|i|me|we|he|she|they|never|always|says?|said|went|got|gets|made|makes|thinks?|knows?|feels?"
    r"|felt|is|are|was|were|am|be|do|does|did|don't|have|has|had|can|can't|could|will|won't|would"
    r"|should|not|no|sounds?|maybe|perhaps|really|then|now|this|that|it|ok|okay|fine|sure|sorry|please|thanks|what|why|how)\b|n't\b|['’](?:re|ve|ll|d|m)\b",
    re.IGNORECASE,
)
"""What is in no few words that only name something."""
_FRAGMENT = range(1, 6)
"""So many words may be said back that are no statement."""
_JOINS = re.compile(
    r"\A(?:(?:and|but|so|then|because|cause|also|und|aber|weil|dann|denn|y|pero|porque|encima|que)\s+)+",
    re.IGNORECASE,
)


def say_back(conversation: Conversation, words: str, act: str) -> str:
    """Return a single word, or a longer English message's last clause, with how to go on; or nothing.

    In German and Spanish, whose verbs would have to change, a clause said back reads like a machine's.
    """
    if act in {*_TELLS, "short"} and hear(words).kind == "answer" and (few := _few_of(words)):
        return next((each.format(words=few) for each in _unsaid(conversation, "word")), "")
    is_english = texts.language() == texts.ENGLISH
    if not is_english or act not in _TELLS or conversation.is_first or len(words.split()) < _MIN_WORDS:
        return ""
    last = _JOINS.sub("", [each.strip() for each in _CLAUSE.findall(words) if each.strip()][-1])
    count = len(last.split())
    unsaid = _unsaid(conversation, "echo")
    last = _turned(last)
    if (
        not unsaid
        or not last
        or _DEPENDS.match(last)
        or judges(last)
        or count not in _CLAUSE_WORDS
        or len(words.split()) < count + _MIN_BESIDE
    ):
        return ""
    return unsaid[0].format(words=last)


def _few_of(words: str) -> str:
    """Return a single word, in English up to a few, that can be said back; or nothing."""
    if judges(words):
        return ""
    word = words.strip(" .,!")
    is_word = _ARTICLE.sub("", word.lower()).isalpha() and _ARTICLE.sub("", word.lower()) not in _REACTS
    if is_word:
        return word
    return _fragment_in(standard(words)) if texts.language() == texts.ENGLISH else ""


def judges(words: str) -> bool:
    """Return whether words judge somebody so harshly that they aren't said back."""
    return bool(_JUDGES.search(words))


def echo(conversation: Conversation, words: str, act: str, *, is_mute: bool = False) -> str:
    """Return a short English message said back, as said to the person, and how to go on; or nothing.

    `is_mute`: nothing is asked.
    """
    if texts.language() != texts.ENGLISH:
        return ""
    said = _last_statement(standard(words))
    is_fit = act in _TELLS and bool(said)
    last = conversation.exchanges[-1].question
    if conversation.arc and is_put_in(conversation.arc.name, last):
        return ""  # the arc's question follows
    recent = [each.question for each in conversation.exchanges[-_MAX_ECHOED:]]
    is_again = all(any(each.partition("}")[2] in last for each in texts.answers("echo")) for last in recent)
    if not is_fit or is_again or hear(words).kind != "answer":
        return ""
    turned = _turned(said)
    unsaid = [each for each in _unsaid(conversation, "echo") if not (is_mute and each.endswith("?"))]
    return unsaid[_turn_of(conversation) % len(unsaid)].format(words=turned) if turned and unsaid else ""


def _last_statement(words: str) -> str:
    """Return the last part of a message that is one plain statement, without how it begins; or nothing."""
    if "?" in words:
        return ""
    words = _ITS.sub("it's", words)
    parts = [_JOINS.sub("", _LEADS.sub("", _FILLERS.sub("", each.strip()))) for each in _PARTS.split(words)]
    said = [_TAILS.sub("", each.strip(" .!…'")).strip(" .!…'") for each in parts]
    fit = [
        each for each in said
        if len(each.split()) in _ECHOED and _SUBJECT.match(each)
        and not (_UNFIT.search(each) or judges(each))
        and not (_DEPENDS.match(each) or _TURNED_WRONG.search(each))
    ]  # fmt: skip
    return fit[-1] if fit else ""


def _turn_of(conversation: Conversation) -> int:
    """Return a number that differs between conversations, so that not all of them begin alike."""
    return sum(map(ord, conversation.exchanges[0].answer))


def _fragment_in(words: str) -> str:
    """Return a few words that only name something, without how they begin; nothing for any others."""
    said = _JOINS.sub("", _LEADS.sub("", _FILLERS.sub("", words.strip()))).strip(" .!,…")
    said = _ARTICLE.sub("", _HEDGES.sub("", said))
    count = len(said.split())
    is_plain = bool(_PLAIN.fullmatch(said)) and not _NO_THING.search(said)
    is_reaction = all(each in _REACTS for each in said.lower().split())
    return said if count in _FRAGMENT and is_plain and not is_reaction else ""


def _turned(said: str) -> str:
    """Return English words said to the person who said them; nothing where that could go wrong."""
    if _TURNED_WRONG.search(said) or not _SUBJECT.match(said):
        return ""
    turned = _MINE.sub(lambda found: _YOURS[found[0].lower().replace("’", "'")], said)
    return turned[:1].upper() + turned[1:]


def _unsaid(conversation: Conversation, name: str) -> Sequence[str]:
    """Return the wordings that weren't said yet; those that ask only if no question was just asked."""
    is_mute = has_just_asked(conversation) or wants_no_questions(conversation)
    new = [each for each in texts.answers(name) if each.partition("{words}")[2] not in conversation.spoken]
    return [each for each in new if not (is_mute and each.endswith("?"))]
