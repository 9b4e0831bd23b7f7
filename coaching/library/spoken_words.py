"""Lists of what people say, by language and group, and where a group occurs in a sentence. Pure.

A list is a text file: `[en]` begins a language, `group: phrase | phrase` names a group's phrases. A phrase is
words in order. In a word, `*` stands for any letters, `#` for what begins with a digit. `[all]` is every
language's.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from coaching.library.spoken import plain, tokens_of

ALL = "all"
_FOLDER = Path(__file__).parent / "words"
_DIGITS = "#"
_LETTERS = 2
"""By so many letters phrases are found whose first word is open."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases of one group by their first word, or by its first letters where the rest of it is open."""

    whole: Mapping[str, Sequence[Sequence[str]]]
    begun: Mapping[str, Sequence[Sequence[str]]]
    open: Sequence[Sequence[str]]

    def longest_at(self, words: Sequence[str], at: int) -> int:
        """Return how many words the longest phrase has that begins at a place; 0 for none."""
        word = words[at]
        candidates = (self.whole.get(word, ()), self.begun.get(word[:_LETTERS], ()), self.open)
        return max((len(each) for some in candidates for each in some if _begins(words, at, each)), default=0)


Groups = Mapping[str, Phrases]


class Lists:
    """The lists of a file for the languages of one text."""

    def __init__(self, name: str, languages: Sequence[str]) -> None:
        lists = read_lists(name)
        self.languages = languages
        self._groups = [lists[language] for language in (*languages, ALL) if language in lists]

    def length_at(self, group: str, words: Sequence[str], at: int) -> int:
        """Return how many words a group's longest phrase has at a place; 0 for none or beyond the end."""
        if at >= len(words):
            return 0
        found = [groups[group].longest_at(words, at) for groups in self._groups if group in groups]
        return max(found, default=0)

    def spans(
        self, group: str, words: Sequence[str], start: int = 0, end: int | None = None
    ) -> Iterator[range]:
        """Yield where phrases of a group stand within a part of the words."""
        last = len(words) if end is None else end
        for at in range(max(0, start), last):
            length = self.length_at(group, words, at)
            if length and at + length <= last:
                yield range(at, at + length)

    def has(self, group: str, words: Sequence[str], start: int = 0, end: int | None = None) -> bool:
        return any(True for _ in self.spans(group, words, start, end))

    def has_other(self, group: str, words: Sequence[str], *, than: str) -> bool:
        """Say whether a phrase of a group begins outside those of the group `than`: its idioms."""
        idioms = {at for span in self.spans(than, words) for at in span}
        return any(span.start not in idioms for span in self.spans(group, words))


def languages_of(name: str, text: str) -> Sequence[str]:
    """Return the languages whose frequent words (`common`) a text has most of: several if it doesn't show.

    Each word of a phrase counts: "no sábado" is Portuguese, although both words are Spanish, too.
    """
    words = [token.word for token in tokens_of(text)]
    counts = {
        language: sum(groups["common"].longest_at(words, at) for at in range(len(words)))
        for language, groups in read_lists(name).items()
        if "common" in groups
    }
    most = max(counts.values())
    return [language for language, count in counts.items() if count == most]


def meanings_in(words: Sequence[str], name: str, languages: Sequence[str]) -> Sequence[Sequence[str]]:
    """Return the groups of a file of which a phrase begins at each word."""
    found: list[Sequence[str]] = []
    known = [_by_beginning(name, language) for language in languages]
    for at, word in enumerate(words):
        phrases = [
            each
            for listed in known
            for key in (word, f"{word[:_LETTERS]}*", "*")
            for each in listed.get(key, ())
        ]
        found.append(tuple(dict.fromkeys(group for group, phrase in phrases if _begins(words, at, phrase))))
    return found


@cache
def _by_beginning(name: str, language: str) -> Mapping[str, Sequence[tuple[str, Sequence[str]]]]:
    """Return groups with their phrases by what these begin with: a word, the letters of one, or any."""
    listed: dict[str, list[tuple[str, Sequence[str]]]] = {}
    for group, phrases in read_lists(name).get(language, {}).items():
        keyed = {**phrases.whole, **{f"{letters}*": some for letters, some in phrases.begun.items()}}
        for key, some in {**keyed, "*": phrases.open}.items():
            listed.setdefault(key, []).extend((group, phrase) for phrase in some)
    return listed


@cache
def read_lists(name: str) -> Mapping[str, Groups]:
    """Return the groups of a file by language."""
    read: dict[str, dict[str, Phrases]] = {}
    groups: dict[str, Phrases] = {}
    for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            groups = read.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            group, _, listed = line.partition(":")
            groups[group] = _phrases([tuple(plain(phrase).split()) for phrase in listed.split("|")])
    return read


def _phrases(phrases: Sequence[Sequence[str]]) -> Phrases:
    whole: dict[str, list[Sequence[str]]] = {}
    begun: dict[str, list[Sequence[str]]] = {}
    open_: list[Sequence[str]] = []
    for phrase in phrases:
        first, star, _ = phrase[0].partition("*")
        if first == _DIGITS or (star and len(first) < _LETTERS):
            open_.append(phrase)
        elif star:
            begun.setdefault(first[:_LETTERS], []).append(phrase)
        else:
            whole.setdefault(first, []).append(phrase)
    return Phrases(whole, begun, open_)


def _begins(words: Sequence[str], at: int, phrase: Sequence[str]) -> bool:
    here = words[at : at + len(phrase)]
    return len(here) == len(phrase) and all(
        _fits(word, part) for word, part in zip(here, phrase, strict=True)
    )


def _fits(word: str, part: str) -> bool:
    if part == _DIGITS:
        return word[:1].isdigit()
    begin, star, end = part.partition("*")
    if not star:
        return word == part
    return len(word) >= len(begin) + len(end) and word.startswith(begin) and word.endswith(end)
