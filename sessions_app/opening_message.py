"""The message that begins a turn in which Sage speaks first. Nobody wrote it, so no page shows it."""

OPENING_ID = "opening"
"""Its client id, so that a session has one at most. No client may use it."""
OPENING_WORDS = "I have just opened this conversation and have not written anything yet. Please begin."
"""What the model reads. The practice model recognises an opening by it."""
