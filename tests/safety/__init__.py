"""The danger rules, measured on written sentences; the card, help lines, and their page."""
