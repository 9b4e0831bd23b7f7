"""Parses a reply with old blocks: text in rounds, the tool calls that they stand for, what is unreadable.

A block in fenced code is text. The words of a block that can't be read stay in the text, without its tags.
Blocks inside another block are calls of their own and come before it. Linear in the length of the reply.

Each text is stripped of tags again when it stands alone: a fence that was none inside the reply may be one
there, and the other way round.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from coaching.legacy_text.blocks import without_block_tags
from coaching.legacy_text.readers import READERS, Unreadable
from coaching.legacy_text.tags import Tag, Token, tokenize

WITH_BODY = frozenset({"FILE_UPDATE", "SUGGESTED_REPLIES", "DAY_PLAN_DATA"})
NOT_CLOSED = "it is never closed"
NOT_OPENED = "it closes nothing"

_TEXT_JOIN = "\n\n"
# Blank lines, and an indentation that makes no code.
_BLANK_START = re.compile(r"\A(?:[ \t]*+[\r\n]++)*+(?: {1,3}(?![ \t]))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockCall:
    """The tool call that a block stands for."""

    block: str
    name: str
    input: Mapping[str, Any]
    round_number: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadBlock:
    """A block that can't be read, why, and the offset of its tag."""

    block: str
    reason: str
    place: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedReply:
    """A reply as one of today: text without tags, where each round's text ends, and calls by round."""

    text: str
    round_ends: Sequence[int]
    calls: Sequence[BlockCall] = ()
    unread: Sequence[UnreadBlock] = ()
    has_tags: bool = False


@dataclass(slots=True)
class _Round:
    texts: list[str] = field(default_factory=list)
    calls: list[BlockCall] = field(default_factory=list)


def parse_blocks(text: str) -> ParsedReply:
    """Parse a reply of the assistant. One without tags outside code is returned as it is."""
    tokens = list(tokenize(text, is_shown=True)) if "[" in text else [text]
    if not any(isinstance(token, Tag) for token in tokens):
        return ParsedReply(text=text, round_ends=(len(text),))
    return _Parser(tokens).parse()


class _Parser:
    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._openers, self._closers, self._unread = _pairs(tokens)
        self._rounds = [_Round()]
        self._open: list[tuple[Tag, list[str]]] = []

    def parse(self) -> ParsedReply:
        for index, token in enumerate(self._tokens):
            if isinstance(token, str):
                self._add_text(token)
            elif index in self._closers:
                tag, texts = self._open.pop()
                self._add_block(tag, _alone(texts))
                if self._open:  # the words around it must not meet
                    self._add_text("\n")
            elif index in self._openers:
                self._open.append((token, []))
            elif token.name not in WITH_BODY and not token.is_closing:
                self._add_block(token, "")
        return self._reply()

    def _add_text(self, text: str) -> None:
        if self._open:
            self._open[-1][1].append(text)
        else:
            self._say(text)

    def _say(self, text: str) -> None:
        if self._rounds[-1].calls and text.strip():
            self._rounds.append(_Round())
        self._rounds[-1].texts.append(text)

    def _add_block(self, tag: Tag, body: str) -> None:
        try:
            name, values = READERS[tag.name](tag.rest, body)
        except Unreadable as reason:
            self._unread.append(UnreadBlock(block=tag.name, reason=str(reason), place=tag.place))
            self._say(f"\n\n{body}\n\n")
        else:
            self._rounds[-1].calls.append(BlockCall(block=tag.name, name=name, input=values))

    def _reply(self) -> ParsedReply:
        calls: list[BlockCall] = []
        for number, each in enumerate(self._rounds, start=1):
            # The file of a day's plan has more words than its data, so it is written after it.
            ordered = sorted(each.calls, key=lambda call: call.block != "DAY_PLAN_DATA")
            calls += [replace(call, round_number=number) for call in ordered]
        texts = [_alone(each.texts) for each in self._rounds]
        joined = _TEXT_JOIN.join(filter(None, texts))
        if (shown := without_block_tags(joined)) != joined:  # unclosed code goes on in the next round
            joined = shown.rstrip()
            texts, calls = [joined], [replace(call, round_number=1) for call in calls]
        return ParsedReply(
            text=joined,
            round_ends=_ends_of(texts),
            calls=calls,
            unread=sorted(self._unread, key=lambda block: block.place),
            has_tags=True,
        )


def _ends_of(texts: Sequence[str]) -> Sequence[int]:
    """Return where each text ends once they are joined; an empty one ends with the one before."""
    ends: list[int] = []
    length = 0
    for text in texts:
        length += len(text) + (len(_TEXT_JOIN) if text and length else 0)
        ends.append(length)
    return ends


def _alone(texts: Sequence[str]) -> str:
    text = _BLANK_START.sub("", "".join(texts)).rstrip()
    return _BLANK_START.sub("", without_block_tags(text)).rstrip()


def _pairs(tokens: Sequence[Token]) -> tuple[set[int], set[int], list[UnreadBlock]]:
    """Return which tags open a block and which close one, and those without the other."""
    openers: set[int] = set()
    closers: set[int] = set()
    unread: list[UnreadBlock] = []
    waiting: list[tuple[int, Tag]] = []
    names: Counter[str] = Counter()
    for index, tag in enumerate(tokens):
        if isinstance(tag, str) or tag.name not in WITH_BODY:
            continue
        if not tag.is_closing:
            waiting.append((index, tag))
            names[tag.name] += 1
        elif not names[tag.name]:
            unread.append(UnreadBlock(block=tag.name, reason=NOT_OPENED, place=tag.place))
        else:
            closers.add(index)
            is_found = False
            while not is_found:
                at, opener = waiting.pop()
                names[opener.name] -= 1
                if is_found := opener.name == tag.name:
                    openers.add(at)
                else:
                    unread.append(UnreadBlock(block=opener.name, reason=NOT_CLOSED, place=opener.place))
    unread += [UnreadBlock(block=tag.name, reason=NOT_CLOSED, place=tag.place) for _, tag in waiting]
    return openers, closers, unread
