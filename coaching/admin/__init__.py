"""The operators' pages of this app, one module per part of the models."""

from coaching.admin import files, people, skills, turns

__all__ = ["files", "people", "skills", "turns"]
