"""What danger sounds like, measured on written sentences; the card, its lines, and the page on it."""
