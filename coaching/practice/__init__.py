"""The practice model: a Messages API server with a guided tour and injected faults.

It imports no Django, and of the project only the safety rules, so it also runs alone.
"""

from coaching.practice.api.records import ReceivedRequest
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Note, Reply, Text, Thinking, ToolUse
from coaching.practice.server import PracticeServer

__all__ = [
    "Fault",
    "Hold",
    "Note",
    "PracticeServer",
    "ReceivedRequest",
    "Reply",
    "Text",
    "Thinking",
    "ToolUse",
]
