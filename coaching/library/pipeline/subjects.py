"""The documents that summaries and analyses are about: read from the database, their findings stored there.

What is stored are proposals, of what the text bears out. No model call.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from coaching.library.documents.findings import SUMMARY_KEY, TRANSCRIPT_KEY, digest_of
from coaching.library.drafts import NewAction, NewEntry
from coaching.library.evidence import Source
from coaching.library.pipeline.checked_answers import Point, Summary, Transcript
from coaching.library.proposals import propose
from coaching.models import (
    ActionItem,
    ActionOrigin,
    ActionPriority,
    Document,
    DocumentText,
    EntryType,
    MadeBy,
)
from coaching.skills.loader import skill_text

ONLY_BEGINNING = "The document is very long: this is from its first part only."


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A document with its text, for the conversation that asked, and the skill for it.

    `run` names one that was asked for anew: its calls are other ones.
    """

    document: Document
    text: str
    pages_read: Sequence[int]
    session_id: uuid.UUID | None
    skill: str
    run: str = ""

    @property
    def key(self) -> str:
        """Name text and run: a call about another text is another call."""
        named = f"{self.document.pk}:{digest_of(self.text)}"
        return f"{named}:{self.run}" if self.run else named

    @property
    def source(self) -> Source:
        """The text, as what is said of it is checked against it."""
        return Source(self.text, pages_read=self.pages_read)


def read_subject(document_id: int, session_id: uuid.UUID | None, skill: str, run: str = "") -> Subject | None:
    """Return a document that may be sent and has a text."""
    found = Document.unscoped.filter(id=document_id, is_withheld=False).select_related("client").first()
    if found is None:
        return None
    text = DocumentText.within(found).first()
    if text is None or not text.text.strip():
        return None
    return Subject(
        document=found,
        text=text.text,
        pages_read=text.pages_read,
        session_id=session_id,
        skill=skill_text(skill),
        run=run,
    )


def known_items(subject: Subject) -> dict[str, str]:
    """Return the keys of the items that analyses of the document have found, by their quotes."""
    rows = ActionItem.of(subject.document.user_id).filter(document=subject.document)
    items = rows.filter(origin_key__startswith=f"{TRANSCRIPT_KEY}:")
    return dict(items.order_by("id").values_list("quote", "origin_key"))


def store_summary(subject: Subject, found: Summary, *, is_cut: bool) -> None:
    """Propose a summary; `is_cut`, if it is of the beginning only."""
    lines = [found.text, "", *(f"- {_cited(point)}" for point in found.points)]
    lines += ["", ONLY_BEGINNING] if is_cut else []
    _store_entry(
        subject,
        title=f"Summary of {subject.document.name}",
        content="\n".join(lines).strip(),
        entry_type=EntryType.DOCUMENT_SUMMARY,
        key_points=[_cited(point) for point in found.points],
        key=SUMMARY_KEY,
    )


def store_transcript(subject: Subject, found: Transcript, *, is_cut: bool) -> None:
    """Propose what was said and what is to be done; `is_cut`, if it is of the beginning only."""
    lines = [found.summary, ""] if found.summary else []
    lines += [f"Speakers: {', '.join(found.speakers)}", ""] if found.speakers else []
    for title, points in (("Decided", found.decisions), ("Open", found.open_questions)):
        lines += [f"{title}:", *(f"- {_cited(point)}" for point in points), ""] if points else []
    lines += [ONLY_BEGINNING] if is_cut else []
    _store_entry(
        subject,
        title=f"What was said in {subject.document.name}",
        content="\n".join(lines).strip() or "Only what there is to do.",
        entry_type=EntryType.CALL_TRANSCRIPT,
        key_points=[_cited(point) for point in found.decisions],
        key=TRANSCRIPT_KEY,
    )
    document = subject.document
    for action in found.actions:
        evidence = action.evidence
        new = NewAction(
            client_id=document.client_id,
            project_id=document.project_id,
            document_id=document.pk,
            session_id=subject.session_id,
            title=action.title,
            description=action.description,
            due_date=evidence.due_date,
            due_words=evidence.due_words,
            priority=ActionPriority(action.priority),
            owner=evidence.owner,
            quote=evidence.quote,
            page=evidence.page,
            origin_key=action.key,
            origin=ActionOrigin.TRANSCRIPT,
        )
        propose(user_id=document.user_id, new=new, made_by=_made_by(subject, TRANSCRIPT_KEY))


def _store_entry(
    subject: Subject, *, title: str, content: str, entry_type: EntryType, key_points: Sequence[str], key: str
) -> None:
    document = subject.document
    new = NewEntry(
        client_id=document.client_id,
        project_id=document.project_id,
        document_id=document.pk,
        session_id=subject.session_id,
        title=title[:200],
        content=content,
        entry_type=entry_type,
        key_points=key_points,
        origin_key=key,
    )
    propose(user_id=document.user_id, new=new, made_by=_made_by(subject, key))


def _made_by(subject: Subject, kind: str) -> MadeBy:
    """Return who asked: only transcripts are analysed without a conversation."""
    is_unasked = kind == TRANSCRIPT_KEY and subject.session_id is None
    return MadeBy.PIPELINE if is_unasked else MadeBy.CHAT


def _cited(point: Point) -> str:
    page = f" (page {point.page})" if point.page else ""
    return f"{point.text}{page}: “{point.quote}”"
