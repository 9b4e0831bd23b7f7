"""Citations of documents in a streamed reply: each is shown as a link only if it holds. No database here.

A citation is a link to a document's page, `[Lease, page 3](/library/documents/12/#page-3)`. It is held with
the rest of its sentence until that has been checked; one that doesn't hold is shown as its words alone. What
is shown is what is stored, so the stream, a reload and an export have the same text.
"""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import unquote, urljoin

from coaching.legacy_text.blocks import TagFilter
from coaching.turns.sentences import MAX_SENTENCE, quoted, sentence_before, sentence_end

MAX_LABEL = 500
MAX_TARGET = 400
"""Longer ones are no citations: such a label keeps its brackets, and such a target is no link any more."""
LEAST_QUOTED = 8
"""Fewer letters and digits in quotation marks are a word, and no quote."""
PAGES = "/library/documents/"
_TARGET = re.compile(rf"{PAGES}(\d{{1,18}})/?(?:[#?]page[-=](\d{{1,6}}))?")
_ESCAPE = re.compile(r"\\(.)")
_MARK = re.compile(r"\\.|[\[\]]|\n[ \t]*+\n")
_SPACE = re.compile(r"\s*+")
_FIRST = "/.<\\%&"
"""What the address of a document's page can begin with, as it is or escaped."""
_CHAT = "/chat/0/"
"""An address of the pages on which links are relative."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A document, perhaps a page of it, and what the sentence quotes."""

    document_id: int
    page: int | None = None
    quotes: tuple[str, ...] = ()

    @property
    def link(self) -> str:
        return f"{PAGES}{self.document_id}/" + (f"#page-{self.page}" if self.page else "")


Check = Callable[[Sequence[Citation]], Awaitable[Sequence[bool]]]
"""Says of each citation whether it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Link:
    """A link in a text from `start` to `end`; `citation` is None if it leads to no page of a document."""

    start: int
    end: int
    label: str
    citation: Citation | None


@dataclass(slots=True)
class CitationFilter:
    """The engine's `TextFilter` for replies: blocks of old replies are left out, and citations checked."""

    check_all: Check
    _tags: TagFilter = field(default_factory=TagFilter)
    _line: str = ""
    _held: str = ""
    _ready: int = 0
    _is_closed: bool = False

    def feed(self, text: str) -> str:
        """Return what can be shown now."""
        self._held += self._tags.feed(text)
        return self._release()

    def close(self) -> str:
        """Return what was held, but for a sentence that is still to be checked."""
        self._held += self._tags.close()
        self._is_closed = True
        return self._release()

    @property
    def has_claims(self) -> bool:
        """Whether a held sentence is to be checked."""
        return bool(self._ready)

    async def check(self) -> str:
        """Check held sentences, and return what can be shown then."""
        shown = ""
        while self._ready:
            before = sentence_before(self._line)
            unit = self._held[: self._ready]
            links = list(_with_quotes(before + unit, _links_in(unit), offset=len(before)))
            claims = [link.citation for link in links if link.citation]
            holds = dict(zip(claims, await self.check_all(claims), strict=True)) if claims else {}
            self._held, self._ready = self._held[self._ready :], 0
            shown += self._shown(_replaced(unit, links, holds)) + self._release()
        return shown

    def _release(self) -> str:
        """Return what is certain of the held text: all of it, or what stands before a possible citation."""
        if self._ready:
            return ""
        text = self._held
        link, place = _next_link(text, 0, is_closed=self._is_closed)
        if link is not None:
            place = link.start
            end = _unit_end(text, link.end, is_closed=self._is_closed)
            self._ready = end - place if end else 0
        self._held = text[place:]
        return self._shown(text[:place])

    def _shown(self, text: str) -> str:
        self._line = (self._line + text).rpartition("\n")[2][-MAX_SENTENCE:]
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """What follows a label; `end` is 0 if it leads to no document. One that `is_broken` has no end."""

    end: int
    citation: Citation | None = None
    is_broken: bool = False


_NO_TARGET = _Target(end=0)


def _next_link(text: str, place: int, *, is_closed: bool) -> tuple[_Link | None, int]:
    """Return the next link to documents, if there is one, and the place before which there is none.

    Found by its target. Without a label that begins at a bracket, its target alone is the link.
    """
    openings: list[int] = []
    seen = place
    for found in _MARK.finditer(text, place):
        at, seen = found.start(), found.end()
        if found[0] == "[":
            openings.append(at)
        elif found[0] == "]":
            opening = openings.pop() if openings else at
            start = opening if at - opening <= MAX_LABEL else at
            target = _target_at(text, at + 1, is_closed=is_closed)
            if target is None:
                return None, _first_recent([*openings, start], at)
            if target.is_broken:
                return _Link(start=at, end=at + 2, label=f"] {text[at + 1]}", citation=None), at
            if target.end:
                label = text[start + 1 : at] if start < at else "]"
                citation = target.citation if start < at else None
                return _Link(start=start, end=target.end, label=label, citation=citation), start
        elif found[0][0] == "\n":  # no label goes over it
            openings.clear()
    if is_closed:
        return None, len(text)
    is_escaping = seen < len(text) and text.endswith("\\")
    return None, _first_recent(openings, len(text) - is_escaping)


