"""The agent loop: messages, tools, budgets and events. Imports neither Django nor our packages."""
