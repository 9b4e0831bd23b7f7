"""What goes wrong with a backup. Each text is a sentence for the operator."""


class BackupError(Exception):
    """A backup can't be taken or restored. What was there before is unchanged."""


class ArchiveDamaged(BackupError):
    """The archive was cut, changed, or isn't one."""


class Busy(BackupError):
    """Another backup, a restore or a migration is running: the next minute may do."""


class Stopped(BackupError):
    """The process was asked to end."""
