"""Which part of an answer in the thread answers its question: that is quoted, word for word, or nothing is.

Each sentence is judged by itself. Comments on the question, and the question said again, are passed over. Of
the others that one counts that says what is asked for: `wish` what they would like, `hands` what they can do,
`piece` what and when. A clause is quoted alone only where it is whole without the rest.
"""

import re
from collections.abc import Iterator, Mapping

from coaching.practice.coach import texts
from coaching.practice.coach.days import days_in
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.on_list import says
from coaching.practice.coach.statements import judges
from coaching.practice.coach.thread import thread
from coaching.safety.readable import plain_letters

SENTENCES = re.compile(r"[^.!?…\n]++[.!?…]*+")
QUOTED = re.compile('["“„«‘]([^"“”„«»‘’\n]{8,200})["”“»’]')
AROUND = " .,;:!…–-"
_MAX_QUOTED, _MIN_QUOTED, _MIN_WORDS = 90, 3, 2
_MAX_ECHO_WORDS = 8
_DOES_NOTHING = re.compile(
    r"\b(?:nichts|nix|nada) (?!mehr\b|\w+es\b)\w{2,12}(?:en|[aei]r)\W*\Z", re.IGNORECASE
)
"""A thing to do that begins like a word for none: "nichts sagen"."""
_WORD = re.compile(r"\w{4,}")
_STEM = 4
JOINS = re.compile(r"\A\W*(?:that|dass|que)\s+", re.IGNORECASE)
"""How an answer begins that goes on from the question's words."""
_QUESTIONS = ("question", "asks_plainly", "what_to_do", "advice")
_AFTERWARDS = re.compile(
    r"[;:](?=\s)|\s[–—-]\s"
    r"|(?<![\s,]),?\s++(?=(?:because|cos|since|so (?!that\b)|and (?:then|i|he|she|they)\b"
    r"|weil|denn|und (?:dann|ich)\b"
    r"|da (?!ss)|sonst|porque|ya que|así que|y (?:así|luego)\b)\b)",
    re.IGNORECASE,
)
"""Where a clause ends that is whole without the rest."""
_LEADS = re.compile(r"\A\W*(?:(?:ach|na|well|pues|bueno)\W+)?(?:was|what(?:'?s)?|lo que)\s", re.IGNORECASE)
"""How an answer begins that says first what was asked: “What bothers me most is …”."""
_TRAILS = re.compile(
    r"(?<![\s,])[\s,]++(?:i (?:guess|suppose|think)|or (?:something|so)|lol|ha(?:ha)++"
    r"|(?:glaube?|denke?|schätze?) ich"
    r"|ich (?:glaube?|denke?|schätze?)|oder so|halt|maybe|perhaps|vielleicht"
    r"|quizás?|tal vez|supongo|imagino|creo(?: yo)?|o algo(?: así)?|ja(?:ja)++)\W*\Z",
    re.IGNORECASE,
)
"""What is only said after an answer."""
_BUT = re.compile(
    r"(?<![\s,]),?\s++(?:but|though|although|only that|aber(?! (?:nie|immer|nicht|auch)\b[^,]{0,12}\Z)"
    r"|allerdings|nur dass|pero|aunque|solo que|lo que pasa es que)\s",
    re.IGNORECASE,
)
"""Where what speaks against an answer begins."""
_BUT_FIRST = re.compile(r"\A\W*(?:but|though|aber|allerdings|pero|aunque)\s", re.IGNORECASE)
"""How a sentence begins that speaks against the one before."""


def _heard() -> Mapping[str, re.Pattern[str]]:
    found: Mapping[str, re.Pattern[str]] = thread(texts.language())["heard"]
    return found


def without_comments(words: str, question: str = "") -> str:
    """Return an answer without its sentences that only comment on the question, or say it again."""
    said = [each.strip() for each in SENTENCES.findall(words)]
    kept = [each for each in said if not (_comments(each) or _says_again(each, question))] or said
    told = [_heard()["fillers"].sub("", each) if _LEADS.match(each) else each for each in kept]
    return " ".join(told) if told != said else words


def _comments(sentence: str) -> bool:
    bare = bare_of(sentence).replace("’", "'")
    if sentence.endswith("?") or _BUT_FIRST.match(sentence) or not bare:
        return not bare
    return bool(_heard()["comments"].search(bare)) or says_none(bare)


def says_none(words: str) -> bool:
    """Return whether words only say that there is none, or that the person doesn't know."""
    own = _heard()
    is_none = own["none"].search(words) and not own["unknown"].match(words)
    return bool(is_none) and not _DOES_NOTHING.search(words)


def _says_again(sentence: str, question: str) -> bool:
    """Return whether a sentence is only the question that was asked, put once more."""
    if not sentence.endswith("?") or len(sentence.split()) > _MAX_ECHO_WORDS:
        return False
    return bool(_stems(sentence) & _stems(question.rpartition(".")[2]))


