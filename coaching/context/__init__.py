"""What goes into a request: window and prompt."""
