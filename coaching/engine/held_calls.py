"""The calls in a reply that is being cleaned: held, since it may end with them. No I/O."""

from dataclasses import dataclass

from coaching.engine.written_calls import WrittenCall, may_hold_call, read_calls, read_tagged_calls


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What is shown only if text follows: a call, or the blanks after one. A call in tags never is."""

    text: str
    is_tagged: bool = False

    @property
    def is_never_shown(self) -> bool:
        return self.is_tagged and may_hold_call(self.text)


class TaggedCall:
    """A call between tags, as it is written. Where a sentence may name its tag, that `may_be_word`."""

    def __init__(self, opening_tag: str = "", *, may_be_word: bool = False) -> None:
        self.opening_tag = opening_tag
        self._may_be_word = may_be_word
        self._characters: list[str] = []
        self._first = ""  # that is no blank

    @property
    def text(self) -> str:
        return "".join(self._characters)

    @property
    def is_word(self) -> bool:
        """Whether the tag is a word so far: no call has begun after it."""
        return self._may_be_word and self._first not in ("{", "[")

    def add(self, character: str) -> None:
        self._characters.append(character)
        self._first = self._first or character.strip()


class HeldCalls:
    """Calls, and the blanks after them. `names` are the tools that they may name."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._held: list[_Held] = []

    def __bool__(self) -> bool:
        return bool(self._held)

    @property
    def has_text(self) -> bool:
        """Whether there is more to show than blanks."""
        return any(each.text.strip() for each in self._held if not each.is_never_shown)

    def hold(self, text: str, *, is_tagged: bool = False) -> None:
        self._held.append(_Held(text=text, is_tagged=is_tagged))

    def drop(self) -> None:
        self._held.clear()

    def take_text(self) -> str:
        """Return what is shown if text follows; nothing is held then."""
        held, self._held = self._held, []
        return "".join(each.text for each in held if not each.is_never_shown)

    def take_calls(self) -> tuple[WrittenCall, ...]:
        """Return the calls at the end: nothing follows. No tool can answer what is held then."""
        calls: list[WrittenCall] = []
        while self._held and (found := self._read(self._held[-1])) is not None:
            calls[:0] = found
            self._held.pop()
        if self._names and self._held and self._held[-1].is_tagged:
            self._held[-1] = _Held(text=self._held[-1].text)
        return tuple(calls)

    def _read(self, held: _Held) -> tuple[WrittenCall, ...] | None:
        """Return the calls in what was held; None if it is something else."""
        if held.text.isspace() and not held.is_tagged:
            return ()
        read = read_tagged_calls if held.is_tagged else read_calls
        return read(held.text, self._names) or None
