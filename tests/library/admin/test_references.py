"""References and placement rules in the admin: list, preview, operators' own, history, reset."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client

from coaching.library.references.current import current_references
from coaching.models import PlacementRule, Reference
from tests.browsers import browser_of
from tests.conftest import MakeUser

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("synced_references")]

RULES = "/admin/coaching/placementrule/"
NEW = {"file_type": "will", "category": "", "client_type": "company", "folder": "Staff", "level": "client"}


@pytest.fixture
def browser(operator: User) -> Client:
    """The operator's browser."""
    return browser_of(operator)


def address(file_type: str, action: str = "change") -> str:
    return f"/admin/coaching/reference/{Reference.objects.get(file_type=file_type).pk}/{action}/"


def rule_address(action: str = "change", **key: str) -> str:
    return f"{RULES}{PlacementRule.objects.get(**{'client_type': '', **key}).pk}/{action}/"


def changed(file_type: str, old: str, new: str) -> str:
    text = Reference.objects.get(file_type=file_type).file_text
    assert old in text
    return text.replace(old, new, 1)


def place(file_type: str, client_type: str = "") -> str:
    table = current_references().placement
    return table.place(file_type=file_type, category="", client_type=client_type, has_project=True).folder


def test_the_list_shows_what_holds(browser: Client) -> None:
    page = browser.get("/admin/coaching/reference/").content.decode()
    assert page.count("the file</td>") == Reference.objects.count()
    assert "Add reference" not in page


def test_an_operators_text_is_previewed_saved_used_and_taken_back(browser: Client, operator: User) -> None:
    mine = changed("will", "title: Will", "title: Testament") + "\n**Mind** <script>x</script>"
    preview = browser.post(address("will", "preview"), {"override": mine}).content.decode()
    assert "This text is valid. It isn’t saved yet." in preview
    assert '<span class="added">+title: Testament</span>' in preview
    assert "<strong>Mind</strong>" in preview
    assert "<script>x" not in preview
    assert "power-of-attorney: A power of attorney takes effect in life" in preview
    assert not Reference.objects.get(file_type="will").is_overridden
    page = browser.post(address("will"), {"override": mine, "_continue": "1"}, follow=True).content.decode()
    assert "a text of your own" in page
    assert current_references().by_type["will"].title == "Testament"
    page = browser.post(address("will", "return"), follow=True).content.decode()
    assert "The file is used again for will" in page
    assert current_references().by_type["will"].title == "Will"
    history = browser.get(address("will", "history")).content.decode()
    assert '<span class="removed">-title: Testament</span>' in history
    assert operator.get_username() in history
    assert LogEntry.objects.filter(change_message="Returned to the file.").count() == 1


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("tags: [legal", "tags: [comet", "tags: comet isn"),
        ("folder: Legal", "folder: Letters", "change the placement rule instead"),
        ("title: Will", "title: [Will", "line 4: it isn"),
    ],
)
def test_a_text_that_cannot_be_used_is_refused_and_stays_in_the_form(
    browser: Client, old: str, new: str, says: str
) -> None:
    text = changed("will", old, new)
    page = browser.post(address("will"), {"override": text}).content.decode()
    assert says.lower() in page.lower()
    assert new in page
    preview = browser.post(address("will", "preview"), {"override": text}).content.decode()
    assert "This text can’t be used" in preview
    assert says in preview
    assert not Reference.objects.get(file_type="will").is_overridden


def test_a_new_rule_is_previewed_saved_used_and_taken_back(browser: Client, operator: User) -> None:
    preview = browser.post(f"{RULES}preview/", NEW).content.decode()
    assert "<td>Legal (client)</td>" in preview
    assert "<strong>Staff (client)</strong>" in preview
    assert preview.count("the same") == 3
    assert place("will", "company") == "Legal"
    assert browser.post(f"{RULES}add/", NEW).status_code == 302
    assert place("will", "company") == "Staff"
    row = PlacementRule.objects.get(file_type="will", client_type="company")
    assert (row.is_overridden, row.history.first().history_user) == (True, operator)
    page = browser.post(f"{RULES}{row.pk}/return/", follow=True).content.decode()
    assert "No file has this rule" in page
    assert place("will", "company") == "Legal"