def _stems(words: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(plain_letters(words))}


def bare_of(words: str) -> str:
    """Return words without what only comes before an answer."""
    plain = _heard()["fillers"].sub("", " ".join(words.split())).strip(AROUND)
    return _TRAILS.sub("", plain).strip(AROUND)


def quoted(words: str, name: str = "mind") -> str:
    """Return the part of an answer that is quoted as one to a question; nothing where none is clear."""
    parts = [each for each in _parts(words, name) if each]
    if not parts:
        return ""
    wanted = name if name in {"wish", "hands", "piece"} else ""
    fit = [each for each in parts if not wanted or _answers(each, wanted)]
    is_clear = len(parts) == 1 and not (wanted and is_beyond(parts[0], wanted))
    if wanted in {"hands", "piece"} and len(parts) > 1:
        named = [each for each in parts if _names_step(each) and not is_beyond(each, wanted)]
        fit = named or ([] if wanted == "piece" else fit)
    known = fit or (parts if is_clear else [])
    whole = (_whole(each) for each in sorted(known, key=_is_short))
    return next((each for each in whole if _is_quotable(each)), "")


def _parts(words: str, name: str) -> Iterator[str]:
    """Yield what an answer says, sentence by sentence, without questions and comments."""
    said = [each.strip() for each in SENTENCES.findall(without_comments(words))]
    asked = [each for each in said if each.endswith("?") and not doubts(each)]
    for each in said if len(asked) == len(said) else (each for each in said if each not in asked):
        bare = bare_of(each.rstrip("?"))
        yield from (bare_of(part) for part in (_BUT.split(bare) if name != "mind" else [bare]))


def _is_short(words: str) -> bool:
    return len(words.split()) < _MIN_WORDS


def _names_step(words: str) -> bool:
    """Return whether words name what somebody could do, or when: "I could …", a verb alone, a day."""
    is_bare = any(says("bare", each) for each in (words, words.partition(",")[0]))
    return is_bare or bool(_heard()["could"].search(words)) or any(days_in(words, None))


def _answers(words: str, name: str) -> bool:
    """Return whether words say what a question asks for."""
    if is_beyond(words, name):
        return False
    if name == "piece" and any(days_in(words, None)):
        return True
    pattern = _heard()["wish" if name == "wish" else "hands"]
    return bool(pattern.search(words.replace("’", "'")))


def is_beyond(words: str, name: str) -> bool:
    """Return whether words say what isn't in somebody's hands, or how it always goes."""
    return name != "wish" and bool(_heard()["never"].search(words.replace("’", "'")))


def _whole(words: str) -> str:
    """Return words, or their first clause if they are too long and it is whole without the rest."""
    if len(words) <= _MAX_QUOTED:
        return words
    first = first_clause(words).strip(AROUND)
    return first if len(first.split()) > _MIN_WORDS else words


def _is_quotable(words: str) -> bool:
    is_plain = not (set(words) & set('"“”„«»{}')) and not judges(words) and not says("fits_day", words)
    return _MIN_QUOTED <= len(words) <= _MAX_QUOTED and is_plain


def wished(quote: str) -> str:
    """Return what somebody would like, without the words that they would."""
    return _heard()["likes"].sub("", quote.replace("’", "'"), count=1) or quote


def objection_in(words: str, quote: str) -> str:
    """Return what an answer says against what is quoted of it: “I could call, but we always fight”."""
    sentences = [each.strip() for each in SENTENCES.findall(words)]
    said = [part for each in sentences if quote in each for part in _BUT.split(each)[1:]]
    said += [each for each in sentences if _BUT_FIRST.match(each)]
    return next((each.strip(AROUND) for each in said if quote not in each), "")


def first_clause(words: str) -> str:
    """Return the first clause of words, without what comes after it only as its reason or result."""
    return _AFTERWARDS.split(words, maxsplit=1)[0]


def before_objection(words: str) -> str:
    """Return a sentence without what it says against itself."""
    return _BUT.split(words, maxsplit=1)[0]


def asks_in(words: str) -> bool:
    """Return whether words ask something, rather than only say the question again or an answer doubtfully."""
    said = [each.strip() for each in SENTENCES.findall(own_words(words))]
    is_doubtful = not words.rstrip().endswith("?") or bool(said and doubts(said[-1]))
    parts = [each.strip(" ¿?") for each in said]
    return not is_doubtful or any(is_about(name, each) for each in parts for name in _QUESTIONS)


def own_words(words: str) -> str:
    """Return words without what is in quotation marks, and without how they join on to a question."""
    return QUOTED.sub("", JOINS.sub("", words))


def doubts(words: str) -> bool:
    """Return whether words are said doubtfully."""
    return bool(_heard()["doubts"].search(words))
