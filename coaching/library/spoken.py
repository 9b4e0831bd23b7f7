"""What people say, cut into sentences and words, with marks on what they quote. Pure and linear."""

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

MIN_CHARACTERS, MIN_UNSPACED = 8, 4
"""A shorter quote is no evidence; the second is for scripts that are written without spaces."""
QUOTATION = frozenset('"“”„«»‹›「」『』')
_SIGNS = str.maketrans("‐‑‒–—−’‘ʼ`´", "------'''''")
_INSIDE = frozenset("'-")
_INSIDE_CLAUSES = frozenset("'\"/&%€$£#@+*°’“”„«»‹›`^_=<>")
_ENDS = frozenset(".!?…。！？")
_SHORT_FORMS = frozenset(
    {"dr", "mr", "mrs", "ms", "prof", "st", "bzw", "ca", "usw", "evtl", "sr", "sra", "dra", "mme", "m", "vs",
     "no", "nr", "z", "b", "e", "g", "i", "p", "ex", "a", "dott", "ing", "sig", "approx", "etc"}
)  # fmt: skip
"""Words that a full stop doesn't end a sentence after."""
_HEADERS = frozenset(
    {"from", "to", "cc", "subject", "date", "sent", "von", "an", "betreff", "datum", "gesendet", "de", "para",
     "asunto", "fecha", "enviado", "à", "objet", "envoyé", "da", "a", "oggetto", "data", "inviato", "assunto"}
)  # fmt: skip
"""What a mail's lines begin with, before a colon."""
_WROTE = frozenset({"wrote", "schrieb", "écrit", "escribió", "scritto", "escreveu"})
_FORWARDED = (
    "forwarded message", "original message", "weitergeleitete nachricht", "ursprüngliche nachricht",
    "message transféré", "message d'origine", "mensaje reenviado", "messaggio inoltrato",
    "mensagem encaminhada",
)  # fmt: skip
GREETINGS = frozenset(
    {"hi", "hello", "hey", "dear", "hallo", "liebe", "lieber", "hola", "querida", "querido", "bonjour",
     "bonsoir", "salut", "coucou", "cher", "chère", "olá", "oi", "cara", "caro", "ciao", "buongiorno",
     "gentile"}
)  # fmt: skip
_GOOD = frozenset({"good", "guten", "bom", "boa", "buenos", "buenas", "buon", "buona"})
_TITLES = frozenset(
    {"mr", "mrs", "ms", "miss", "sir", "madam", "herr", "frau", "señor", "señora", "sr", "sra", "don", "doña",
     "monsieur", "madame", "mme", "dona", "senhor", "senhora", "signor", "signora", "dottore"}
)  # fmt: skip
CLOSINGS = frozenset(
    {"thanks", "thx", "yours", "att", "atte", "cheers", "best", "regards", "sincerely", "love", "danke",
     "gruß", "grüße", "lg", "vg", "mfg", "gracias", "saludos", "abrazo", "obrigado", "obrigada", "abraço",
     "beijos", "merci", "bises",
     "cordialement", "grazie", "saluti", "baci"}
)  # fmt: skip
_COACH = frozenset({"coach", "sage"})
_MIN_NOTE = 3
"""Lines."""
_MAX_SIGNATURE = 3
"""Words of a last line that is a name: "Love, Ann"."""
_BULLETS = ("-", "*", "•", "–", "·")
_MIN_LETTER, _OPENING = 6, 4
"""A letter has so many words; its greeting and its close have so many at most."""
_MIN_STEM = 4
"""Letters that forms of one word have in common."""
_MAX_SENDER = 40
"""Within so many characters a line of a copied chat, `[14:02] Jess: …`, names who wrote it."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word in its plain form, and where it stands."""

    word: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: where it stands, and its words. `is_quoted`: it is in a quoted line or in code."""

    start: int
    end: int
    tokens: Sequence[Token]
    is_quoted: bool


def plain(text: str) -> str:
    """Return a text in the form in which words are compared."""
    return unicodedata.normalize("NFKC", text).translate(_SIGNS).casefold()


def tokens_of(text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """Return the words of a text: runs of letters and digits, with apostrophes and hyphens inside."""
    tokens: list[Token] = []
    begin = -1
    last = len(text) if end is None else end
    for at in range(start, last + 1):
        is_part = at < last and (text[at].isalnum() or unicodedata.category(text[at])[0] == "M")
        is_part = is_part or (
            begin >= 0 and at + 1 < last and plain(text[at]) in _INSIDE and text[at + 1].isalnum()
        )
        if is_part and begin < 0:
            begin = at
        elif not is_part and begin >= 0:
            tokens.append(Token(plain(text[begin:at]), begin, at))
            begin = -1
    return tokens


def marks_between(sentence: str, tokens: Sequence[Token]) -> Sequence[str]:
    """Return the signs before each word that end a clause; empty for none."""
    marks: list[str] = [""]
    for before, token in pairwise(tokens):
        between = sentence[before.end : token.start]
        signs = "".join(each for each in between if not each.isspace() and each not in _INSIDE_CLAUSES)
        is_split = any(each.isspace() for each in between)
        marks.append(signs if (is_split and signs not in ("-", "")) or " - " in between else "")
    return marks


def sentences_of(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text, line by line."""
    at, is_code = 0, False
    for line in text.splitlines(keepends=True):
        said = line.lstrip()
        is_fence = said.startswith(("```", "~~~"))
        is_quoted = is_code or is_fence or said.startswith((">", "|"))
        is_code = is_code != is_fence
        yield from _sentences_in(text, at, at + len(line), is_quoted=is_quoted)
        at += len(line)


