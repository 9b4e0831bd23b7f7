"""Calendars: fetched from public addresses only, parsed in a process without rights, shown by day."""
