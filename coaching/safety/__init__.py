"""When somebody's words sound like danger: what is noticed, the lines that help, and the count of it.

No model is asked, and nothing here can stop a conversation: a card stands beside it. Rules of danger are in
`phrases`, and of what only sounds like it in `harmless`; how much a message carries is `skills.intensity`'s.
"""
