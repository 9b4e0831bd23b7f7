"""Calendars: fetched without reaching inside, read in a process that may be killed, shown by the day."""
