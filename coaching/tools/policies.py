"""What each tool may do where it is used: one table, three policies over the same objects.

In a conversation the person is there to be asked. While documents are read nobody is, so writes only propose.
Another program calls with a scope that its person has given it: it reads, keeps captures, and proposes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Treatment = Literal["free", "undo", "confirm"]
ProgramScope = Literal["capture", "read", "write"]


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy of one tool.

    `after_texts`: what becomes of a call in a conversation after texts of others (`coaching.tools.tainted`),
    None if conversations don't offer the tool. `free`: it reads, or asks the person. `confirm`: it waits for
    their yes. `undo`: it runs if it only adds, shown with the names of the texts and *Undo*; what would
    replace something waits. `pipeline`: whether documents are read with it. `program`: the scope that another
    program needs, None if no program may call it.
    """

    after_texts: Treatment | None
    pipeline: bool = False
    program: ProgramScope | None = None


POLICIES: Mapping[str, Policy] = {
    "save_file": Policy("undo"),
    "read_file": Policy("free", program="read"),
    "complete_session": Policy("confirm"),
    "enter_structured_arc": Policy("confirm"),
    "show_options": Policy("free"),
    "show_pulse_check": Policy("free"),
    "load_skill": Policy("free"),
    "read_result": Policy("free"),
    "recall_context": Policy("free", program="read"),
    "show_help_lines": Policy("free"),
    "create_action_item": Policy("confirm", pipeline=True, program="write"),
    "resolve_action_item": Policy("confirm"),
    "forget_lines": Policy("confirm"),
    "list_action_items": Policy("free", pipeline=True, program="read"),
    "search_knowledge_bank": Policy("free", pipeline=True, program="read"),
    "check_duplicate": Policy("free", pipeline=True),
    "get_client_context": Policy("free", pipeline=True, program="read"),
    "search_clients": Policy("free", pipeline=True, program="read"),
    "list_documents": Policy("free", pipeline=True, program="read"),
    "create_knowledge_entry": Policy("confirm", pipeline=True, program="write"),
    "lookup_reference": Policy("free", pipeline=True),
    "list_references": Policy("free", pipeline=True),
    "resolve_placement": Policy("free", pipeline=True),
    "classify_document": Policy("free"),
    "summarize_document": Policy("free"),
    "analyze_transcript": Policy("free"),
    "extract_facts": Policy("free"),
    "refile_document": Policy("confirm"),
    "keep_capture": Policy(None, program="capture"),
}
"""By tool. A missing row counts as `confirm` in a conversation, and offers the tool nowhere else."""

UNKNOWN = Policy("confirm")
