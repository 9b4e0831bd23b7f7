"""A life as its pages show it: the day's plan, captures, prompts, the map; a module for each."""
