"""The admin of this app, one module per part of the models."""

from coaching.admin import calendar, files, jobs, people, safety, skills, turns, usage

__all__ = ["calendar", "files", "jobs", "people", "safety", "skills", "turns", "usage"]
