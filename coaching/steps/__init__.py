"""Next steps: when they are due and how they repeat. What becomes of their rows is decided in `library`."""
