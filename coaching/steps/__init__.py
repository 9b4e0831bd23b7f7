"""Next steps: when they are due and how they repeat. Their rows and lifecycle are `library.proposals`'."""
