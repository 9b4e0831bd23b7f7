"""The admin of this app, one module per part of the models."""

from coaching.admin import (
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
