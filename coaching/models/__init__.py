"""Everything about people that isn't a conversation, one module per area."""

from coaching.models.calendar import CalendarEvent, CalendarKind, CalendarSource
from coaching.models.files import FileSource, FileType, FileUsage, UserFile, UserFileVersion
from coaching.models.life import Capture, DayPlan, LifeDomain, PulseRating, ReflectionPrompt
from coaching.models.people import Profile, TimezoneSource, Weekday
from coaching.models.recall import RecallLanguage, RecallPassage, RecallSource, RecallVector
from coaching.models.safety import CardCount, DangerLevel, HelpLine, HelpLineKind
from coaching.models.skills import Skill, SkillKind

__all__ = [
    "CalendarEvent",
    "CalendarKind",
    "CalendarSource",
    "Capture",
    "CardCount",
    "DangerLevel",
    "DayPlan",
    "FileSource",
    "FileType",
    "FileUsage",
    "HelpLine",
    "HelpLineKind",
    "LifeDomain",
    "Profile",
    "PulseRating",
    "RecallLanguage",
    "RecallPassage",
    "RecallSource",
    "RecallVector",
    "ReflectionPrompt",
    "Skill",
    "SkillKind",
    "TimezoneSource",
    "UserFile",
    "UserFileVersion",
    "Weekday",
]
