"""Answers to Sage's question about suicide or harm: "Yes. Every night." names nothing, and is acute.

The question is known in English and in the languages with rules of their own (`words/answers.txt`). Denials
and evasions are known too: a question back, a refusal, another subject. Where nothing affirms, a negation, or
that it is only work or tiredness, is a denial as well. If the question was Sage's last one, any other answer
affirms it, since people affirm it in countless ways. After one more question, only a yes or a cue does. Pure;
long texts are cut.
"""

import re
from collections.abc import Sequence
from functools import cache

from coaching.safety.danger import Danger
from coaching.safety.readable import plain_letters
from coaching.safety.tables import read_table

MAX_ASKED_CHARACTERS = 900
MAX_ANSWER_CHARACTERS = 400
MAX_DENIAL_CHARACTERS = 120
"""What a clause has at most whose denial isn't its first word: in a longer one it denies something else."""
LAST_QUESTIONS = 2
_SHORT_CHARACTERS = 40
_SHORT_DENIAL_CHARACTERS = 9
_POINTS_BACK = re.compile(
    r"\b(?:that|it|this|so|das|es|so|eso|asi|esto|ca|cela|le|questo|cosi|isso|dat|dit|zo)\b"
)

_TABLE = read_table("answers")
_CLAUSE = re.compile(r"[^.!?\n]{1,400}[.!?\n]*")
_PART = re.compile(r"[^,;.!?\n]{1,400}")
_WHEN = re.compile(r"(?<=\w) (?:when|als|cuando|quand|quando|toen)\b")
"""Begins what tells the time of the writer's own past: "years ago, when she died"."""
_FILLERS = (
    "well", "oh", "u+m+", "u+h+", "hm+", "god", "lol", r"haha\w*", "honestly", "so", "and", "ach", "also",
    "h+[aeiou]+h*", "puh", "joa", "wow", "what", "wait", "was", "wie bitte", "pardon", "como", "cosa", "che",
    "quoi", "o que", "wat", "me", "i", "ich", "yo", "moi", "io", "eu", "ik", "jesus", "christ", "gosh",
    "blimey", "lord", "gott", "dios(?: mio)?", "mon dieu", "dio(?: mio)?", "oddio", "meu deus", "nossa", "uy",
    "uf+", "oof", "hey", "ey", "oye", "boh", "olhe?", "guarda", "ecoute", "hor mal",
    "sorry", "perdon", "scusa", "desculpa",
    "na", "naja", "tja", "ah", "eh", "ehm", "bah", "bof", "ben", "euh", "pues", "bueno", "hombre", "mira",
    "beh", "mah", "dai", "olha", "bem", "ai", "kk+", r"jaja\w*", r"ahah\w*", "pff+", "aff+", "ehrlich gesagt",
    "to be honest", "tbh", "sinceramente", "franchement", "eerlijk gezegd", "la verdad",
    "(?:pra|para) (?:te )?ser (?:sincer|honest)[ao]", "pour etre honnete", "a essere (?:sincer|onest)[ao]",
)  # fmt: skip
_TAKING_BACK = ("surely", "yes", "cue", "despair", "not-knowing", "but", "resolved")
"""What must not stand beside words that deny only the thinking."""
_START = rf"\W*(?:(?:{'|'.join(_FILLERS)})\W+){{0,3}}"
DANGER = Danger(level="immediate", about="self", topic="life")


def danger_in_answer(words: str, *, asked: str) -> Danger | None:
    """Return the danger in words that answer Sage's question, None for a no and for other words.

    The question is read first: it is seldom one of these.
    """
    questions = _questions_in(asked)
    if any(_says("asks", question) for question in questions):
        is_last = len(questions) != LAST_QUESTIONS or _says("asks", questions[-1])
        return DANGER if _is_affirmed(words, otherwise=is_last) else None
    if any(_says("asks-safe", question) for question in questions[-1:]):
        return DANGER if _is_unsafe(words) else None
    return None


def may_take_back(words: str) -> bool:
    """Return whether words that stand beside a no could affirm, or say what is wanted or decided."""
    rest = _pattern("not-thinking").sub("no", _plain(words))
    return len(words) > MAX_ANSWER_CHARACTERS or any(_says(section, rest) for section in _TAKING_BACK)


def may_answer(words: str) -> bool:
    """Return whether words could affirm such a question, so that it is worth reading what was asked."""
    return _is_affirmed(words, otherwise=True) or _is_unsafe(words)


def asks_about_harm(asked: str) -> bool:
    """Return whether words of Sage's speak of suicide, harm or safety anywhere."""
    plain = plain_letters(asked)
    return _says("asks", plain) or _says("asks-safe", plain)


def last_sentence(asked: str) -> str:
    """Return Sage's last sentence in plain letters, or nothing."""
    return next(reversed(_CLAUSE.findall(plain_letters(asked[-MAX_ASKED_CHARACTERS:].strip()))), "")


