"""Backups: one archive of database and files, taken while Sage runs, and restored into a new database.

`archive`, `contents` and `encryption` are the format, `databases` and `objects` run PostgreSQL's own programs
and read and write files, `taking` (with `copying`) and `restoring` are the commands, `daily` is the job.
docs/decisions/backups.md has the reasons.
"""
