"""Skills: markdown guidance for Sage, read from `skills/`."""