def _questions_in(asked: str) -> Sequence[str]:
    """Return Sage's last questions, or its last sentence where it asked none.

    A short question that points back ("Is that true for you?") comes with the sentence before it.
    """
    sentences = _CLAUSE.findall(plain_letters(asked[-MAX_ASKED_CHARACTERS:]))
    questions = [sentence for sentence in sentences if sentence.rstrip().endswith("?")][-LAST_QUESTIONS:]
    if not questions:
        return sentences[-1:]
    number = sentences.index(questions[-1])
    if number and len(questions[-1]) <= _SHORT_CHARACTERS and _POINTS_BACK.search(questions[-1]):
        return [*questions, sentences[number - 1]]
    return questions


def _is_affirmed(words: str, *, otherwise: bool) -> bool:
    """Return whether an answer affirms; `otherwise` is for one that neither denies, evades nor says yes."""
    plain = _without_own_denial(_plain(words))
    if _says("surely", plain):
        return True
    but = _pattern("but").search(plain)
    clauses = [clause for part in _pattern("but").split(plain) for clause in _CLAUSE.findall(part)]
    said = [(stance, clause) for clause in clauses if (stance := _stance(clause))]
    found = [stance for stance, _ in said]
    if not found:
        return otherwise and bool(plain) and not _is_evasive(plain) and not _is_negated(plain, clauses)
    if found[0] in ("yes", "cue") and found[-1] == "no" and _is_past(plain) and _is_over(said[-1][1]):
        return False  # "I did once, years ago, but not now."
    if found[0] in ("yes", "unknown"):
        return True
    if found[0] == "no" and _says("long-past", plain):
        return False
    if found[0] == "no":  # taken back by a "but", or by not knowing
        if but is None:
            return found[1:2] == ["unknown"]
        return found[-1] in ("yes", "cue") and "unknown" not in found
    if _starts("cue", clauses[0]) and not any(_starts("no-word", clause) for clause in clauses[1:]):
        return not _says("evades", plain)  # "Every day. I haven't told anyone."
    return "no" not in found and not _says("evades", plain)


def _without_own_denial(plain: str) -> str:
    """Return an answer with "no" for "I'm not thinking of harming myself", if nothing else could affirm.

    In "I'm not thinking of it, I'm planning it" the same words are no denial.
    """
    return plain if may_take_back(plain) else _pattern("not-thinking").sub("no", plain)


def _is_past(plain: str) -> bool:
    """Return whether a past is the writer's own: that somebody died years ago takes no yes back."""
    return any(
        _says("long-past", part) and (_starts("yes", part) or not _says("others", _WHEN.split(part)[0]))
        for part in _PART.findall(plain)
    )


def _is_over(denial: str) -> bool:
    """Return whether a denial after a yes says that it is over: "not now", "no"; not "I don't sleep"."""
    return len(denial) <= _SHORT_DENIAL_CHARACTERS or _says("over", denial)


def _is_evasive(plain: str) -> bool:
    """Return whether an answer refuses, asks back or begins with another subject."""
    if _says("evades", plain) or _starts("topic", plain):
        return True
    return all(
        clause.rstrip(" \"')").endswith("?") or not any(map(str.isalnum, clause))
        for clause in _CLAUSE.findall(plain)
    )


def _is_negated(plain: str, clauses: Sequence[str]) -> bool:
    """Return whether an answer of which nothing affirms is a denial in words of its own."""
    if any(_starts("untold", clause) for clause in clauses):
        return False
    last = _pattern("but").split(plain)[-1]
    return _says("negator", last) or _says("only", last)


def _stance(clause: str) -> str:
    """Return what a clause says: yes, no, unknown, a cue, or nothing."""
    if _says("surely", clause):
        return "yes"
    if _starts("untold", clause):
        return ""
    if _says("not-knowing", clause):
        return "unknown"
    if _starts("despair", clause):
        return "cue"
    if _starts("no-word", clause) or _starts("no", clause):
        return "no"
    if _starts("yes", clause):
        return "yes"
    if len(clause) <= MAX_DENIAL_CHARACTERS and (_says("no", clause) or _ends("no-word", clause)):
        return "no"
    if clause.rstrip().endswith("?") or _starts("topic", clause):
        return ""
    return "cue" if _says("yes", clause) or _says("cue", clause) else ""


def _is_unsafe(words: str) -> bool:
    plain = _plain(words)
    is_no = _starts("no-word", plain)
    return _says("not-knowing", plain) or is_no


def _plain(words: str) -> str:
    return plain_letters(words[:MAX_ANSWER_CHARACTERS]).strip()


def _says(section: str, plain: str) -> bool:
    return _pattern(section).search(plain) is not None


def _ends(section: str, plain: str) -> bool:
    return _end_of(section).search(plain) is not None


def _starts(section: str, plain: str) -> bool:
    return _start_of(section).match(plain) is not None


@cache
def _pattern(section: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'])(?:{'|'.join(_TABLE[section])})(?!\w)")


@cache
def _start_of(section: str) -> re.Pattern[str]:
    return re.compile(rf"{_START}(?:{'|'.join(_TABLE[section])})(?!\w)")


@cache
def _end_of(section: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'])(?:{'|'.join(_TABLE[section])})(?=\W{{0,9}}$|,)")
