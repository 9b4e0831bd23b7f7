"""Classifies documents without a real model: by the phrases of the references that came with them.

Whatever a document says to its reader, only how it looks counts. A type needs a phrase of its own; without
one the answer says that it isn't sure.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from coaching.practice.api.prefix import content_blocks
from coaching.practice.coach.file_names import clip
from coaching.practice.script import Reply

# What is inside a reference or a document opens no other: it is fenced.
_REFERENCE = re.compile(
    r'<reference file_type="([a-z0-9-]++)">'
    r"\n((?:[^\n<]++|\n(?!</reference>)|<(?!reference\b))*+)\n</reference>"
)
_DOCUMENT = re.compile(
    r"<document ([^<>\n]*+)>\n?((?:[^\n<]++|\n(?!</document>)|<(?!/?document\b))*+)\n?</document>"
)
_ATTRIBUTE = re.compile(r'(?<!\w)(\w++)="([^"]*+)"')
_PHRASES = re.compile(r"^## Phrases\n\n(.*)", re.MULTILINE)
_FACT = re.compile(r"^(?:[-*#]|[^\S\n])*+([A-ZÄÖÜ][^:\n|]{1,40}):[ \t]+(\S[^\n]{0,120})$", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?\n…]{12,}[.!?…]?")
_PAGE = re.compile(r"^\[page (\d+)\]$", re.MULTILINE)
_FACTS = 5
_SURE_PHRASES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SentDocument:
    """A document as a request holds it."""

    number: int
    id: int
    name: str
    text: str
    candidates: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A type with those of its phrases that a document has."""

    file_type: str
    phrases: Sequence[str]


def is_classification(body: Mapping[str, Any]) -> bool:
    """Return whether a request asks what documents are."""
    return bool(_item_schema(body).get("file_type"))


def classify(body: Mapping[str, Any]) -> Reply:
    """Answer a classification."""
    references = sent_references(body)
    tags = _item_schema(body)["tags"]["items"].get("enum", [])
    rows = [_row(document, references, tags) for document in sent_documents(body)]
    return answer_of(rows)


def answer_of(rows: Sequence[Mapping[str, Any]]) -> Reply:
    """Return the reply that says this of each document, at once."""
    return Reply.of(orjson.dumps({"documents": rows}).decode(), tokens_per_second=0.0)


def sent_references(body: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the references of a request by type."""
    return dict(_REFERENCE.findall(_sent(body)))


def sent_documents(body: Mapping[str, Any]) -> Sequence[SentDocument]:
    """Return the documents of a request in the order sent."""
    return list(_documents(body))


def _documents(body: Mapping[str, Any]) -> Iterator[SentDocument]:
    for opened, text in _DOCUMENT.findall(_sent(body)):
        facts = dict(_ATTRIBUTE.findall(opened))
        yield SentDocument(
            number=int(facts["number"]),
            id=int(facts["id"]),
            name=facts.get("name", ""),
            text=text,
            candidates=[each for each in facts.get("candidates", "").split(", ") if each],
        )


def row_for(document: SentDocument, file_type: str, confidence: float, **said: Any) -> dict[str, Any]:
    """Return what an answer says of a document."""
    row: dict[str, Any] = {
        "document": document.number,
        "file_type": file_type,
        "confidence": confidence,
        "alternatives": [],
        "tags": [],
        "summary": _summary(document.text),
        "key_facts": list(_facts(document.text)),
        "why": "",
        "proposal": {"file_type": "", "folder": "", "tags": []},
    }
    return row | said


def _row(document: SentDocument, references: Mapping[str, str], tags: Sequence[str]) -> dict[str, Any]:
    words = _plain(f"{document.name}\n{document.text}")
    shown = [each for each in document.candidates if each in references] or list(references)
    found = [_Found(file_type=each, phrases=_phrases_in(words, references[each])) for each in shown]
    best, *others = sorted(found, key=lambda each: -len(each.phrases)) or [_Found(file_type="", phrases=())]
    is_sure = len(best.phrases) >= _SURE_PHRASES and (
        not others or len(best.phrases) - len(others[0].phrases) >= 1
    )
    confidence = (
        0.93 if is_sure else 0.85 if best.phrases and not any(each.phrases for each in others) else 0.5
    )
    quoted = ", ".join(f"“{phrase}”" for phrase in best.phrases[:3])
    return row_for(
        document,
        best.file_type,
        confidence,
        alternatives=[
            {"file_type": each.file_type, "confidence": 0.05 if confidence > 0.5 else 0.4}
            for each in others[:2]
            if each.phrases
        ],
        tags=[tag for tag in tags if re.search(rf"\b{re.escape(tag)}\b", words)][:4],
        why=f"It says {quoted}." if quoted else "None of the phrases that I know stands in it.",
    )


def _phrases_in(words: str, reference: str) -> Sequence[str]:
    listed = _PHRASES.search(reference)
    phrases = listed[1].split("; ") if listed else []
    return [phrase for phrase in phrases if _plain(phrase) in words]


def _facts(text: str) -> Iterator[dict[str, Any]]:
    for found in list(_FACT.finditer(text))[:_FACTS]:
        pages = [int(page[1]) for page in _PAGE.finditer(text, 0, found.start())]
        yield {
            "name": found[1].strip(),
            "value": found[2].strip(),
            "quote": " ".join(found[0].split()),
            "page": pages[-1] if pages else 1,
        }


def _summary(text: str) -> str:
    sentences = [" ".join(found.split()) for found in _SENTENCE.findall(_PAGE.sub("", text))]
    return clip(" ".join(sentences[:2]), 300)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _sent(body: Mapping[str, Any]) -> str:
    first = body["messages"][0] if body.get("messages") else {"content": ""}
    return "\n".join(block["text"] for block in content_blocks(first["content"]) if block["type"] == "text")


def _item_schema(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the answer says of each document; empty for other requests."""
    form = (body.get("output_config") or {}).get("format") or {}
    documents = form.get("schema", {}).get("properties", {}).get("documents", {})
    properties = documents.get("items", {}).get("properties", {})
    return properties if isinstance(properties, Mapping) else {}
