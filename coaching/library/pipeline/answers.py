"""The form of a classification's answer: its JSON schema, and its reading.

Whatever the model writes, only words of the vocabulary and facts that the text has get past this module.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from coaching.engine.json_text import scrub_surrogates, without_fence
from coaching.library.evidence import Source
from coaching.library.pipeline.batch import Verdict
from coaching.library.pipeline.checked_facts import fact_row, on_one_line
from coaching.library.pipeline.forms import STRING
from coaching.library.references.text import Vocabulary

MAX_SUMMARY = 1_500
MAX_FACTS = 20
MAX_WHY = 600
MAX_TAGS = 8

_NUMBER = {"type": "number"}


class _Alternative(BaseModel):
    file_type: str
    confidence: float = 0.0


class _Fact(BaseModel):
    name: str
    value: str
    quote: str = ""


class _Proposal(BaseModel):
    file_type: str = ""
    folder: str = ""
    tags: list[str] = Field(default_factory=list)


class _Classified(BaseModel):
    model_config = ConfigDict(extra="ignore")

    document: int
    file_type: str
    confidence: float
    alternatives: list[_Alternative] = Field(default_factory=list)
    tags: list[str] = Field(default_factory=list)
    summary: str = ""
    key_facts: list[_Fact] = Field(default_factory=list)
    why: str = ""
    proposal: _Proposal = Field(default_factory=_Proposal)


class _Answer(BaseModel):
    documents: list[dict[str, Any]]


def build_output_format(vocabulary: Vocabulary) -> dict[str, Any]:
    """Build the structured output of a classification."""
    file_type = {"type": "string", "enum": list(vocabulary.file_types)}
    document = {
        "document": {"type": "integer"},
        "file_type": file_type,
        "confidence": _NUMBER,
        "alternatives": _list(_object({"file_type": file_type, "confidence": _NUMBER})),
        "tags": _list({"type": "string", "enum": list(vocabulary.tags)}),
        "summary": STRING,
        "key_facts": _list(_object({"name": STRING, "value": STRING, "quote": STRING})),
        "why": STRING,
        "proposal": _object({"file_type": STRING, "folder": STRING, "tags": _list(STRING)}),
    }
    return {"type": "json_schema", "schema": _object({"documents": _list(_object(document))})}


def build_compact_format(vocabulary: Vocabulary) -> dict[str, Any]:
    """Build a structured output of what a document's row can't do without."""
    document = {
        "document": {"type": "integer"},
        "file_type": {"type": "string", "enum": list(vocabulary.file_types)},
        "confidence": _NUMBER,
        "tags": _list({"type": "string", "enum": list(vocabulary.tags)}),
        "summary": STRING,
        "key_facts": _list(_object({"name": STRING, "value": STRING, "quote": STRING})),
    }
    return {"type": "json_schema", "schema": _object({"documents": _list(_object(document))})}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


def read_answer(answer: str, sources: Sequence[Source], vocabulary: Vocabulary) -> Sequence[Verdict | None]:
    """Return what the answer says of each document, in the order sent; None where it says nothing usable.

    `sources` are the documents' own texts: facts that they don't bear out are left out.
    """
    try:
        rows = _Answer.model_validate(json.loads(without_fence(answer))).documents
    except (ValidationError, ValueError, RecursionError):
        return [None] * len(sources)
    verdicts: list[Verdict | None] = [None] * len(sources)
    for row in rows:
        try:
            said = _Classified.model_validate(scrub_surrogates(row))
        except ValidationError:
            continue
        if 1 <= said.document <= len(sources) and verdicts[said.document - 1] is None:
            verdicts[said.document - 1] = _verdict(said, sources[said.document - 1], vocabulary)
    return verdicts


def _verdict(said: _Classified, source: Source, vocabulary: Vocabulary) -> Verdict:
    known = said.file_type if said.file_type in vocabulary.file_types else ""
    unknown_tags = [tag for tag in [*said.tags, *said.proposal.tags] if tag not in vocabulary.tags]
    proposal = {
        "file_type": _line(said.proposal.file_type) or ("" if known else _line(said.file_type)),
        "folder": _line(said.proposal.folder),
        "tags": [_line(tag) for tag in unknown_tags][:MAX_TAGS],
    }
    if proposal["file_type"] in vocabulary.file_types:
        proposal["file_type"] = ""
    if proposal["folder"] in vocabulary.folders:
        proposal["folder"] = ""
    alternatives = [
        {"file_type": each.file_type, "confidence": _share(each.confidence)}
        for each in said.alternatives
        if each.file_type in vocabulary.file_types and each.file_type != known
    ]
    examined = said.key_facts[:MAX_FACTS]
    rows = (fact_row(fact.name, fact.value, fact.quote, source) for fact in examined)
    facts = [row for row in rows if row]
    return Verdict(
        file_type=known,
        confidence=_share(said.confidence) if known else 0.0,
        alternatives=sorted(alternatives, key=lambda each: -float(str(each["confidence"])))[:3],
        tags=[tag for tag in dict.fromkeys(said.tags) if tag in vocabulary.tags][:MAX_TAGS],
        summary=said.summary.replace("\x00", "").strip()[:MAX_SUMMARY],
        key_facts=facts,
        dropped_facts=len(examined) - len(facts),
        why=_line(said.why, MAX_WHY),
        proposal={key: value for key, value in proposal.items() if value},
    )


def _share(value: float) -> float:
    return round(min(1.0, max(0.0, value)), 3) if value == value else 0.0  # noqa: PLR0124 - not a number


def _line(text: str, most: int = 120) -> str:
    return on_one_line(text, most)
