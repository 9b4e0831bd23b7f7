"""The lists of the admin by subject, as an operator thinks of them and not as the code is divided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SUBJECTS: Mapping[str, Sequence[str]] = {
    "People": ("User", "Profile", "EmailAddress", "Authenticator", "Group"),
    "Conversations": ("Session", "Turn", "SessionBrief", "AnswerFeedback", "ModelUsage"),
    "Documents and files": (
        "Document", "KnowledgeEntry", "ActionItem", "DocumentCall", "LibraryEffect", "UserFile",
        "CalendarSource",
    ),
    "How Sage works": ("Skill", "Reference", "PlacementRule"),
    "Safety": ("HelpLine", "CardCount", "SafetyVerdict", "CaptureVerdict"),
    "Background": ("ProcrastinateJob", "Backup", "InboxState", "InboxMail", "InboxRefusal"),
}  # fmt: skip
OTHERS = "Others"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A list of rows; `add_address` is empty where nobody adds one by hand."""

    name: str
    address: str
    add_address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The lists of one subject."""

    name: str
    records: Sequence[Record]


def group_records(app_list: Sequence[Mapping[str, Any]]) -> Sequence[Subject]:
    """Return the lists that Django offers this operator, by subject. What no subject names comes last."""
    offered = {model["object_name"]: model for app in app_list for model in app["models"]}
    by_subject = {
        subject: [offered.pop(name) for name in names if name in offered]
        for subject, names in SUBJECTS.items()
    }
    by_subject[OTHERS] = list(offered.values())
    return [
        Subject(name=subject, records=[_record(model) for model in models])
        for subject, models in by_subject.items()
        if models
    ]


def _record(model: Mapping[str, Any]) -> Record:
    return Record(
        name=str(model["name"]),
        address=model["admin_url"] or "",
        add_address=model["add_url"] or "",
    )
