"""Classifies documents without a real model: by the phrases of the references that came with them.

Whatever a document says to its reader, only how it looks counts. A type needs two phrases of its own, or one
in the title or the name, and has to be the likeliest candidate. Otherwise the answer says that it isn't sure:
an IBAN stands in invoices, too. Without any phrase it names no type, so that the page asks the person.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from coaching.practice.api.prefix import content_blocks
from coaching.practice.coach import texts
from coaching.practice.coach.analysis import facts_in
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
_SENTENCE = re.compile(r"[^.!?\n…]{12,}[.!?…]?")
_PAGE = re.compile(r"^\[page (\d+)\]$", re.MULTILINE)
_WORDS = re.compile(r"[^\W_]++")
_FACTS = 3
_SURE, _FAIRLY_SURE, _UNSURE = 0.93, 0.85, 0.5
_SURE_PHRASES = 2
_TITLE = 100
"""The characters of a document's first line that count as its title."""
_LONG_PHRASE = 8
"""A phrase with so many characters also counts inside a word: Wohnraummietvertrag is a Mietvertrag."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentDocument:
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
    with texts.speaking(_owner_language(body)):
        return answer_of([_row(document, references, tags) for document in sent_documents(body)])


def _owner_language(body: Mapping[str, Any]) -> texts.Language:
    """Return the language that the request's first tag names; English if it names none of the tour's."""
    read = dict(_ATTRIBUTE.findall(_sent(body).partition(">")[0])).get("reads")
    return next((code for code in texts.LANGUAGES if code == read), texts.ENGLISH)


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
    if not best.phrases:
        return _named(document, shown)
    confidence = _confidence(document, best, others) if best.file_type in shown[:1] else _UNSURE
    quoted = ", ".join(texts.of_job("phrase", words=phrase) for phrase in best.phrases[:3])
    return row_for(
        document,
        best.file_type,
        confidence,
        alternatives=[
            {"file_type": each.file_type, "confidence": 0.4 if confidence == _UNSURE else 0.05}
            for each in others[:2]
            if each.phrases
        ],
        tags=[tag for tag in tags if _has(words, tag)][:4],
        why=texts.of_job("says", phrases=quoted),
    )


def _named(document: SentDocument, shown: Sequence[str]) -> dict[str, Any]:
    """Return the row of a document without phrases: with the type that its title names in full, or none."""
    words = {each: each.replace("-", " ") for each in shown if "-" in each}
    named = next((each for each in words if _has(_titled(document), words[each])), "")
    if not named:
        return row_for(document, "", 0.0, why=texts.of_job("says_nothing"))
    quoted = texts.of_job("phrase", words=words[named])
    return row_for(document, named, _UNSURE, why=texts.of_job("says", phrases=quoted))


def _titled(document: SentDocument) -> str:
    title = _PAGE.sub("", document.text).lstrip().partition("\n")[0][:_TITLE]
    return _plain(f"{document.name}\n{title}")


def _confidence(document: SentDocument, best: _Found, others: Sequence[_Found]) -> float:
    """Return how sure the phrases of the best type make, compared with those of the next."""
    next_best = others[0].phrases if others else ()
    if len(best.phrases) >= _SURE_PHRASES and len(best.phrases) > len(next_best):
        return _SURE
    titled = _titled(document)
    if not next_best and any(_has(titled, phrase) for phrase in best.phrases):
        return _FAIRLY_SURE
    return _UNSURE


def _phrases_in(words: str, reference: str) -> Sequence[str]:
    listed = _PHRASES.search(reference)
    return [phrase for phrase in (listed[1].split("; ") if listed else []) if _has(words, phrase)]


def _has(words: str, phrase: str) -> bool:
    """Say whether words have a phrase: a short one not inside of a word, such as “till” in “still”."""
    plain = _plain(phrase)
    return (plain.strip() if len(plain) > _LONG_PHRASE + 1 else plain) in words


def _facts(text: str) -> Iterator[dict[str, Any]]:
    for fact in facts_in(text, _FACTS):
        yield {name: fact[name] for name in ("name", "value", "quote")}


def _summary(text: str) -> str:
    sentences = [" ".join(found.split()) for found in _SENTENCE.findall(_PAGE.sub("", text))]
    return clip(" ".join(sentences[:2]), 300)


def _plain(text: str) -> str:
    """Return the words of a text, each between spaces."""
    return f" {' '.join(_WORDS.findall(text.casefold()))} "


def _sent(body: Mapping[str, Any]) -> str:
    first = body["messages"][0] if body.get("messages") else {"content": ""}
    return "\n".join(block["text"] for block in content_blocks(first["content"]) if block["type"] == "text")


def _item_schema(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the answer says of each document; empty for other requests."""
    form = (body.get("output_config") or {}).get("format") or {}
    documents = form.get("schema", {}).get("properties", {}).get("documents", {})
    properties = documents.get("items", {}).get("properties", {})
    return properties if isinstance(properties, Mapping) else {}
