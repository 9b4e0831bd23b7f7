"""The operators' pages of this app, one module per part of the models."""

from coaching.admin import calendar, files, people, skills, turns

__all__ = ["calendar", "files", "people", "skills", "turns"]
