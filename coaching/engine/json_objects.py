"""Follows an object of JSON by its characters, without parsing it. No I/O."""

from coaching.engine.written_calls import HEAD_CHARACTERS, may_be_call


class Braces:
    """Follows an object from its first brace to its last."""

    def __init__(self) -> None:
        self.is_open = True
        self.in_string = False
        self._depth = 0
        self._is_escaped = False

    def add(self, character: str) -> None:
        if self.in_string:
            self.in_string = self._is_escaped or character != '"'
            self._is_escaped = character == "\\" and not self._is_escaped
        elif character in "{[":
            self._depth += 1
        elif character in "}]":
            self._depth -= 1
            self.is_open = self._depth > 0
        else:
            self.in_string = character == '"'


class CallObject:
    """An object at the start of a line, which may be a call."""

    def __init__(self) -> None:
        self.characters: list[str] = []
        self._head = ""
        self._braces = Braces()

    @property
    def is_whole(self) -> bool:
        """Whether its last brace was added."""
        return not self._braces.is_open

    def accepts(self, character: str) -> bool:
        """Add a character; return whether all of them may still become a call."""
        self.characters.append(character)
        if len(self._head) < HEAD_CHARACTERS and not character.isspace():
            self._head += character
            if not may_be_call(self._head):
                return False
        was_in_string = self._braces.in_string
        self._braces.add(character)
        if was_in_string:
            return True
        return character.isspace() or character.isalnum() or character in '{[}]":,+-.'