def test_a_rule_of_a_file_is_changed_and_taken_back(browser: Client) -> None:
    page = browser.get(rule_address(file_type="will")).content.decode()
    assert 'name="folder"' in page
    assert 'name="file_type"' not in page
    assert "Use the file again" not in page
    given = {"folder": "Notes and calls", "level": "client"}
    row = PlacementRule.objects.get(file_type="will", client_type="")
    preview = browser.post(f"{RULES}preview/", {**given, "rule": row.pk, "file_type": "cv"}).content.decode()
    assert preview.count("<strong>Notes and calls (client)</strong>") == 4
    assert "the type will" in preview
    saved = browser.post(rule_address(file_type="will"), {**given, "_continue": "1"}, follow=True)
    assert "Use the file again" in saved.content.decode()
    assert place("will") == "Notes and calls"
    page = browser.post(rule_address("return", file_type="will"), follow=True).content.decode()
    assert "The file is used again" in page
    assert place("will") == "Legal"
    history = browser.get(rule_address("history", file_type="will")).content.decode()
    assert "Back to the file." in history


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"category": "legal"}, "A rule is for a file type or for a category."),
        ({"file_type": ""}, "A rule is for a file type or for a category."),
        ({"file_type": "comet"}, "Select a valid choice. comet is not one of the available choices."),
        ({"folder": ""}, "This field is required."),
        ({"client_type": ""}, "already exists"),
    ],
)
def test_a_rule_that_cannot_be_used_is_refused(browser: Client, given: dict[str, str], says: str) -> None:
    for address_ in (f"{RULES}preview/", f"{RULES}add/"):
        page = browser.post(address_, NEW | given)
        assert (page.status_code, says in page.content.decode()) == (200, True), address_
        assert "is violated" not in page.content.decode()
    assert not PlacementRule.objects.filter(is_overridden=True).exists()


def test_nobody_adds_or_deletes_a_reference_or_deletes_a_rule(browser: Client) -> None:
    assert browser.get("/admin/coaching/reference/add/").status_code == 403
    assert browser.post(address("will", "delete"), {"post": "yes"}).status_code == 403
    assert browser.post(rule_address("delete", file_type="will"), {"post": "yes"}).status_code == 403


def test_a_view_permission_changes_nothing(make_user: MakeUser) -> None:
    member = make_user("staff", is_staff=True)
    views = ("view_reference", "view_placementrule")
    member.user_permissions.set(Permission.objects.filter(codename__in=views))
    client = browser_of(member)
    page = client.get(address("will")).content.decode()
    assert "executors" in page
    assert "Preview" not in page
    for action in ("change", "preview", "return"):
        assert client.post(address("will", action), {"override": "x"}).status_code == 403
    assert "Preview" not in client.get(rule_address(file_type="will")).content.decode()
    assert client.post(f"{RULES}preview/", NEW).status_code == 403
    assert client.post(rule_address("return", file_type="will")).status_code == 403
    assert client.get(rule_address("return", file_type="will")).status_code == 405


def test_who_isn_t_staff_never_gets_in(client: Client, user: User) -> None:
    client.force_login(user)
    for page in (address("will", "preview"), rule_address("return", file_type="will"), f"{RULES}preview/"):
        assert client.post(page, NEW).status_code == 302
    assert not PlacementRule.objects.filter(is_overridden=True).exists()


def test_what_is_not_there_is_not_found(browser: Client) -> None:
    assert browser.post("/admin/coaching/reference/999999/preview/").status_code == 404
    assert browser.post(f"{RULES}999999/return/").status_code == 404
    assert browser.post(f"{RULES}preview/", {"rule": "9" * 30}).status_code == 200
