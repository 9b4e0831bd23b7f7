"""Whether a turn has read texts that the person hasn't just written: attachments, and results of calls."""

from sessions_app.history import DOCUMENTS_KEY
from sessions_app.models import MessageRole, ToolCallRecord

READING_TOOLS = frozenset(
    {
        "analyze_transcript",
        "classify_document",
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
    """Return whether the turn of a call has read such texts by then."""
    message = call.turn.messages.filter(role=MessageRole.USER).only("metadata").first()
    if message is not None and message.metadata.get(DOCUMENTS_KEY):
        return True
    earlier = call.turn.calls.filter(name__in=READING_TOOLS).exclude(pk=call.pk)
    return earlier.exclude(result="").exists()
