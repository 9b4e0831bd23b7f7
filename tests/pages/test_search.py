"""The search page: what it finds, where it leads, and how often it may be used."""

import io
import json
import logging
import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django.utils.html import escape, strip_tags

from coaching.context.brief_lines import CORRECTED, brief_text
from coaching.library.clients import own_client
from coaching.models import FileType, KnowledgeEntry, UserFile, UserFileVersion
from tests.browsers import page_of
from tests.library.rows import make_document
from tests.recall.history import add, talk

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


def keep_file(user: User, path: str, content: str, frontmatter: Mapping[str, Any] | None = None) -> None:
    file = UserFile.of(user.pk).create(
        path=path, file_type=FileType.CAPTURE, version_number=1, frontmatter=frontmatter or {}
    )
    UserFileVersion.unscoped.create(
        file=file, number=1, content=content, size=1, sha256="", storage_key=path, source="user"
    )


def test_without_words_there_is_only_the_form(page: Client, user: User) -> None:
    talk(user, "A kingfisher")
    text = page_of(page, "/search/")
    assert 'name="q"' in text
    assert "kingfisher" not in text
    assert "Nothing found" not in text


def test_words_are_marked_and_lead_to_their_message(page: Client, user: User) -> None:
    session = talk(user, "We saw two kingfishers", "Where was that?")
    text = page_of(page, "/search/?q=kingfisher")
    assert "<mark>kingfishers</mark>" in text
    assert f'href="/chat/{session.id}/#message-1"' in text
    assert 'id="message-1"' in page_of(page, f"/chat/{session.id}/")


def test_what_sage_said_is_shown_without_its_marks_and_the_person_as_typed(page: Client, user: User) -> None:
    said = (
        "## Birds\n\n- [x] a **kingfisher**\n- `two` of *them*\n\n> quiet\n\n"
        "| Day | Bird |\n|---|:-:|\n| Monday | none |\n\n2 * 3 and my_own_name"
    )
    session = talk(user, "A **kingfisher**", said)
    text = page_of(page, f"/search/?q=kingfisher&conversation={session.id}")
    shown_words = (
        "Birds · a <mark>kingfisher</mark> · two of them quiet Day · Bird Monday · none 2 * 3 and my_own_name"
    )
    assert shown_words in text
    assert "A **<mark>kingfisher</mark>**" in text


@pytest.mark.slow
def test_an_old_message_is_on_the_page_that_its_link_leads_to(page: Client, user: User) -> None:
    session = talk(user, "We saw a kingfisher", *(f"Line {number}" for number in range(150)))
    assert f'href="/chat/{session.id}/?before=13#message-1"' in page_of(page, "/search/?q=kingfisher")
    assert 'id="message-1"' in page_of(page, f"/chat/{session.id}/?before=13")


def test_an_answer_leads_to_its_turn(page: Client, user: User) -> None:
    session = talk(user, "And then?", "A kingfisher dives")
    anchor = f"turn-{session.turns.get().id}"
    assert f'href="/chat/{session.id}/#{anchor}"' in page_of(page, "/search/?q=kingfisher")
    assert f'id="{anchor}"' in page_of(page, f"/chat/{session.id}/")


def test_a_brief_leads_to_its_page(page: Client, user: User) -> None:
    session = talk(user, "And then?")
    session.briefs.create(version=1, text="- A kingfisher was seen [1]", covers_from=1, covers_until=1)
    text = page_of(page, "/search/?q=kingfisher&in=conversations")
    assert f'href="/chat/{session.id}/brief/"' in text
    assert "What Sage remembers" in text


def test_a_brief_is_shown_without_its_marks(page: Client, user: User) -> None:
    session = talk(user, "And then?")
    lines = ("A kingfisher was seen [1, 3]", f"{CORRECTED}it was a heron (about: “A kingfisher sang [3]”)")
    session.briefs.create(version=1, text=brief_text(lines), covers_from=1, covers_until=1)
    text = page_of(page, "/search/?q=kingfisher")
    bird = "A <mark>kingfisher</mark>"
    assert f"<bdi>{bird} was seen · You corrected: it was a heron (instead of: “{bird} sang”)</bdi>" in text


def test_place_and_time_bound_what_is_found(page: Client, user: User) -> None:
    talk(user, "A kingfisher in spring", at=timezone.now() - timedelta(days=100))
    keep_file(user, "captures/a.md", "A kingfisher noted")
    everywhere = page_of(page, "/search/?q=kingfisher")
    assert "in spring" in everywhere
    assert 'href="/files/captures/a.md"' in everywhere
    assert "in spring" not in page_of(page, "/search/?q=kingfisher&in=files")
    assert "noted" not in page_of(page, "/search/?q=kingfisher&in=conversations")
    assert "in spring" not in page_of(page, "/search/?q=kingfisher&since=month")
    assert "in spring" in page_of(page, "/search/?q=kingfisher&since=year&in=nonsense")


