"""Sixty questions about fifteen months of one person's talks with a coach, written before any tuning.

People say "I", dates are relative, and some answers take two messages. In `history.txt` a line is a message:
who said it, a key in brackets if it answers a question, and the words. `questions.txt` has a question and the
keys of the messages that answer it.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from django.contrib.auth.models import User

from coaching.models import Profile
from tests.bench.recall.seed import Asked, store_session

FOLDER = Path(__file__).with_name("coach")
ASKED_AT = datetime(2026, 11, 22, 10, tzinfo=UTC)
USERNAME, NAME = "nora", "Nora"

_HEADING = re.compile(r"^# (\d{4}-\d{2}-\d{2}) (.+)\n", re.MULTILINE)
_LINE = re.compile(r"^([US])(?: \[([\w-]+)\])?: (.+)$", re.MULTILINE)


def load_coach_set() -> Sequence[Asked]:
    """Store the conversations as one person's history; return the questions."""
    user = User.objects.create_user(USERNAME)
    Profile.of(user.pk).update_or_create(user_id=user.pk, defaults={"name": NAME})
    _, *parts = _HEADING.split((FOLDER / "history.txt").read_text())
    for day, title, lines in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        words = [
            (key or f"{day} {number}", who == "U", text)
            for number, (who, key, text) in enumerate(_LINE.findall(lines))
        ]
        store_session(user, words, started=datetime.fromisoformat(f"{day}T18:00+00:00"), title=title)
    questions = (line.split(" | ") for line in (FOLDER / "questions.txt").read_text().splitlines())
    return [
        Asked(username=USERNAME, text=text, evidence=frozenset(keys.split(", ")), category=0)
        for text, keys in questions
    ]
