"""How many of a text's words another one has."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, pairwise

_BROKEN = re.compile("[-\u00ad\u2010]\n[ \t]*")
"""Where a line ends within a word."""
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
FEWEST_LETTERS = 4
"""Fewer stand in any text."""
LONGEST_RUN = 40
"""Words that are searched for as one."""
# A sign of its own in scripts that don't separate words.
_WORD = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
    "|[^\\W_\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)


def words(text: str) -> Counter[str]:
    """Return the words, in small letters, and how often each stands there."""
    return Counter(_found_words(text))


def agreed(readings: Iterable[Counter[str]]) -> Counter[str]:
    """Return the words that several readings of a text have: of the counts of a word, the middle one.

    Of two readings it is the smaller one. A reading without words doesn't count.
    """
    counted = [reading for reading in readings if reading]
    return Counter(
        {
            word: sorted(reading[word] for reading in counted)[(len(counted) - 1) // 2]
            for word in set().union(*counted)
        }
    )


def recall(reference: Counter[str], found: Counter[str]) -> float | None:
    """Return the share of the reference's words that were found; None if it has none."""
    return (reference & found).total() / reference.total() if reference else None


def found_by(own: str, texts: Iterable[str]) -> Sequence[Counter[str]]:
    """Return the words of Sage's text, and those of each reading that stand in it, however they are cut.

    They can't be united: each reading counts the letters anew, so a letter would count several times.
    """
    return (words(own), *(Letters(own).words_of(text) for text in texts))


def best_of(required: Counter[str], found: Sequence[Counter[str]]) -> Counter[str]:
    """Return the one with most of the required words."""
    return max(found, key=lambda each: (required & each).total())


class Letters:
    """The letters of a text without spaces. Each counts as found once, so none stands for what is lost."""

    def __init__(self, text: str) -> None:
        found = _found_words(text)
        self._text = "".join(found)
        self._used = bytearray(len(self._text))
        self._ends = list(accumulate(map(len, found), initial=0))
        self._edges = frozenset(self._ends)
        self._words: dict[str, list[int]] = defaultdict(list)
        for word, end in zip(reversed(found), reversed(self._ends[1:]), strict=True):
            self._words[word].append(end - len(word))
        self._searched: dict[str, int] = {}

    def words_of(self, reference: str) -> Counter[str]:
        """Return the words of a reference that stand in the text, however the two cut or join words.

        First whole lines, then words as they are, then what is left between them in runs: their place begins
        or ends with a word, or beside what was found before. Last, the rests and halves of words.
        """
        found: Counter[str] = Counter()
        left: list[list[str]] = []
        for line in _unbroken(reference).splitlines():
            of_line = _found_words(line)
            if self._takes("".join(of_line)):
                found.update(of_line)
            else:
                left.append(of_line)
        runs: list[list[str]] = [[]]
        for word in chain.from_iterable(left):
            if self._takes_word(word):
                found[word] += 1
                runs.append([])
            else:
                runs[-1].append(word)
        in_runs = Counter(word for run in runs for word in self._in_run(run))
        missing = Counter(chain.from_iterable(runs)) - in_runs
        return found + in_runs + Counter(self._rests(missing))

    def _in_run(self, run: Sequence[str]) -> Iterator[str]:
        """Yield the words of the longest parts of a run that stand in the text."""
        start = 0
        while start < len(run):
            longest = min(len(run), start + LONGEST_RUN)
            ends = range(longest, start, -1)
            end = next((end for end in ends if self._takes("".join(run[start:end]))), start)
            yield from run[start:end]
            start = max(end, start + 1)

    def _rests(self, missing: Counter[str]) -> Iterator[str]:
        """Yield the words that are the rest of a word of which others have a part, or half of one or more."""
        for start, end in pairwise(self._ends):
            unused = [at for at in range(start, end) if not self._used[at]]
            if not unused or unused[-1] - unused[0] >= len(unused):
                continue
            rest = self._text[unused[0] : unused[-1] + 1]
            is_whole = len(rest) == end - start
            sizes = range((len(rest) + 1) // 2, len(rest)) if is_whole and rest.isalpha() else ()
            parts = (rest, *(part for size in sizes for part in (rest[:size], rest[-size:])))
            if part := next((each for each in parts if missing[each] > 0), ""):
                missing[part] -= 1
                self._use(start, end)
                yield part

    def _takes_word(self, word: str) -> bool:
        places = self._words.get(word, [])
        while places:
            at = places.pop()
            if not any(self._used[at : at + len(word)]):
                self._use(at, at + len(word))
                return True
        return False

    def _takes(self, letters: str) -> bool:
        """Take the next place where letters stand that weren't found yet."""
        if len(letters) < FEWEST_LETTERS:
            return False
        at = self._text.find(letters, self._searched.get(letters, 0))
        while at >= 0:
            end = at + len(letters)
            if not any(self._used[at:end]) and (self._is_edge(at) or self._is_edge(end)):
                self._use(at, end)
                self._searched[letters] = end
                return True
            at = self._text.find(letters, at + 1)
        self._searched[letters] = len(self._text)
        return False

    def _is_edge(self, at: int) -> bool:
        return at in self._edges or bool(self._used[at - 1]) or bool(self._used[at])

    def _use(self, start: int, end: int) -> None:
        self._used[start:end] = b"\1" * (end - start)


def _found_words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", _unbroken(text)).lower()
    return _WORD.findall(_UNSEEN.sub("", plain))


def _unbroken(text: str) -> str:
    return _BROKEN.sub("", text.replace("\r\n", "\n"))
