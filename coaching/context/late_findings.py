"""What documents turned out to say after a tool had stopped waiting: told with the next message, once.

The window itself says which calls are waited for. Nothing is read where there are none.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from coaching.context.fences import fence, fence_value, open_tag
from coaching.context.opening import Statement
from coaching.context.statement import StatementPart
from coaching.library.documents.findings import Finding, FindingKind, finding_values, read_finding
from coaching.library.documents.reasons import reason_for_models
from coaching.models import UNFINISHED_STATES, Document
from sessions_app.models import Message

LateKind = FindingKind | Literal["classification"]

IN_PROGRESS = (
    "In progress. What is found comes with the user's next message: say so, and go on with something else."
)
"""The result of a call that isn't waited for any longer."""
PROPOSED = (
    "These are proposals: tell the user what you found, with its pages. What they say yes to, create with "
    "its tool under the same title; they can also accept it on the document's page."
)
CITE = "Cite a page in the sentence that rests on it, as [title, page 3](link#page-3)."
FINDING_KEY = "finding:"
"""The prefix of a finding's key in a statement, before the id of the call that asked for it."""
MAX_FINDINGS = 3
FACT_QUOTE = 200
"""The most characters of a fact's quote."""
SHARE = 0.5
"""The most that one takes of what is left of the prompt; of a longer one it is only told that it is there."""
GONE = "The document isn’t there any more, or the user keeps it from you."
READY = "It is ready, and too long for here: call the tool again, which answers at once."


@dataclass(frozen=True, slots=True)
class Awaited:
    """A call whose result the model doesn't have yet."""

    tool: str
    document_id: int
    kind: LateKind
    key: str


def awaited_in(messages: Iterable[Message], tools: Mapping[str, LateKind]) -> Sequence[Awaited]:
    """Return the calls of messages that were in progress, and weren't answered by a later one."""
    found: dict[tuple[str, int], Awaited] = {}
    for message in messages:
        for call in message.metadata.get("tool_calls", ()):
            document_id = call["input"].get("document_id") if isinstance(call["input"], dict) else None
            if call["name"] not in tools or not isinstance(document_id, int) or call["is_error"]:
                continue
            asked = (call["name"], document_id)
            if call["result"] == IN_PROGRESS:
                found[asked] = Awaited(*asked, kind=tools[call["name"]], key=f"{FINDING_KEY}{call['id']}")
            else:
                found.pop(asked, None)
    return list(found.values())


def finding_parts(
    awaited: Iterable[Awaited], *, user_id: int, said: Statement, tokens: int
) -> Sequence[StatementPart]:
    """Return what is there by now and wasn't told, in about `tokens`. Sync ORM code."""
    parts: list[StatementPart] = []
    for each in awaited:
        if each.key in said.sections or len(parts) == MAX_FINDINGS:
            continue
        if (text := _read(each, user_id)) is None:
            continue
        part = _part(each, text)
        if part.tokens > tokens * SHARE:
            part = _part(each, READY)
        tokens -= part.tokens
        parts.append(part)
    return parts


def finding_text(document_id: int, finding: Finding) -> str:
    """Return what was found in a document, as a tool's result has it: fenced, with a link and what to do."""
    values = {"document_id": document_id, "link": _link(document_id), **finding_values(finding)}
    if finding.has_something:
        values["cite"] = CITE
    if finding.facts:
        values["facts"] = [
            {**fact, "quote": fence_value(fact.get("quote", ""), FACT_QUOTE)} for fact in finding.facts
        ]
    if finding.entry is not None:
        values["note"] = PROPOSED
    return fence(json.dumps(values, ensure_ascii=False))


def classification_text(document: Document) -> str:
    """Return what a document is and where it was filed, as a tool's result has it."""
    values = {
        "document_id": document.pk,
        "link": _link(document.pk),
        "state": document.state,
        "reason": fence_value(reason_for_models(document.reason), 300),
        "reading_note": fence_value(reason_for_models(document.reading_note), 500),
        "file_type": document.file_type,
        "category": document.category,
        "folder": fence_value(document.folder, 120),
        "confidence": document.confidence,
        "why": fence_value(document.why, 600),
        "summary": fence(document.summary),
    }
    kept = {name: value for name, value in values.items() if value not in ("", None)}
    return json.dumps(kept, ensure_ascii=False)


def _read(awaited: Awaited, user_id: int) -> str | None:
    """Return what is to be told; None while it is still in progress."""
    try:
        if awaited.kind == "classification":
            document = Document.of(user_id).get(id=awaited.document_id, is_withheld=False)
            return None if document.state in UNFINISHED_STATES else classification_text(document)
        finding = read_finding(user_id=user_id, document_id=awaited.document_id, kind=awaited.kind)
    except Document.DoesNotExist:
        return GONE
    return finding_text(awaited.document_id, finding) if finding.is_ready else None


def _part(awaited: Awaited, text: str) -> StatementPart:
    opened = open_tag("finding", {"tool": awaited.tool, "document": awaited.document_id})
    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    return StatementPart(key=awaited.key, digest=digest, text=f"{opened}\n{text}\n</finding>")


def _link(document_id: int) -> str:
    return f"/library/documents/{document_id}/"
