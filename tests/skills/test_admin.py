"""Skills in the admin: list, preview, override, history, reset."""

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from coaching.models import Skill
from coaching.skills.loader import skill_text
from tests.browsers import browser_of
from tests.conftest import MakeUser
from tests.skills.conftest import SHIPPED, SKILL_TEXT

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("synced_skills")]

MINE = SKILL_TEXT.replace("Words.", "My own words.")
LIST = "/admin/coaching/skill/"


@pytest.fixture
def browser(operator: User) -> Client:
    """The operator's browser."""
    return browser_of(operator)


def address(name: str, action: str = "change") -> str:
    return f"{LIST}{Skill.objects.get(name=name).pk}/{action}/"


def test_the_list_shows_what_holds_and_how_big_it_is(browser: Client) -> None:
    page = browser.get(LIST).content.decode()
    assert re.search(r"\d+ of 2800 tokens", page)
    assert re.search(r"\d+ of 250 tokens", page)
    assert page.count("the file</td>") == SHIPPED
    assert "Add skill" not in page


def test_an_edit_begins_with_the_files_text_and_holds_once_saved(browser: Client, operator: User) -> None:
    page = browser.get(address("open-day")).content.decode()
    assert "A day with a shape before it starts" in page
    assert "The same as the file." in page
    assert "Use the file again" not in page
    saved = browser.post(address("open-day"), {"override": MINE, "_continue": "1"}, follow=True)
    assert skill_text("open-day") == MINE
    page = saved.content.decode()
    assert "a text of your own" in page
    assert '<span class="added">+My own words.</span>' in page
    assert "Use the file again" in page
    assert Skill.objects.get(name="open-day").history.first().history_user == operator


def test_saving_the_files_own_text_changes_nothing(browser: Client) -> None:
    skill = Skill.objects.get(name="open-day")
    browser.post(address("open-day"), {"override": skill.file_text.replace("\n", "\r\n")})
    skill.refresh_from_db()
    assert not skill.is_overridden
    assert skill.history.count() == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (MINE.replace("## Goal", "Goal"), "missing heading “## Goal”"),
        (MINE + "x" * 2000, "tokens, the budget is 350"),
        (MINE + "\n## Script\n\nFirst.", "heading “## Script” is not one of the six"),
    ],
)
def test_a_text_that_cannot_be_used_is_refused_and_stays_in_the_form(
    browser: Client, text: str, says: str
) -> None:
    page = browser.post(address("open-day"), {"override": text})
    assert page.status_code == 200
    assert says in page.content.decode()
    assert "My own words." in page.content.decode()
    assert not Skill.objects.get(name="open-day").is_overridden


def test_a_preview_shows_size_faults_difference_and_rendering_and_saves_nothing(browser: Client) -> None:
    page = browser.post(address("open-day", "preview"), {"override": MINE + "\n**Bold** <script>x</script>"})
    text = page.content.decode()
    assert re.search(r"<strong>\d+ of 350 tokens</strong>", text)
    assert "This text is valid. It isn’t saved yet." in text
    assert '<span class="added">+My own words.</span>' in text
    assert "<strong>Bold</strong>" in text
    assert "<script>x" not in text
    bad = browser.post(address("open-day", "preview"), {"override": "Nothing."}).content.decode()
    assert "This text can’t be used" in bad
    assert "missing heading “## Goal”" in bad
    assert not Skill.objects.get(name="open-day").is_overridden


def test_one_click_returns_to_the_file_and_the_history_keeps_the_override(browser: Client) -> None:
    original = skill_text("open-day")
    browser.post(address("open-day"), {"override": MINE})
    page = browser.post(address("open-day", "return"), {"override": "whatever"}, follow=True)
    assert "The file is used again for open-day" in page.content.decode()
    assert skill_text("open-day") == original
    history = browser.get(address("open-day", "history")).content.decode()
    assert "Back to the file." in history
    assert '<span class="added">+My own words.</span>' in history
    assert '<span class="removed">-My own words.</span>' in history
    assert "style=" not in history.partition('id="content-main"')[2]
    assert "An operator&#x27;s text." in history
    assert LogEntry.objects.filter(change_message="Returned to the file.").count() == 1


def test_an_older_text_can_be_taken_back_from_the_history(browser: Client) -> None:
    browser.post(address("open-day"), {"override": MINE})
    browser.post(address("open-day", "return"))
    older = Skill.history.get(name="open-day", override=MINE)
    page = browser.get(f"{address('open-day', 'history')}{older.pk}/")
    assert "My own words." in page.content.decode()
    browser.post(f"{address('open-day', 'history')}{older.pk}/", {"override": MINE})
    assert skill_text("open-day") == MINE


def test_nobody_adds_or_deletes_a_skill(browser: Client) -> None:
    assert browser.get(f"{LIST}add/").status_code == 403
    assert browser.post(address("open-day", "delete"), {"post": "yes"}).status_code == 403


def test_a_view_permission_changes_nothing(make_user: MakeUser) -> None:
    member = make_user("staff", is_staff=True)
    member.user_permissions.set(Permission.objects.filter(codename="view_skill"))
    client = browser_of(member)
    page = client.get(address("open-day")).content.decode()
    assert "A day with a shape before it starts" in page
    assert "Preview" not in page
    for action in ("change", "preview", "return"):
        assert client.post(address("open-day", action), {"override": MINE}).status_code == 403
    assert client.get(address("open-day", "preview")).status_code == 405
    assert not Skill.objects.get(name="open-day").is_overridden


def test_who_isn_t_staff_never_gets_in(client: Client, user: User) -> None:
    client.force_login(user)
    for action in ("change", "preview", "return"):
        assert client.post(address("open-day", action), {"override": MINE}).status_code == 302
    assert not Skill.objects.get(name="open-day").is_overridden


def test_a_skill_that_is_not_there_is_not_found(browser: Client) -> None:
    assert browser.post(f"{LIST}999999/preview/", {"override": MINE}).status_code == 404
    assert browser.post(f"{LIST}999999/return/").status_code == 404


def test_a_text_that_names_a_tool_which_is_not_offered_is_refused(browser: Client) -> None:
    text = MINE + "\nUse `send_mail`, then `save_file` with `mood_signal`.\n"
    fault = "its text names send_mail, which is not an offered tool"
    assert fault in browser.post(address("open-day", "preview"), {"override": text}).content.decode()
    refused = browser.post(address("open-day"), {"override": text})
    assert refused.status_code == 200
    assert fault.capitalize() in refused.content.decode()
    assert not Skill.objects.get(name="open-day").is_overridden
