"""OAuth for other programs: registration, consent, tokens, and the documents that describe them.

allauth's provider does the protocol. What it would allow beyond Sage's rules is refused before it is called:
`checks` has the rules.
"""
