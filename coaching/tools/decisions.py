"""What was decided about a call that rests on the user's words: whether they are asked first.

It is decided once, before the calls of a round are ordered, and stored with the call: a turn that goes on
elsewhere, or hours later, decides nothing again.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

DECISION_KEY = "evidence"
"""In a call's metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`asks`: the call waits for a yes, `why` it does. `refusal` is set if it may not even ask.

    `sentence` is the whole sentence that the quote stands in, of message `number`; empty if there is none.
    """

    asks: bool
    why: str = ""
    sentence: str = ""
    number: int | None = None
    refusal: str = ""

    def as_metadata(self) -> Mapping[str, Any]:
        """Return the call's metadata."""
        return {DECISION_KEY: asdict(self)}

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> "Decision | None":
        """Return what a call's metadata holds; None for a call that nothing was decided about."""
        stored = metadata.get(DECISION_KEY)
        return cls(**stored) if isinstance(stored, Mapping) else None
