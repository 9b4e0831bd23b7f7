"""Django's PostgreSQL backend for the embedded server: the first connection of a process joins it."""
