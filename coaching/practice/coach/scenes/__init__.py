"""What the coach can do, one module per kind of moment.

A scene is a function `Conversation -> Reply | None`; None leaves the moment to the next scene in
`answer.SCENES`. A new arc is one new module here and one entry there.
"""
