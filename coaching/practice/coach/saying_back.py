"""The person's own words said back: a script that understands nothing can at least keep to what was said."""

import re
from collections.abc import Sequence

from coaching.practice.coach import texts
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
_ECHOED = range(3, 13)
"""So many words a message has that is said back whole."""
_UNFIT = re.compile(
    r"[?:;()\"“”„«»\n]|[.!,…]\s{1,3}\w|\b(?:you|your)\b"
    r"|\b(?:feel\w*|felt|hate|stupid|conversation|chat|app|script|bot)\b"
    r"|\A(?:and|but|no|yes|ok|well|so|also)\b",
    re.IGNORECASE,
)
"""What isn't one plain statement about anything but the tour."""
_LEADS = re.compile(
    r"\A(?:(?:ok|so|and|anyway|fine|lol|idk|i (?:suppose|guess|think|mean))\b[ ,.!…]{0,4})+", re.IGNORECASE
)
_SENTENCES = re.compile(r"(?<=[.!…])\s{1,3}(?=\w)")
_FILLERS = re.compile(
    r"\A(?:(?:hm+|well|yeah|ok|okay|oh|ah|ugh|honestly)\b[ ,.!…]{0,4})+",
    re.IGNORECASE,
)
_YOURS = {
    "i": "you", "i'm": "you're", "i've": "you've", "i'd": "you'd", "i'll": "you'll", "my": "your",
    "me": "you", "mine": "yours", "myself": "yourself", "i am": "you are", "i was": "you were",
    "im": "you're", "we": "you", "our": "your", "we're": "you're", "we've": "you've",
}  # fmt: skip
_MINE = re.compile(
    r"\bi (?:am|was)\b|\b(?:i['’](?:m|ve|d|ll)|we['’](?:re|ve)|im|i|my|me|mine|myself|we|our)\b",
    re.IGNORECASE,
)
_TURNED_WRONG = re.compile(
    r"\b(?:am i|was i|us|we'll|we'd|thing is|lol|haha|idk|let|today i)\b|\b(?:am|was) \w+ing me\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\A(?:the|a|my|der|die|das|mein|meine|el|la|los|las|mi|mis)\s+", re.IGNORECASE)
_SUBJECT = re.compile(
    r"(?:i|i['’]\w{1,2}|im|we|we['’]\w{1,2}|my|our|he|she|it|they|(?:he|she|it|they)['’]\w{1,2}"
    r"|his|her|their|the|there|this|that|a|an|some|both|all|everybody|everyone|people)\s",
    re.IGNORECASE,
)
"""How an English statement begins that can be said back."""
_DEPENDS = re.compile(
    r"\A(?:forgive|sorry|don't|if|which|that|who|die ich|der ich|das ich|dass|wenn|si|cuando)\b",
    re.IGNORECASE,
)
"""How clauses begin that don't stand alone."""
_JOINS = re.compile(
    r"\A(?:(?:and|but|so|then|because|cause|also|und|aber|weil|dann|denn|y|pero|porque|encima|que)\s+)+",
    re.IGNORECASE,
)


def say_back(conversation: Conversation, words: str, act: str) -> str:
    """Return a single word, or a longer English message's last clause, with how to go on; or nothing.

    In German and Spanish, whose verbs would have to change, a clause said back reads like a machine's.
    """
    word = _ARTICLE.sub("", words.strip(" .,!").lower())
    if act in {*_TELLS, "short"} and word.isalpha() and word not in _REACTS and hear(words).kind == "answer":
        return next((each.format(words=words.strip(" .,!")) for each in _unsaid(conversation, "word")), "")
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
        or count not in _CLAUSE_WORDS
        or len(words.split()) < count + _MIN_BESIDE
    ):
        return ""
    return unsaid[0].format(words=last)


def echo(conversation: Conversation, words: str, act: str) -> str:
    """Return a short English message said back, as said to the person, and how to go on; or nothing."""
    if texts.language() != texts.ENGLISH:
        return ""
    said = _FILLERS.sub("", " ".join(words.split())).strip(" .!…")
    said = _last_statement(_LEADS.sub("", said))
    is_fit = act in _TELLS and len(said.split()) in _ECHOED and not _UNFIT.search(said)
    last = conversation.exchanges[-1].question
    if conversation.arc and is_put_in(conversation.arc.name, last):
        return ""  # the arc's question follows
    is_again = any(each.partition("}")[2] in last for each in texts.answers("echo"))
    if not is_fit or is_again or conversation.is_first or hear(words).kind != "answer":
        return ""
    turned = _turned(said)
    unsaid = [each for each in _unsaid(conversation, "echo") if turned]
    return unsaid[0].format(words=turned) if unsaid else ""


def _last_statement(words: str) -> str:
    """Return the last sentence of several that can be said back; the words themselves if none can."""
    sentences = [_FILLERS.sub("", each.strip()).strip(" .!…") for each in _SENTENCES.split(words)]
    fit = [each for each in sentences if _SUBJECT.match(each) and len(each.split()) in _ECHOED]
    return fit[-1] if len(sentences) > 1 and fit and "?" not in words else words


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
