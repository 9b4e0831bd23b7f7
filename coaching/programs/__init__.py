"""Programs that act for a person: who they are, what they may do, and how often."""
