"""The admin of this app, one module per part of the models."""

from coaching.admin import (
    accounts,
    backups,
    briefs,
    calendar,
    feedback,
    files,
    inbox,
    jobs,
    people,
    programs,
    safety,
    skills,
    turns,
    usage,
)

__all__ = [
    "accounts",
    "backups",
    "briefs",
    "calendar",
    "feedback",
    "files",
    "inbox",
    "jobs",
    "people",
    "programs",
    "safety",
    "skills",
    "turns",
    "usage",
]
