"""The numbers of all advisory locks. Two uses of one number would wait for each other.

PostgreSQL keeps locks with one number apart from those with two, so `DatabaseLock` and `LockSpace` may share
some. Processes of two versions use them together during an upgrade, so they don't change.
"""

from enum import IntEnum, unique


@unique
class DatabaseLock(IntEnum):
    """Locks with one number: each exists once in a database."""

    MIGRATION = 0x5A6E
    """The database is migrated; shared, it mustn't be."""
    CLAIM = 0x5A6F
    """Shared by all web processes: the first one notices that it is alone."""
    BACKUP = 0x5A70
    """A backup is taken or restored."""


@unique
class LockSpace(IntEnum):
    """The first of two numbers: what a lock is for. The second says whose it is, or which."""

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
