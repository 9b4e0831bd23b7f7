"""The tools of a conversation, one per file.

The order is part of the cached prompt: a new tool goes to the end of its tuple. Tools don't import each
other.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings

from coaching.context.prompt_tools import PromptTools
from coaching.engine.tools import Toolset
from coaching.model_client.context_size import is_compact
from coaching.models import Profile
from coaching.skills.callers import SkillTools
from coaching.skills.loader import COMPACT_BASE_SKILL
from coaching.tools.analyze_transcript import ANALYZE_TRANSCRIPT
from coaching.tools.check_duplicate import CHECK_DUPLICATE
from coaching.tools.classify_document import CLASSIFY_DOCUMENT
from coaching.tools.compact import COMPACT, short_definition
from coaching.tools.complete_session import COMPLETE_SESSION
from coaching.tools.context import ToolContext
from coaching.tools.create_action_item import CREATE_ACTION_ITEM
from coaching.tools.create_knowledge_entry import CREATE_KNOWLEDGE_ENTRY
from coaching.tools.enter_structured_arc import ENTER_STRUCTURED_ARC
from coaching.tools.extract_facts import EXTRACT_FACTS
from coaching.tools.forget_lines import FORGET_LINES
from coaching.tools.get_client_context import GET_CLIENT_CONTEXT
from coaching.tools.keep_capture import KEEP_CAPTURE
from coaching.tools.list_action_items import LIST_ACTION_ITEMS
from coaching.tools.list_documents import LIST_DOCUMENTS
from coaching.tools.list_references import LIST_REFERENCES
from coaching.tools.load_skill import LOAD_SKILL
from coaching.tools.lookup_reference import LOOKUP_REFERENCE
from coaching.tools.policies import POLICIES, ProgramScope
from coaching.tools.presentation import Presentation, SageTool
from coaching.tools.read_file import READ_FILE
from coaching.tools.read_result import READ_RESULT
from coaching.tools.recall_context import RECALL_CONTEXT
from coaching.tools.refile_document import REFILE_DOCUMENT
from coaching.tools.resolve_action_item import RESOLVE_ACTION_ITEM
from coaching.tools.resolve_placement import RESOLVE_PLACEMENT
from coaching.tools.save_file import SAVE_FILE
from coaching.tools.search_clients import SEARCH_CLIENTS
from coaching.tools.search_knowledge_bank import SEARCH_KNOWLEDGE_BANK
from coaching.tools.show_help_lines import SHOW_HELP_LINES
from coaching.tools.show_options import SHOW_OPTIONS
from coaching.tools.show_pulse_check import SHOW_PULSE_CHECK
from coaching.tools.summarize_document import SUMMARIZE_DOCUMENT

_ALWAYS_OFFERED: tuple[SageTool[Any], ...] = (
    SAVE_FILE,
    READ_FILE,
    COMPLETE_SESSION,
    ENTER_STRUCTURED_ARC,
    SHOW_OPTIONS,
    SHOW_PULSE_CHECK,
    LOAD_SKILL,
    READ_RESULT,
    RECALL_CONTEXT,
    SHOW_HELP_LINES,
    CREATE_ACTION_ITEM,
    RESOLVE_ACTION_ITEM,
    FORGET_LINES,
)
_OF_LIBRARY: tuple[SageTool[Any], ...] = (
    LIST_ACTION_ITEMS,
    SEARCH_KNOWLEDGE_BANK,
    CHECK_DUPLICATE,
    GET_CLIENT_CONTEXT,
    SEARCH_CLIENTS,
    LIST_DOCUMENTS,
    CREATE_KNOWLEDGE_ENTRY,
    LOOKUP_REFERENCE,
    LIST_REFERENCES,
    RESOLVE_PLACEMENT,
    CLASSIFY_DOCUMENT,
    SUMMARIZE_DOCUMENT,
    ANALYZE_TRANSCRIPT,
    EXTRACT_FACTS,
    REFILE_DOCUMENT,
)
TOOLS = (*_ALWAYS_OFFERED, *_OF_LIBRARY)
"""The tools of conversations."""
ALL_TOOLS = (*TOOLS, KEEP_CAPTURE)
"""Those, and what only other programs need: people have a form for it."""

SKILL_TOOLS: SkillTools = {tool.name: tool.skills for tool in TOOLS if tool.skills}


def _prompt_tools(tools: Iterable[SageTool[Any]], **how: Any) -> PromptTools[ToolContext]:
    return PromptTools(
        tools,
        skill_tools=SKILL_TOOLS,
        file_reader=READ_FILE.name,
        danger_tool=SHOW_HELP_LINES.name,
        late_tools={
            CLASSIFY_DOCUMENT.name: "classification",
            SUMMARIZE_DOCUMENT.name: "summary",
            ANALYZE_TRANSCRIPT.name: "transcript",
            EXTRACT_FACTS.name: "facts",
        },
        **how,
    )


CHAT_TOOLS = _prompt_tools(TOOLS)
_WITHOUT_LIBRARY = _prompt_tools(_ALWAYS_OFFERED)
COMPACT_TOOLS = _prompt_tools(
    COMPACT,
    base_skill=COMPACT_BASE_SKILL,
    define=short_definition,
    left_out={tool.name for tool in TOOLS} - {tool.name for tool in COMPACT},
    is_compact=True,
)
OFFERED = (_WITHOUT_LIBRARY, CHAT_TOOLS, COMPACT_TOOLS)
"""The sets that a request may have: each has a cached prefix of its own, for the whole installation."""


def offered_tools(profile: Profile) -> PromptTools[ToolContext]:
    """Return the tools of the user's requests: those of the library once they have a document or a client.

    With a small context they are the same for everybody.
    """
    if is_compact(settings.SAGE_MODEL):
        return COMPACT_TOOLS
    return CHAT_TOOLS if profile.has_library else _WITHOUT_LIBRARY


PIPELINE_TOOLS: Toolset[ToolContext] = Toolset(
    tool.in_pipeline() for tool in TOOLS if POLICIES[tool.name].pipeline
)
"""The same objects as in a conversation, those that the pipeline may use; writes name their source, too."""

PROGRAM_TOOLS: Mapping[str, tuple[ProgramScope, SageTool[Any]]] = {
    tool.name: (scope, tool.in_programs()) for tool in ALL_TOOLS if (scope := POLICIES[tool.name].program)
}
"""The same objects, those that other programs may call, each with the scope that it needs."""

TOOL_NAMES = frozenset(CHAT_TOOLS.names())
"""The tools that skills may name."""

_PRESENTATIONS: Mapping[str, Presentation] = {tool.name: tool.presentation for tool in TOOLS}


def presentation_of(name: str) -> Presentation:
    """Return the presentation of a tool; a generic one for an unknown or removed tool."""
    words = f"used {name.replace('_', ' ')}".lower()
    return _PRESENTATIONS.get(name) or Presentation(once=words, often=words)
