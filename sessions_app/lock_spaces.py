"""The first numbers of advisory locks that have two. Two uses of one number would wait for each other."""

from enum import IntEnum, unique


@unique
class LockSpace(IntEnum):
    """What each lock is for; the second number says whose it is, or which."""

    LIMITS = 0x5A6E
    """A user's turns and sessions are counted."""
    IMPORTS = 0x5A70
    """A user imports an export of an earlier app."""
    MODEL_PLACES = 0x5A71
    """A call to the model has a place, by the place's number."""
    CLIENTS = 0x11B0
    """A user's clients and projects are counted."""
    REFERENCES = 0x11B1
    """References and rules are synced."""
    CALL_PREFIXES = 0x11B2
    """Calls about documents with one prefix: the first writes the cache that others read."""
    DOCUMENT_TWINS = 0x11B3
    """A client's documents that are alike are found."""
    ADDITIONS = 0x11B4
    """A user's entries and next steps are added."""
    CALL_BUDGETS = 0x11B5
    """What a user's calls about documents may cost is counted."""
    HELP_LINES = 0x4E1B
    """The shipped help lines are loaded."""
    PROGRAM_CLIENTS = 0x0A01
    """Programs that have registered themselves are counted."""
    PROGRAM_GRANTS = 0x0A02
    """A user's consents to programs are renewed, replaced or ended."""
