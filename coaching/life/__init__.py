"""The day's plan, captures, reflection prompts and the life map, one module each."""
