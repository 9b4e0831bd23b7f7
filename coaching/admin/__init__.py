"""The admin of this app, one module per part of the models."""

from coaching.admin import (
    briefs,
    calendar,
    feedback,
    files,
    inbox,
    jobs,
    people,
    safety,
    skills,
    turns,
    usage,
)

__all__ = [
    "briefs",
    "calendar",
    "feedback",
    "files",
    "inbox",
    "jobs",
    "people",
    "safety",
    "skills",
    "turns",
    "usage",
]
