"""Voice: who hears recordings, and how they become words."""
