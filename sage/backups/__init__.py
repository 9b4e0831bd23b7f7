"""Backups: one archive of database and files, taken while Sage runs, and restored beside what is there.

`archive` and `encryption` are the format, `dumping` runs PostgreSQL's own programs, `taking` and `restoring`
are the commands, `daily` is the job. docs/decisions/backups.md has the reasons.
"""
