"""A model that notes facts of a text, right and wrong ones, and a check of what is stored that is its own."""

import json
import random
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coaching.practice.coach.analysis import analyse
from coaching.practice.script import Reply

LINES_OF_PART = 8
"""Of which facts are noted, right and wrong ones."""
LONGEST_QUOTE = 300
_PAGE_MARK = re.compile(r"\[page \d+\]")
_WORD = re.compile(r"[^\W_]+")
_SAME_SIGNS = str.maketrans("‐‑‒–—−’‘“”„«»", '------\'\'"""""')

RIGHT, ACROSS = "right", "over a page's end"
"""A quote may run over a page's end; its page is where it begins."""

Fact = dict[str, Any]


class Noting:
    """Notes facts of some of the lines that it is sent. `noted` says of each what it is, by its name."""

    def __init__(self) -> None:
        self.noted: dict[str, str] = {}
        self.said: dict[str, Fact] = {}

    def answer(self, body: Mapping[str, Any]) -> Reply:
        """Return the facts of a part, or what another request wants."""
        if '"facts"' not in json.dumps(body.get("output_config")):
            return analyse(body)
        sent = body["messages"][0]["content"][0]["text"]
        return Reply.of(json.dumps({"facts": list(self._facts(sent))}))

    def _facts(self, sent: str) -> Iterator[Fact]:
        lines = [line.strip() for line in sent.splitlines()[1:-1]]  # between the tags
        places = [place for place, line in enumerate(lines) if is_quotable(line)]
        chance = random.Random(f"28 {len(sent)}")
        chosen = sorted(chance.sample(places, min(LINES_OF_PART, len(places))))
        for place in chosen:
            quote = lines[place]
            value = next((word for word in _WORD.findall(quote) if word.isdigit()), None)
            value = value or max(_WORD.findall(quote), key=len)
            yield self._fact(RIGHT, value, quote)
            yield from self._wrong_ones(value, quote)
        for before, after in pairs_at_page_ends(lines):
            value = max(_WORD.findall(after), key=len)
            yield self._fact(ACROSS, value, f"{before} {after}")
            yield self._fact("has the mark of a page", value, f"[page 2] {after}")

    def _wrong_ones(self, value: str, quote: str) -> Iterator[Fact]:
        there = set(_WORD.findall(quote))
        others = (str(int(value) + more) for more in range(1, 100)) if value.isdecimal() else [f"{value}ing"]
        other = next(each for each in others if each not in there)
        yield self._fact("value isn't in its quote", other, quote)
        yield self._fact("quote isn't in the text", value, f"{quote} zebras")
        words = quote.split(" ")
        yield self._fact("quote leaves out words", value, " ".join([words[0], "zebras", *words[1:]]))

    def _fact(self, what: str, value: str, quote: str) -> Fact:
        name = f"Fact {len(self.noted)}"
        self.noted[name] = what
        self.said[name] = {"name": name, "value": value, "quote": quote, "main": True, "page": 99}
        return self.said[name]


def is_quotable(line: str) -> bool:
    return 12 <= len(line) <= LONGEST_QUOTE and len(_WORD.findall(line)) >= 3 and not _PAGE_MARK.match(line)


def pairs_at_page_ends(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the first page ends of a text: a page's last line with the next one's first."""
    for place, line in list(enumerate(lines))[1:-1]:
        if _PAGE_MARK.fullmatch(line) and is_quotable(lines[place - 1]) and is_quotable(lines[place + 1]):
            yield lines[place - 1], lines[place + 1]
            return


def faults_of(fact: Mapping[str, Any], pages: Mapping[int, str], *, may_run_on: bool) -> list[str]:
    """Return what of a stored fact isn't so: its value's words in its quote, its quote on its page."""
    faults = []
    if f" {_spaced(fact['value'])} " not in f" {_spaced(fact['quote'])} ":
        faults.append("value isn't in its quote")
    if ("page" in fact) != (len(pages) > 1):
        faults.append("page is missing or said of a text without pages")
    if not is_on_page(fact, pages, may_run_on=may_run_on):
        faults.append("quote isn't on its page")
    return faults


def is_on_page(fact: Mapping[str, Any], pages: Mapping[int, str], *, may_run_on: bool) -> bool:
    """Return whether a quote stands on its page, or begins there and runs on at the top of the next one."""
    number, quote = fact.get("page", 1), _squeezed(fact["quote"])
    page, after = (_squeezed(pages.get(each, "")) for each in (number, number + 1))
    if quote in page:
        return True
    ends = (place for place in range(1, len(quote)) if page.endswith(quote[:place]))
    return may_run_on and any(after.startswith(quote[place:]) for place in ends)


def _spaced(text: str) -> str:
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _squeezed(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).translate(_SAME_SIGNS).casefold().split())
