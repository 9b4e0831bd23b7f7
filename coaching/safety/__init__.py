"""Danger in a user's words: detection rules, help lines, and the figures about them.

No model is involved, and nothing here stops a conversation: a card is shown with it. `phrases` has the rules
for danger, `harmless` those for what only resembles it; `intensity` rates emotional weight.
"""
