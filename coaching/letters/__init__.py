"""Letters about a month: who gets one when, what it rests on, its text; and what comes back after a year."""