def test_the_list_of_conversations_searches_conversations(page: Client, user: User) -> None:
    talk(user, "A kingfisher")
    form = page_of(page, "/chat/").partition('role="search"')[2].partition("</form>")[0]
    assert '<input type="hidden" name="in" value="conversations">' in form


def test_a_conversation_is_found_once_with_the_number_of_its_other_places(page: Client, user: User) -> None:
    often = talk(user, *("The kingfisher dived", "Lovely.") * 6)
    once = talk(user, "No kingfisher today")
    text = page_of(page, "/search/?q=kingfisher&in=conversations")
    assert text.count('class="ledger-row hit"') == 2
    assert text.count(f'href="/chat/{often.id}/') == text.count(f'href="/chat/{once.id}/') == 1
    assert "5 more in this conversation" in text
    address = f"/search/?q=kingfisher&in=conversations&since=&conversation={often.id}"
    assert f'href="{escape(address)}"' in text
    inside = page_of(page, address)
    assert inside.count("<mark>kingfisher</mark>") == 6
    assert inside.index("#message-1") < inside.index("#message-3") < inside.index("#message-11")
    assert str(once.id) not in inside


@pytest.mark.slow
def test_a_word_that_one_conversation_is_full_of_is_found_in_others_too(page: Client, user: User) -> None:
    full = talk(user, *("The kingfisher dived", "The kingfisher rose") * 150)
    others = [talk(user, f"Day {number} was long, and then by the river a kingfisher") for number in range(5)]
    text = page_of(page, "/search/?q=kingfisher")
    assert text.count('class="ledger-row hit"') == 6
    assert all(f'href="/chat/{session.id}/' in text for session in (full, *others))
    assert "More in this conversation" in text


def test_a_conversation_of_somebody_else_is_not_there_to_be_searched(page: Client, other_user: User) -> None:
    theirs = talk(other_user, "A kingfisher")
    for session_id in (theirs.id, uuid.UUID(int=7)):
        assert page.get(f"/search/?q=kingfisher&conversation={session_id}").status_code == 404
    assert "Nothing found" in page_of(page, "/search/?q=kingfisher&conversation=nonsense")


def test_an_excerpt_has_no_frontmatter_and_values_that_match_are_in_words(page: Client, user: User) -> None:
    head = "---\ntype: daily-log\ndate: 2026-11-21\nenergy: low\nthemes:\n- kingfishers\n---\n"
    keep_file(user, "daily-logs/2026-11-21.md", f"{head}\nA quiet day.", {"themes": ["kingfishers"]})
    text = strip_tags(page_of(page, "/search/?q=kingfisher&in=files"))
    assert "Themes: kingfishers · A quiet day." in text
    for raw in ("---", "type:", "themes:", "daily-log\n"):
        assert raw not in text
    assert "A quiet day." in strip_tags(page_of(page, "/search/?q=type:&in=files"))
    assert "type:" not in strip_tags(page_of(page, "/search/?q=type:&in=files")).replace("q=type:", "")


def test_lines_between_rules_that_are_no_frontmatter_are_shown(page: Client, user: User) -> None:
    talk(user, "And now?", "Well.\n\n---\nNext: call Anna about the kingfisher")
    make_document(
        own_client(user.pk), "minutes.md", text="Minutes\n---\nAction: feed the kingfisher\n---\nEnd"
    )
    text = page_of(page, "/search/?q=kingfisher")
    assert "Next: call Anna about the <mark>kingfisher</mark>" in text
    assert "Action: feed the <mark>kingfisher</mark>" in text


def test_addresses_and_tags_of_the_persons_own_records_are_shown(page: Client, user: User) -> None:
    place = {"client": own_client(user.pk)}
    KnowledgeEntry.of(user.pk).create(**place, title="Food", content="A kingfisher eats\nvegan/vegetarian")
    assert "vegan/vegetarian" in page_of(page, "/search/?q=kingfisher")