def widened(wanted: Sequence[str], text: str) -> Sequence[Sentence] | Literal["quoted"] | None:
    """Return the sentences that a run of words touches; `quoted` if it is in quoted lines or code alone."""
    sentences = list(sentences_of(text))
    flat = [(token.word, index) for index, each in enumerate(sentences) for token in each.tokens]
    for at in places(wanted, [word for word, _ in flat]):
        touched = sentences[flat[at][1] : flat[at + len(wanted) - 1][1] + 1]
        if not any(each.is_quoted for each in touched):
            return touched
    return "quoted" if has_words(wanted, tokens_of(text)) else None


def places(wanted: Sequence[str], words: Sequence[str]) -> Iterator[int]:
    """Yield where a run of words occurs in others, by joining them: linear in their length."""
    text, needle = f" {' '.join(words)} ", f" {' '.join(wanted)} "
    at = text.find(needle)
    while at >= 0:
        yield text.count(" ", 0, at + 1) - 1
        at = text.find(needle, at + 1)


def has_words(wanted: Sequence[str], tokens: Sequence[Token]) -> bool:
    """Say whether a run of words occurs in others."""
    return any(True for _ in places(wanted, [token.word for token in tokens]))


def is_short(wanted: Sequence[str]) -> bool:
    """Say whether words are too few to be evidence."""
    letters = "".join(wanted)
    least = MIN_UNSPACED if any(ord(letter) > 0x2E7F for letter in letters) else MIN_CHARACTERS
    return len(" ".join(wanted)) < least


def stands_for(title: str, words: Collection[str]) -> bool:
    """Say whether all numbers of a title were said."""
    numbers = [token.word for token in tokens_of(title) if any(letter.isdigit() for letter in token.word)]
    return all(number in words for number in numbers)


def shares_words(title: str, words: Sequence[str]) -> bool:
    """Say whether a title has a word of its own that was said, in any form."""
    own = [token.word for token in tokens_of(title) if len(token.word) >= _MIN_STEM] or [
        token.word for token in tokens_of(title)
    ]
    return any(_is_same(one, other) for one in own for other in words)


