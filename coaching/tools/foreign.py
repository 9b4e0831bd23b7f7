"""Names of the texts of others in a call's result, and whether a turn read more than its person's words."""

from collections.abc import Collection, Iterable, Sequence

from django.db.models import Q

from coaching.context.foreign import IMPORTED_CONVERSATION, IMPORTED_PAGE, foreign_names
from coaching.files.selectors import FileText
from coaching.models import (
    ActionItem,
    Document,
    FileSource,
    KnowledgeEntry,
    LibraryEffect,
    RecallSource,
    UserFile,
    UserFileVersion,
)
from coaching.recall.hits import Hit, Passage
from coaching.tools.tainted import Ruling
from sessions_app.history import DOCUMENTS_KEY, FOREIGN_KEY, PROGRAM_KEY, TAINT_KEY
from sessions_app.models import Message, MessageRole, ToolCallRecord

READING_TOOLS = frozenset(
    {
        "analyze_transcript",
        "classify_document",
        "extract_facts",
        "get_client_context",
        "list_action_items",
        "list_documents",
        "read_file",
        "read_result",
        "recall_context",
        "search_knowledge_bank",
        "summarize_document",
    }
)
"""The tools whose results hold text of documents, files and earlier conversations."""


def has_read_others(call: ToolCallRecord) -> bool:
    """Return whether the turn of a call has read such texts by then, or its request held texts of others."""
    ruling = Ruling.of(call.metadata)
    if ruling is not None and ruling.sources:
        return True
    message = call.turn.messages.filter(role=MessageRole.USER).only("metadata").first()
    if message is not None and (message.metadata.get(DOCUMENTS_KEY) or message.metadata.get(PROGRAM_KEY)):
        return True
    earlier = call.turn.calls.filter(name__in=READING_TOOLS).exclude(pk=call.pk)
    return earlier.exclude(result="").exists()


def names_of_documents(user_id: int, ids: Iterable[int | None]) -> tuple[str, ...]:
    """Return the names of documents that a result tells of. Sync ORM code."""
    wanted = {each for each in ids if each}
    if not wanted:
        return ()
    return foreign_names(Document.of(user_id).filter(id__in=wanted).values_list("name", flat=True))


def names_of_steps(user_id: int, steps: Iterable[ActionItem]) -> tuple[str, ...]:
    """Return the documents that steps come from, and the programs that changed them. Sync ORM code."""
    return _names_of_made(user_id, "action_item", list(steps))


def names_of_entries(user_id: int, entries: Iterable[KnowledgeEntry]) -> tuple[str, ...]:
    """Return the documents that entries come from, and the programs that suggested them. Sync ORM code."""
    return _names_of_made(user_id, "entry", list(entries))


def _names_of_made(
    user_id: int, row: str, shown: Sequence[ActionItem] | Sequence[KnowledgeEntry]
) -> tuple[str, ...]:
    effects = LibraryEffect.of(user_id).filter(**{f"{row}__in": shown}, undone_at=None).exclude(program="")
    return foreign_names(
        names_of_documents(user_id, [one.document_id for one in shown]),
        effects.order_by("id").values_list("program", flat=True) if shown else (),
    )


def names_in_file(found: FileText) -> tuple[str, ...]:
    """Return what a file's newest text was taken from, if others wrote it. Sync ORM code."""
    return _names_of_version(found.file.user_id, found.version)


def names_in_passages(user_id: int, found: Sequence[Passage]) -> tuple[str, ...]:
    """Return the names of the texts of others among passages of the user's history. Sync ORM code."""
    documents = (RecallSource.DOCUMENT, RecallSource.KNOWLEDGE)
    return foreign_names(
        (passage.title for passage in found if passage.hit.source in documents),
        (IMPORTED_CONVERSATION for passage in found if passage.imported_id),
        _names_of_files(user_id, {one.hit.file_id for one in found if one.hit.source == RecallSource.FILE}),
        _names_of_steps(user_id, {one.hit.file_id for one in found if one.hit.source == RecallSource.STEP}),
        _names_in_answers(user_id, [one.hit for one in found if one.hit.message_id]),
    )


def _names_of_files(user_id: int, ids: Collection[int | None]) -> Iterable[str]:
    files = UserFile.of(user_id).filter(id__in=[each for each in ids if each]) if ids else ()
    for file in files:
        version = file.versions.order_by("-number").first()
        yield from _names_of_version(user_id, version) if version else ()


def _names_of_steps(user_id: int, ids: Collection[int | None]) -> Iterable[str]:
    """Return what steps come from: a person's own words are nobody else's."""
    return names_of_steps(user_id, ActionItem.of(user_id).filter(id__in=[each for each in ids if each]))


def _names_of_version(user_id: int, version: UserFileVersion) -> tuple[str, ...]:
    if version.program:
        return (version.program,)
    if version.source == FileSource.IMPORT:
        return (IMPORTED_PAGE,)
    if version.source != FileSource.TOOL or version.session_id is None:
        return ()
    calls = ToolCallRecord.of(user_id).filter(
        turn__session_id=version.session_id, tool_use_id=version.tool_use_id
    )
    call = calls.order_by("-pk").first()
    ruling = Ruling.of(call.metadata) if call else None
    # What the person has said yes to is theirs.
    return ruling.sources if ruling and not ruling.is_held else ()


def _names_in_answers(user_id: int, hits: Sequence[Hit]) -> Iterable[str]:
    """Yield the texts that answers among hits, and next to them, were written about: they may quote these.

    Also the programs that sent messages among these.
    """
    near = Q()
    for hit in hits:
        near |= Q(session_id=hit.session_id, number__range=(hit.number - 1, hit.number + 1))
    if not hits:
        return
    sent = Message.of(user_id).filter(near, role=MessageRole.USER, metadata__has_key=PROGRAM_KEY)
    yield from sent.values_list(f"metadata__{PROGRAM_KEY}", flat=True)
    answers = Message.of(user_id).filter(near, role=MessageRole.ASSISTANT)
    for about, calls in answers.values_list("turn__metadata", "metadata__tool_calls"):
        yield from about.get(TAINT_KEY, ())
        for call in calls or ():
            yield from call.get(FOREIGN_KEY, ())