def test_a_hit_without_a_score_hides_no_others_and_the_palette_leaves_it_out(
    page: Client, user: User
) -> None:
    talk(user, "A day", "Hello Anna", "Another one", "Hi Anna")  # so the name says whom it is about
    keep_file(user, "captures/a.md", "A red tandem")
    keep_file(user, "captures/b.md", "Anna slept well")
    text = page_of(page, "/search/?q=Anna+tandem")
    assert "<mark>tandem</mark>" in text
    assert "slept well" in text, "it is found, with a score of 0"
    assert "Most recent" not in text
    text = page.get("/palette/?q=Anna+tandem", headers={"HX-Request": "true"}).content.decode()
    assert "<mark>tandem</mark>" in text
    assert "slept well" not in text


def test_offered_answers_are_named_once(page: Client, user: User) -> None:
    session = talk(user, "And now?")
    turn = session.turns.get()
    label = "Watch the kingfisher"
    options = [{"label": label, "value": label}, {"label": "Rest", "value": "have_a_rest"}]
    call = {
        "name": "show_options",
        "input": {"options": options},
        "result": {"chosen": label, "value": label},
    }
    add(session, turn, "", is_by_user=False, metadata={"tool_calls": [call]})
    text = strip_tags(page_of(page, "/search/?q=kingfisher"))
    assert text.count(label) == 1
    assert "have_a_rest" not in text


def test_the_day_and_state_of_a_noted_step_are_said_in_words(page: Client, user: User) -> None:
    session = talk(user, "And now?")
    step = {"title": "Watch the kingfisher", "due_date": "2026-12-03", "due_words": "20261203"}
    call = {"name": "create_action_item", "input": step, "result": {"state": "open"}}
    add(session, session.turns.get(), "", is_by_user=False, metadata={"tool_calls": [call]})
    text = strip_tags(page_of(page, "/search/?q=kingfisher"))
    assert "3 December 2026" in text
    assert "2026-12-03" not in text
    assert "20261203" in text, "a number stays"
    assert "Open" in text
    palette = page.get("/palette/?q=kingfisher", headers={"HX-Request": "true"}).content.decode()
    assert "3 December 2026" in palette
    assert "2026-12-03" not in palette


def test_what_was_said_is_text_and_never_markup(page: Client, user: User) -> None:
    talk(user, "<script>alert(1)</script> kingfisher")
    text = page_of(page, "/search/?q=kingfisher+script")
    assert "<script>alert" not in text
    assert "&lt;<mark>script</mark>&gt;" in text


@pytest.mark.parametrize("query", ["?!", "what did I"])
def test_a_search_without_a_word_to_look_for_says_that_it_shows_the_newest(
    page: Client, user: User, query: str
) -> None:
    newest, found = "<h2>Most recent</h2>", "Search results"
    assert "Nothing found" in page_of(page, f"/search/?q={query}")
    talk(user, "A kingfisher")
    text = page_of(page, f"/search/?q={query}")
    assert "A kingfisher" in text
    assert newest in text
    assert found not in text
    text = page_of(page, "/search/?q=kingfisher")
    assert newest not in text
    assert found in text


def test_a_picture_is_not_found_in_what_does_not_have_it(page: Client, user: User) -> None:
    talk(user, "A kingfisher")
    assert "Search results" not in page_of(page, "/search/?q=🙂")


def test_nothing_found_says_so(page: Client) -> None:
    assert "Nothing found" in page_of(page, "/search/?q=%00kingfisher")


@pytest.mark.slow
def test_too_many_searches_are_refused_with_the_wait(page: Client, user: User) -> None:
    for _ in range(30):
        assert page.get("/search/?q=word").status_code == 200
    refused = page.get("/search/?q=word")
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 60
    assert 'value="word"' in refused.content.decode()
    assert page.get("/search/").status_code == 200


def test_words_that_are_searched_for_are_never_logged(page: Client, user: User) -> None:
    talk(user, "A kingfisher")
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        page.get("/search/?q=kingfisher")
    finally:
        root.removeHandler(handler)
    assert "/search/" in out.getvalue()
    assert "kingfisher" not in out.getvalue()
    assert json.dumps("kingfisher") not in out.getvalue()


def test_a_document_is_found_with_its_page_and_one_that_is_withheld_too(page: Client, user: User) -> None:
    client = own_client(user.pk)
    lease = make_document(client, "zoo.pdf", text="Nothing.\fThe pangolin sleeps.")
    secret = make_document(client, "secret.pdf", text="A pangolin, too.", is_withheld=True)
    text = page_of(page, "/search/?q=pangolin&in=library")
    assert f'href="/library/documents/{lease.pk}/?page=2#viewer"' in text
    assert "<b>Document, page 2:</b>" in text
    assert f'href="/library/documents/{secret.pk}/?page=1#viewer"' in text
    assert "never sent to the AI model" in text