def _is_same(one: str, other: str) -> bool:
    if one == other:
        return True
    return min(len(one), len(other)) >= _MIN_STEM and (one.startswith(other) or other.startswith(one))


def is_pasted(text: str) -> bool:
    """Say whether a text is a letter or has lines of a copied mail or chat: others' words may follow."""
    lines = [plain(line).strip() for line in text.splitlines()]
    speakers = Counter(line.partition(":")[0] for line in lines if ": " in line[:_MAX_SENDER])
    is_chat = any(count > 1 for count in speakers.values())
    return is_chat or any(_is_copied(line) for line in lines) or _is_letter(text) or _is_note(text)


def _is_note(text: str) -> bool:
    """Say whether a text of three lines or more is a list, or ends with a name in a line of its own."""
    lines = [stripped for line in text.splitlines() if (stripped := line.strip())]
    if len(lines) < _MIN_NOTE:
        return False
    is_list = sum(line.startswith(_BULLETS) or line[:1].isdigit() for line in lines) > 1
    *_, last = lines[-1].split()
    is_signed = len(lines[-1].split()) <= _MAX_SIGNATURE and last.isalpha() and last[:1].isupper()
    return is_list or is_signed


def _is_letter(text: str) -> bool:
    """Say whether a text greets somebody else than the coach by name, or ends with a name: "Thanks, Dave"."""
    words = tokens_of(text)
    first = [token.word for token in words[:_OPENING]]
    if len(words) < _MIN_LETTER or _COACH & set(first):
        return False
    ends = any(text[token.end : token.end + 1] in (",", ":") for token in words[1:_OPENING])
    is_named = first[0] in GREETINGS and text[words[1].start].isupper()
    greets = ends and (is_named or (first[0] in GREETINGS | _GOOD and bool(_TITLES & set(first))))
    signs = text[words[-1].start].isupper() and text[words[-1].end :].strip() in ("", ".")
    return greets or (signs and _closes(text, words))


def _closes(text: str, words: Sequence[Token]) -> bool:
    """Say whether the last words close a letter: "… soon. Best wishes from Dave", "thanks Dave"."""
    for at in range(len(words) - 2, max(-1, len(words) - 1 - _OPENING), -1):
        between = text[words[at - 1].end : words[at].start] if at else "\n"
        if words[at].word in CLOSINGS and (at == len(words) - 2 or between.strip() or "\n" in between):
            return True
    return False


def _is_copied(line: str) -> bool:
    label, colon, rest = line.partition(":")
    if colon and label.strip() in _HEADERS:
        return True
    if line.endswith(":") and _WROTE & set(line[:-1].split()):
        return True
    hour = label[:_MAX_SENDER].replace("[", " ").split()[-1:]
    is_timed = "".join(hour).isdigit() and rest[:2].isdigit() and ": " in rest[2:_MAX_SENDER]
    return is_timed or any(words in line for words in _FORWARDED)


def _sentences_in(text: str, start: int, end: int, *, is_quoted: bool) -> Iterator[Sentence]:
    begin = start
    for at in range(start, end):
        if text[at] in _ENDS and _ends_here(text, begin, at, end):
            yield Sentence(begin, at + 1, tokens_of(text, begin, at + 1), is_quoted)
            begin = at + 1
    if text[begin:end].strip():
        yield Sentence(begin, end, tokens_of(text, begin, end), is_quoted)


def _ends_here(text: str, begin: int, at: int, end: int) -> bool:
    """Say whether a sentence ends at a sign: not inside a number or after a short form."""
    if text[at] in "。！？":
        return True
    following = text[at + 1 : at + 2]
    if following and not following.isspace() and following not in "\"”»)'’":
        return False
    if text[at] != ".":
        return True
    before = at
    while before > begin and text[before - 1].isalnum():
        before -= 1
    word = text[before:at].casefold()
    return not (word in _SHORT_FORMS or (word.isdigit() and text[at + 1 : end].strip() != ""))
