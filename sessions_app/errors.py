"""The refusals of this package."""

import uuid
from collections.abc import Mapping

from django.utils.formats import number_format
from django.utils.translation import gettext


class Refused(Exception):
    """The request can't be done; nothing was changed.

    `str()` is a sentence in English, which models and logs get; pages show `shown()`. Where it is marked with
    `gettext_noop`, its values are apart from it, in named placeholders.
    """

    def __init__(self, sentence: str, **values: object) -> None:
        super().__init__(sentence % _written(values) if values else sentence)
        self._sentence, self._values = sentence, values

    def shown(self) -> str:
        """Return the sentence in the language that is active."""
        return gettext(self._sentence) % _localised(self._values) if self._values else gettext(str(self))


def _written(values: Mapping[str, object]) -> Mapping[str, object]:
    return {name: _number_written(value) for name, value in values.items()}


def _number_written(value: object) -> object:
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else value


def _localised(values: Mapping[str, object]) -> Mapping[str, object]:
    return {name: _number_localised(value) for name, value in values.items()}


def _number_localised(value: object) -> object:
    if isinstance(value, float):
        return number_format(round(value, 1), decimal_pos=1, force_grouping=True)
    return number_format(value, force_grouping=True) if isinstance(value, int) else value


class FieldRefused(Refused):
    """One field of a form can't be stored as it was given."""

    def __init__(self, sentence: str, *, field: str, **values: object) -> None:
        super().__init__(sentence, **values)
        self.field = field


class OutOfDate(Refused):
    """What the request is about has changed since its sender read it."""


class WaitsForUser(Refused):
    """Something in the session waits for the user, whom a program can't take it from."""

    def __init__(self, sentence: str, *, session_id: uuid.UUID) -> None:
        super().__init__(sentence)
        self.session_id = session_id


class StillAnswering(Refused):
    """Another turn of the session is running; the message can be sent when it has ended."""


class OverLimit(Refused):
    """The user is over a limit now, and `wait_seconds` later perhaps no more."""

    def __init__(self, sentence: str, *, wait_seconds: int, **values: object) -> None:
        super().__init__(sentence, **values)
        self.wait_seconds = wait_seconds


class OverBudget(OverLimit):
    """The user's daily token budget is used up."""


class TooManySessions(OverLimit):
    """The user has opened too many sessions recently."""


class StaleFence(Exception):
    """The turn belongs to another runner now, or is closed."""
