"""Five hundred odd queries: no error, and nobody else's rows."""

import random

import pytest
from django.contrib.auth.models import User

from tests.recall.history import talk, texts

pytestmark = pytest.mark.django_db

PIECES = (
    "'", '"', "\\", "''", "&", "|", "!", "<->", "<2>", ":*", ":A", "(", ")", "((", "))", "%", "%%", "%s",
    "%(user)s", "{", "}", "{0}", "{only}", "$1", "$$", ";", "--", "/*", "*/", "\x00", "\ud800", "\udfff",
    "\ufeff", "\u200b", "\u202e", "🙂", "👩‍👩‍👧‍👦", "é", "ß", "İ", "ﬁ", "\t", "\n", "\r\n",
    "\x1b", "\x7f", "NULL", "AND", "OR", "NOT", "the", "and", "of", "a:b",
    "http://x.y/z?a=b", "me@example.org",
    "1e400", "-1", "0", "9" * 40,
    "word", "secret", "zebra", "今日", "สวัสดี", "안녕", "שלום", "مرحبا", "नमस्ते", "last spring",
    "31 February 2023", "99999 years ago", "0000-00-00", "9999-12-31", "in 0000", "I", "you", "Sage", "Ada",
)  # fmt: skip
WHOLE = (
    "", " ", "x" * 20_000, "zebra " * 3_000, "the " * 5_000, "'" * 20_000, "\\" * 19_999, "(" * 10_000,
    "🙂" * 5_000, "今" * 20_000, " ".join(f"word{number}" for number in range(3_000)), "a-b-c-" * 3_000,
    "a.b." * 4_000, "\x00" * 100, "\ud800" * 100,
)  # fmt: skip


def queries() -> list[str]:
    chance = random.Random(20261122)
    made = [" ".join(chance.choices(PIECES, k=chance.randint(1, 8))) for _ in range(300)]
    joined = ["".join(chance.choices(PIECES, k=chance.randint(2, 6))) for _ in range(200)]
    return [*WHOLE, *made, *joined]


def test_no_query_fails_or_finds_what_is_not_the_users(user: User, other_user: User) -> None:
    talk(other_user, "A secret zebra", "今日 zebra word")
    talk(user, "A word about 今日 and http://x.y/z", "Yes, me@example.org")
    asked = queries()
    assert len(asked) == 515
    for query in asked:
        assert all("zebra" not in text for text in texts(user, query)), query
