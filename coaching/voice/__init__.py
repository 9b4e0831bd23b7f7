"""Voice: what transcribes recordings, and how they become words."""