def _first_recent(openings: Sequence[int], place: int) -> int:
    """Return the first bracket that begins a label which can still end, or the place."""
    return next((each for each in openings if place - each <= MAX_LABEL), place)


def _target_at(text: str, start: int, *, is_closed: bool) -> _Target | None:
    """Return the target that follows a label, in parentheses or after a colon; None if that isn't clear yet.

    Its address may stand on the next line and in angle brackets, and have escapes and a title.
    """
    unclear = _NO_TARGET if is_closed else None
    if start == len(text):
        return unclear
    spaces = _SPACE.match(text, start + 1) if text[start] in "(:" else None
    begin = spaces.end() if spaces else start
    if begin == len(text):
        return unclear
    if begin == start or text[begin] not in _FIRST:
        return _NO_TARGET
    last = ")" if text[start] == "(" else "\n"
    end = text.find(last, begin, begin + MAX_TARGET + 1)
    is_long = end < 0 and len(text) - begin > MAX_TARGET
    if end < 0 and not is_long and not is_closed:
        return None
    address = _address(text[begin : end if end >= 0 else begin + MAX_TARGET])
    if not address.startswith(PAGES):
        return _Target(end=0, is_broken=is_long)
    if end < 0 and (is_long or last == ")"):
        return _Target(end=0, is_broken=True)
    found = _TARGET.fullmatch(address) if last == ")" else None
    citation = None
    if found and int(found[1]) < 2**63:
        citation = Citation(document_id=int(found[1]), page=int(found[2]) if found[2] else None)
    return _Target(end=len(text) if end < 0 else end + (last == ")"), citation=citation)


def _address(target: str) -> str:
    """Return the address of a link's target as browsers would find it, without its title."""
    plain = unquote(unescape(_ESCAPE.sub(r"\1", target))).strip()
    words = plain[1:].partition(">")[:1] if plain.startswith("<") else plain.split()[:1]
    try:
        return urljoin(_CHAT, "".join(words))
    except ValueError:  # what looks like a host is none
        return ""


def _links_in(text: str) -> Iterator[_Link]:
    link, _ = _next_link(text, 0, is_closed=True)
    while link is not None:
        yield link
        link, _ = _next_link(text, link.end, is_closed=True)


def _unit_end(text: str, start: int, *, is_closed: bool) -> int:
    """Return where the sentence of a link ends, and all links that begin in it; 0 if that isn't known yet."""
    end = sentence_end(text, start, is_closed=is_closed)
    while end:
        link, sure = _next_link(text[: end + MAX_LABEL + MAX_TARGET], start, is_closed=is_closed)
        if link is None:
            return end if sure >= end else 0
        start = link.end
        if link.start < end < link.end:
            end = sentence_end(text, link.end, is_closed=is_closed)
        elif link.start >= end:
            break
    return end


def _with_quotes(text: str, links: Iterator[_Link], *, offset: int) -> Iterator[_Link]:
    """Yield links of a sentence, each with the quotes before it, or after it if it is the last.

    `text` is the sentence from its beginning, `offset` where the links' text begins in it.
    """
    found = list(links)
    quotes: dict[int, list[str]] = {}
    for start, end in quoted(text):
        if any(link.start <= start - offset < link.end for link in found):
            continue
        owner = next((n for n, link in enumerate(found) if link.start + offset >= end), len(found) - 1)
        words = text[start + 1 : end - 1]
        if sum(map(str.isalnum, words)) >= LEAST_QUOTED:
            quotes.setdefault(owner, []).append(words)
    for number, link in enumerate(found):
        cited = link.citation
        if cited:
            cited = Citation(
                document_id=cited.document_id, page=cited.page, quotes=tuple(quotes.get(number, ()))
            )
        yield _Link(start=link.start, end=link.end, label=link.label, citation=cited)


def _replaced(text: str, links: Sequence[_Link], holds: dict[Citation, bool]) -> str:
    """Return a sentence with the citations that hold, and the words of the others."""
    parts, place = [], 0
    for link in links:
        is_held = link.citation is not None and holds.get(link.citation, False)
        shown = f"[{link.label}]({link.citation.link})" if is_held and link.citation else link.label
        parts += [text[place : link.start], shown]
        place = link.end
    return "".join([*parts, text[place:]])
