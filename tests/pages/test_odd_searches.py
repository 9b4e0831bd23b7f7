"""Five hundred odd questions to the search page: no error, no frontmatter, nothing twice."""

import random
import re
from collections.abc import Sequence
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.test import Client

from coaching.library.clients import own_client
from coaching.models import ActionItem, KnowledgeEntry
from coaching.views.search import PLACES, found_on_page
from tests.library.rows import make_document
from tests.pages.test_search import keep_file
from tests.recall.history import add, talk
from tests.recall.test_odd_queries import PIECES, WHOLE
from tests.thoroughness import sample_of_day

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

HEAD = (
    "---\ntype: daily-log\ndate: 2026-11-21\nenergy: low\nthemes:\n- rest\n- word\n"
    "preview_line: A word\n---\n"
)
LONG_HEAD = HEAD.replace("- rest\n", "".join(f"- theme {number}\n" for number in range(400)))
LABEL = "Take a long word for a walk"
ODD = (
    *PIECES, "---", "type:", "type: daily-log", "date:", "themes", "preview_line:", "energy", "low",
    *"abcxyz", "[", "]", "^", "$", "*", "+", "?", ".*", "(?i)", "(a+)+$", "\\d", "\\b",
    "' OR 1=1 --", "UNION SELECT",
    "\u2067word\u2069", "عربي word", "עברית", LABEL,
)  # fmt: skip
RAW = re.compile(r"(?:^|\s)---(?:\s|$)|\b(?:type|date|energy|themes|preview_line): ")


def queries() -> Sequence[str]:
    chance = random.Random(20261129)
    made = [" ".join(chance.choices(ODD, k=chance.randint(1, 6))) for _ in range(500 - len(ODD) - len(WHOLE))]
    return [*ODD, *WHOLE, *made]


@pytest.fixture
def life(user: User) -> None:
    """Frontmatter wherever it can be: in files, messages, what was saved, a document and records."""
    keep_file(user, "daily-logs/2026-11-21.md", f"{HEAD}\nA day of one word.", {"themes": ["rest", "word"]})
    keep_file(user, "daily-logs/2026-11-20.md", f"{LONG_HEAD}\nA long word.")
    keep_file(user, "notes/a.md", f"\ufeff{HEAD}\n{HEAD}\nTwo heads, one word.")
    keep_file(user, "notes/b.md", f"{HEAD}\nOne word.".replace("\n", "\r\n"))
    keep_file(user, "notes/c.md", HEAD)
    talk(user, f"Look at this word:\n\n{HEAD}\nWhat do you think?", f"{HEAD}\nA fine word.")
    save = {"name": "save_file", "input": {"content": f"{HEAD}\nSaved word.", "file_type": "daily-log"}}
    options = [{"label": LABEL, "value": LABEL}, {"label": "Rest", "value": "a_rest"}]
    ask = {"name": "show_options", "input": {"options": options}, "result": {"chosen": LABEL, "value": LABEL}}
    saved = talk(user, "Keep the word")
    add(saved, saved.turns.get(), "", is_by_user=False, metadata={"tool_calls": [save, ask]})
    place = {"client": own_client(user.pk)}
    make_document(place["client"], "word.md", text=f"{HEAD}\nA word in a document.", summary="A word")
    KnowledgeEntry.of(user.pk).create(**place, title="A word", content=f"{HEAD}\nA word known.")
    ActionItem.of(user.pk).create(**place, title="Say a word", quote="Say a word")


@pytest.mark.usefixtures("life")
def test_no_odd_question_fails_or_shows_frontmatter(user: User) -> None:
    assert len(queries()) == 500
    shown = 0
    for query in sample_of_day(queries(), of_each=8):
        for row in found_on_page(user.pk, query).rows:
            text = "".join(part.text for part in row.parts)
            texts = [text, *(near.text for near in (row.before, row.after) if near)]
            assert not any(map(RAW.search, texts)), (query, row)
            assert text.count(LABEL) <= 1, (query, text)
            shown += 1
    assert shown > 100


@pytest.mark.usefixtures("life")
def test_pages_of_odd_questions_are_pages(client: Client, user: User) -> None:
    client.force_login(user)
    odd = ("---", "type: daily-log", "\x00", "🙂", "(a+)+$", "' OR 1=1 --", "\u202eword")
    for number, query in enumerate(odd):
        place = list(PLACES)[number % len(PLACES)]
        page = client.get(f"/search/?{urlencode({'q': query, 'in': place})}")
        assert page.status_code == 200
        assert "preview_line" not in page.content.decode()
