"""The tables of the library, which `coaching.models` exports to Django.

A row's client and project belong to the same user as the row itself: migration 0015 has the constraints.
"""

from coaching.library.models.calls import CallPurpose, CallUsage, DocumentCall, DocumentCallState
from coaching.library.models.clients import (
    OWN_NAME,
    Client,
    ClientStatus,
    ClientType,
    Project,
    ProjectStatus,
    SessionScope,
)
from coaching.library.models.documents import (
    IS_UNHEARD,
    UNFINISHED_STATES,
    DecidedBy,
    Document,
    DocumentCorrection,
    DocumentImage,
    DocumentPage,
    DocumentSource,
    DocumentState,
    DocumentText,
    FilingLevel,
)
from coaching.library.models.effects import EffectKind, LibraryEffect
from coaching.library.models.proposals import (
    ActionItem,
    ActionOrigin,
    ActionPriority,
    ActionState,
    AutoApproval,
    EntryState,
    EntryType,
    KnowledgeEntry,
    MadeBy,
    StepChange,
    StepChangeKind,
)
from coaching.library.models.references import PlacementRule, Reference, ReferenceArea

__all__ = [
    "IS_UNHEARD",
    "OWN_NAME",
    "UNFINISHED_STATES",
    "ActionItem",
    "ActionOrigin",
    "ActionPriority",
    "ActionState",
    "AutoApproval",
    "CallPurpose",
    "CallUsage",
    "Client",
    "ClientStatus",
    "ClientType",
    "DecidedBy",
    "Document",
    "DocumentCall",
    "DocumentCallState",
    "DocumentCorrection",
    "DocumentImage",
    "DocumentPage",
    "DocumentSource",
    "DocumentState",
    "DocumentText",
    "EffectKind",
    "EntryState",
    "EntryType",
    "FilingLevel",
    "KnowledgeEntry",
    "LibraryEffect",
    "MadeBy",
    "PlacementRule",
    "Project",
    "ProjectStatus",
    "Reference",
    "ReferenceArea",
    "SessionScope",
    "StepChange",
    "StepChangeKind",
]
