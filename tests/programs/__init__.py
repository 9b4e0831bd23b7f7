"""Programs: tokens, scopes and rates."""
