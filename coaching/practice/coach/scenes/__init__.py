"""The coach's scenes, one module per situation.

A scene is a function `Conversation -> Reply | None`; None passes to the next scene in `answer.SCENES`. A new
arc is a new module here and an entry there.
"""
