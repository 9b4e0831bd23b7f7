"""The tour's sentences outside its walks, read from `texts.toml`."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from coaching.practice.coach.tables import Choice

_TEXTS = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
_SAID: Mapping[str, str] = _TEXTS["said"]

OFFERS: Mapping[str, str] = _TEXTS["offers"]
LANGUAGES: Mapping[str, str] = _TEXTS["languages"]
REACTIONS: Mapping[str, Sequence[str]] = _TEXTS["reactions"]
CHOICES: Mapping[str, Sequence[Choice]] = {
    name: [(label, value) for label, value in choices] for name, choices in _TEXTS["choices"].items()
}
QUESTIONS: Mapping[str, tuple[re.Pattern[str], str]] = {
    name: (re.compile(asked, re.IGNORECASE), answer) for name, asked, answer in _TEXTS["questions"]
}


def said(name: str, **values: str) -> str:
    """Return a sentence, with its placeholders filled."""
    return _SAID[name].format(**values) if values else _SAID[name]
