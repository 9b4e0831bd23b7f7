"""Reminders by push and mail: when they are due, what they say, and how they are sent."""
