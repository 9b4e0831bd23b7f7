"""What was said: sessions, messages, turns, usage."""
