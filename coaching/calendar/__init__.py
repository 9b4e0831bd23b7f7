"""Calendars: fetched from public addresses only, parsed in a killable process, shown by day."""
