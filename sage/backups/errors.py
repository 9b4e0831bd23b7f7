"""What goes wrong with a backup. Each text is a sentence for the operator."""


class BackupError(Exception):
    """A backup can't be taken or restored. What was there before is unchanged."""


class ArchiveDamaged(BackupError):
    """The archive was cut, changed, or isn't one."""


class Stopped(BackupError):
    """The process was asked to end."""
