"""Sums up documents, analyses transcripts, notes facts without a real model: with sentences of the text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import orjson

from coaching.practice.api.prefix import content_blocks
from coaching.practice.coach.file_names import clip
from coaching.practice.script import Reply

# What is inside is fenced: it opens no other.
_DOCUMENT = re.compile(
    r"<document [^<>\n]*+>\n((?:[^\n<]++|\n(?!</document>)|<(?!document\b))*+)\n</document>"
)
_NOTES = re.compile(r"^- \[page (\d++)\] ((?:(?! “).)*+) “(.*)”$", re.MULTILINE)
_PAGE = re.compile(r"^\[page (\d+)\]$", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?\n…]{12,}(?:[.!?](?!\s|$)[^.!?\n…]*)*[.!?]?")
_TURN = re.compile(r"^(?:\[?[\d:.]+\]?\s*)?([A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){0,2}):\s+(.+)$", re.MULTILINE)
_PROMISE = re.compile(r"\b(?:I['’]ll|I will|I am going to|I['’]m going to)\s+(.+)", re.IGNORECASE)
_DECIDED = re.compile(
    r"\b(?:we(?:['’]ve| have)? (?:agreed|decided)|agreed:|it['’]s decided|let['’]s go with)\b", re.IGNORECASE
)
_DUE = re.compile(
    r"\b(?:by|before|on|until) (?:next |this )?(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|tomorrow|"
    r"\d{1,2} \w+ \d{4}|\d{4}-\d\d-\d\d)\b|\btomorrow\b",
    re.IGNORECASE,
)
_NOT_SPEAKERS = frozenset({"Date", "Meeting", "Subject", "Attendees", "Present", "Recorded", "Note", "Notes"})
_FACT = re.compile(r"^(?:[-*#]|[^\S\n])*+([A-ZÄÖÜ][^:\n|]{1,40}):[ \t]+(\S[^\n]{0,600})$", re.MULTILINE)
_NEXT_FACT = re.compile(r"[,;.][ \t]+(?=[A-ZÄÖÜ][^\s:,;.|]*+(?: [^\s:,;.|]++){0,2}:[ \t])")
"""Between two facts on one line: `Landlord: Hans Meyer GmbH, Tenant: Ana Ruiz`."""
_POINTS, _A_PAGE = 8, 2
_FACTS = 20
_MAX_VALUE = 121


def is_analysis(body: Mapping[str, Any]) -> bool:
    """Return whether a request asks for a summary, the analysis of a transcript, or facts."""
    return bool({"points", "action_items", "facts"} & set(_properties(body)))


def analyse(body: Mapping[str, Any]) -> Reply:
    """Answer such a request."""
    sent = _sent(body)
    found = _DOCUMENT.search(sent)
    text = found[1] if found else ""
    asked = _properties(body)
    if "facts" in asked:
        rows: Mapping[str, Any] = {"facts": list(facts_in(text))}
    else:
        rows = _transcript(text) if "action_items" in asked else _summary(text, sent)
    return Reply.of(orjson.dumps(rows).decode(), tokens_per_second=0.0)


def facts_in(text: str, most: int = _FACTS) -> Iterator[dict[str, Any]]:
    """Yield what lines of a text give a name to: `Rent: EUR 900`."""
    return islice(_facts_in(text), most)


def _facts_in(text: str) -> Iterator[dict[str, Any]]:
    for found in _FACT.finditer(text):
        first, *more = _NEXT_FACT.split(found[2])
        named = [(found[1], first), *((each.partition(":")[0], each.partition(":")[2]) for each in more)]
        for name, value in named:
            quote = " ".join(f"{name}: {value}".split())
            if len(value.strip()) <= _MAX_VALUE:
                yield {"name": name.strip(), "value": value.strip(), "quote": quote, "main": True}


def _summary(text: str, sent: str) -> Mapping[str, Any]:
    points = (
        list(_points(text))
        if text
        else [
            {"text": words, "page": int(page), "quote": quote} for page, words, quote in _NOTES.findall(sent)
        ]
    )
    points = points[:_POINTS]
    return {"summary": " ".join(str(point["quote"]) for point in points[:2]), "points": points}


def _points(text: str) -> Iterator[Mapping[str, Any]]:
    for page, words in _pages(text):
        for found in _SENTENCE.findall(words)[:_A_PAGE]:
            quote = clip(" ".join(found.split()), 300)
            yield {"text": quote, "page": page, "quote": quote.removesuffix("…")}


def _pages(text: str) -> Sequence[tuple[int, str]]:
    parts = _PAGE.split(text)
    if len(parts) == 1:
        return [(0, text)]
    return [(int(parts[place]), parts[place + 1]) for place in range(1, len(parts) - 1, 2)]


def _transcript(text: str) -> Mapping[str, Any]:
    said = [(name, words) for name, words in _TURN.findall(text) if name not in _NOT_SPEAKERS]
    sentences = [
        (name, " ".join(found.split())) for name, words in said for found in _SENTENCE.findall(words)
    ]
    return {
        "summary": "",
        "speakers": [{"name": name, "role": ""} for name in dict.fromkeys(name for name, _ in said)],
        "decisions": [
            {"text": sentence, "quote": sentence} for _, sentence in sentences if _DECIDED.search(sentence)
        ],
        "action_items": [
            _action(name, sentence, found[1])
            for name, sentence in sentences
            if (found := _PROMISE.search(sentence)) and not sentence.endswith("?")
        ],
        "open_questions": [],
    }


def _action(name: str, sentence: str, promised: str) -> Mapping[str, str]:
    due = _DUE.search(promised)
    title = promised[: due.start()] if due else promised
    title = title.strip(" .,!")
    return {
        "title": title[:1].upper() + title[1:200],
        "description": "",
        "owner": name,
        "due_words": due[0] if due else "",
        "due_date": "",
        "priority": "medium",
        "quote": sentence,
    }


def _properties(body: Mapping[str, Any]) -> Mapping[str, Any]:
    form = (body.get("output_config") or {}).get("format") or {}
    properties = form.get("schema", {}).get("properties", {})
    return properties if isinstance(properties, Mapping) else {}


def _sent(body: Mapping[str, Any]) -> str:
    first = body["messages"][0] if body.get("messages") else {"content": ""}
    return "\n".join(block["text"] for block in content_blocks(first["content"]) if block["type"] == "text")
