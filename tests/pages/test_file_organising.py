"""New files, names of people's own, deleting and restoring, and searching them.

Above 300 lines, as all of it happens to the same few files and pages.
"""

import re
from datetime import timedelta
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from coaching.files.archive import read_deleted_entries, read_file_entries
from coaching.files.organising import KEPT_DAYS, purge_deleted_files
from coaching.files.selectors import read_file
from coaching.life.captures import read_waiting_captures
from coaching.models import (
    Capture,
    DayPlan,
    FileType,
    Profile,
    PulseRating,
    RecallPassage,
    UserFile,
    UserFileVersion,
)
from coaching.recall.search import search
from tests.browsers import page_of
from tests.files.auditor import audit_files
from tests.pages.file_pages import CAREER, Write, hidden_in
from tests.thoroughness import size

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("storage")]


def found(user: User, words: str) -> int:
    return len(search(words, user_id=user.pk, now=timezone.now(), limit=10))


def create(client: Client, title: str, body: str = "Words.") -> str:
    response = client.post("/files/new/", {"title": title, "body": body})
    assert response.status_code == HTTPStatus.SEE_OTHER, response.content.decode()
    return response["Location"]


def test_a_new_file_has_the_name_that_was_typed(signed_in: Client, user: User) -> None:
    address = create(signed_in, "  Ideas: work/life?  ", "One *idea*.")
    page = page_of(signed_in, address)
    assert "<h1><bdi>Ideas: work/life?</bdi></h1>" in page
    assert "One <em>idea</em>." in page
    again = create(signed_in, "Ideas: work/life?", "Another.")
    assert again != address
    other = create(signed_in, "\u65e5\u8a18")
    assert re.fullmatch(r"/files/notes/\d{4}-\d\d-\d\d-note-[0-9a-f]{8}\.md", other)
    assert "\u65e5\u8a18" in page_of(signed_in, "/files/")
    assert audit_files(user.pk)[address.removeprefix("/files/")][0].startswith("---\ntype: note\ndate: ")
    assert found(user, "idea") == 1, "Sage finds it"


def test_pressing_save_twice_makes_one_file(signed_in: Client) -> None:
    fields = re.search(r'name="(id)" value="([^"]+)"', page_of(signed_in, "/files/new/"))
    assert fields
    form = {"title": "Ideas", "body": "One.", fields[1]: fields[2]}
    first, second = (signed_in.post("/files/new/", form)["Location"] for _ in range(2))
    assert second == first
    other = signed_in.post("/files/new/", {**form, "body": "Another, after going back."})["Location"]
    assert "Another" in page_of(signed_in, other)
    assert UserFile.unscoped.count() == 2


def test_a_refused_file_keeps_what_was_typed(signed_in: Client, user: User, settings: Settings) -> None:
    for title, body, why in (
        ("", "My words", "Give the file a name"),
        ("a" * 121, "My words", "the limit is 120"),
        ("a\x00b", "My words", "stored"),
        ("A", "---\ntype: domain\n---\nMy words", "start with another line"),
        ("A", "My words" + "x" * 100_000, "100,000"),
    ):
        response = signed_in.post("/files/new/", {"title": title, "body": body})
        page = response.content.decode()
        assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY, why
        assert why in page
        assert "My words" in page
    settings.SAGE_MAX_FILES = 0
    assert signed_in.post("/files/new/", {"title": "A", "body": "b"}).status_code == 429
    assert not UserFile.unscoped.exists()


def test_a_file_is_renamed_without_moving(signed_in: Client, write: Write) -> None:
    address = create(signed_in, "First")
    signed_in.post(f"{address}/rename/", {"title": "Second"})
    page = page_of(signed_in, address)
    assert "<h1><bdi>Second</bdi></h1>" in page
    assert "Second" in page_of(signed_in, f"{address}/versions/")
    signed_in.post(f"{address}/rename/", {"title": " "})
    assert "Give the file a name" in page_of(signed_in, address)
    write("Work")
    assert "/rename/" not in page_of(signed_in, CAREER), "a part of life keeps its name"
    signed_in.post(f"{CAREER}/rename/", {"title": "Mine"})
    assert "<h1><bdi>Career</bdi></h1>" in page_of(signed_in, CAREER)


def test_a_deleted_file_is_gone_everywhere_and_comes_back_whole(
    signed_in: Client, user: User, write: Write
) -> None:
    write("The heron stood still.")
    write("The heron flew.")
    assert found(user, "heron") == 1
    response = signed_in.post(f"{CAREER}/delete/")
    page = page_of(signed_in, response["Location"])
    assert "“Career” was deleted." in page
    undo = re.search(r'action="(/files/deleted/\d+/)"', page)
    assert undo
    assert signed_in.get(CAREER).status_code == HTTPStatus.NOT_FOUND
    assert f'href="{CAREER}"' not in page
    assert "Deleted files (1)" in page
    assert found(user, "heron") == 0
    assert 'href="/files/life-map/career.md"' not in page_of(signed_in, "/map/")
    assert not list(read_file_entries(user_id=user.pk, has_versions=True))
    deleted = read_deleted_entries(user_id=user.pk)
    assert [entry.path for entry in deleted] == ["deleted-files/1/life-map/career.md"]
    assert undo[1] in page_of(signed_in, "/files/deleted/")
    back = signed_in.post(undo[1])
    assert back["Location"] == CAREER
    assert "The heron flew." in page_of(signed_in, CAREER)
    assert "Version 2</a>" in page_of(signed_in, CAREER)
    assert found(user, "heron") == 1
    assert signed_in.post(undo[1]).status_code == HTTPStatus.NOT_FOUND


def test_a_path_can_be_used_again_while_the_deleted_file_waits(
    signed_in: Client, user: User, write: Write
) -> None:
    write("Old words", status="good")
    signed_in.post(f"{CAREER}/delete/")
    write("New words")
    new = read_file(user_id=user.pk, path="life-map/career.md")
    assert (new.version.number, "status" in new.text) == (1, False), "nothing of the old one is in it"
    back = signed_in.post(f"/files/deleted/{UserFile.deleted_of(user.pk).get().pk}/")
    assert back["Location"] == "/files/life-map/career-2.md"
    assert "Old words" in page_of(signed_in, back["Location"])
    assert "New words" in page_of(signed_in, CAREER)


def test_a_form_of_a_deleted_file_changes_nothing_in_the_file_made_anew(
    signed_in: Client, user: User, write: Write
) -> None:
    write("- [ ] Old")
    opened = hidden_in(page_of(signed_in, f"{CAREER}/edit/"))
    ticking = {"box-0": "1", **hidden_in(page_of(signed_in, CAREER).partition('id="ticks"')[2])}
    assert opened.keys() == {"version", "file"} == ticking.keys() - {"box-0"}
    signed_in.post(f"{CAREER}/delete/")
    write("- [ ] New")
    signed_in.post(f"{CAREER}/tick/", ticking)
    response = signed_in.post(f"{CAREER}/edit/", {"body": "Mine", "do": "save", **opened})
    assert response.status_code == HTTPStatus.CONFLICT
    assert "Mine" in response.content.decode()
    new = read_file(user_id=user.pk, path="life-map/career.md")
    assert (new.version.number, "- [ ] New" in new.text) == (1, True)
    again = {"body": "Mine", "do": "save", **hidden_in(response.content.decode())}
    assert signed_in.post(f"{CAREER}/edit/", again).status_code == HTTPStatus.SEE_OTHER
    assert "Mine" in page_of(signed_in, CAREER)


@pytest.mark.slow
def test_a_file_that_finds_no_free_name_stays_deleted(signed_in: Client, user: User, write: Write) -> None:
    write("Old")
    signed_in.post(f"{CAREER}/delete/")
    names = ["career.md", *(f"career-{number}.md" for number in range(2, 1_000))]
    UserFile.unscoped.bulk_create(
        UserFile(user=user, path=f"life-map/{name}", file_type=FileType.DOMAIN) for name in names
    )
    old = UserFile.deleted_of(user.pk).get()
    response = signed_in.post(f"/files/deleted/{old.pk}/", follow=True)
    assert response.redirect_chain == [("/files/deleted/", HTTPStatus.SEE_OTHER)]
    assert "Too many files have this name." in response.content.decode()
    assert UserFile.deleted_of(user.pk).get() == old


@pytest.mark.slow
def test_all_deleted_files_are_listed_and_all_that_are_due_go(signed_in: Client, user: User) -> None:
    now = timezone.now()
    UserFile.unscoped.bulk_create(
        UserFile(
            user=user,
            path=f"captures/{number}.md",
            file_type=FileType.CAPTURE,
            deleted_at=now - timedelta(days=20 if number < 120 else KEPT_DAYS + 1),
        )
        for number in range(330)
    )
    assert purge_deleted_files(now=now) == 210
    pages = [page_of(signed_in, f"/files/deleted/?page={number}") for number in (1, 2)]
    shown = [re.findall(r'action="/files/deleted/(\d+)/"', page) for page in pages]
    assert [len(page) for page in shown] == [100, 20]
    assert len({*shown[0], *shown[1]}) == 120
    assert 'href="?page=2"' in page_of(signed_in, "/files/deleted/")
    assert 'href="?page=1"' in page_of(signed_in, "/files/deleted/?page=2")
    assert signed_in.get("/files/deleted/?page=3").status_code == HTTPStatus.NOT_FOUND


def test_a_file_restored_under_a_second_name_changes_neither_the_day_nor_ratings(
    signed_in: Client, user: User, write: Write
) -> None:
    address = write("- [ ] Box", FileType.DAY_PLAN, intention="Old", priorities=["Old"])
    signed_in.post(f"{address}/delete/")
    write("New", FileType.DAY_PLAN, intention="New", priorities=["Rest"])
    restore = f"/files/deleted/{UserFile.deleted_of(user.pk).get().pk}/"
    second = signed_in.post(restore)["Location"]
    assert second.endswith("-2.md")
    page = page_of(signed_in, second)
    signed_in.post(f"{second}/tick/", {"box-0": "1", **hidden_in(page)})
    assert "- [x] Box" in read_file(user_id=user.pk, path=second.removeprefix("/files/")).text
    plan = DayPlan.unscoped.get()
    assert (plan.file and f"/files/{plan.file.path}", plan.intention) == (address, "New")
    signed_in.post(f"{second}/delete/")
    signed_in.post(f"{address}/delete/")
    signed_in.post(restore)
    assert not DayPlan.unscoped.get().says_something, "its name stays the second one"
    new = UserFile.deleted_of(user.pk).get()
    signed_in.post(f"/files/deleted/{new.pk}/")
    plan = DayPlan.unscoped.get()
    assert (plan.file, plan.intention, plan.priorities[0]["text"]) == (new, "New", "Rest")

    write("Old", updated_rating=2)
    signed_in.post(f"{CAREER}/delete/")
    write("New", updated_rating=3)
    old = UserFile.deleted_of(user.pk).get()
    second = signed_in.post(f"/files/deleted/{old.pk}/")["Location"]
    fields = hidden_in(page_of(signed_in, f"{second}/edit/"))
    edited = {"body": "Old", "do": "save", "updated_rating": "5", **fields}
    assert signed_in.post(f"{second}/edit/", edited).status_code == HTTPStatus.SEE_OTHER
    assert "updated_rating: 5" in read_file(user_id=user.pk, path="life-map/career-2.md").text
    assert set(PulseRating.unscoped.values_list("rating", flat=True)) == {2, 3}


def test_what_stands_in_a_deleted_file_leaves_home_and_captures(
    signed_in: Client, user: User, write: Write
) -> None:
    plan = write("Plan", FileType.DAY_PLAN, intention="Slow", priorities=["Rest"])
    capture = write("A thought", FileType.CAPTURE)
    question = write("What would rest look like?", FileType.REFLECTION_PROMPT)
    changed = {"intention": "Slower", "priorities": [{"text": "Rest", "is_done": True}]}
    DayPlan.unscoped.update(**changed)
    for address in (plan, capture, question):
        signed_in.post(f"{address}/delete/")
    assert not DayPlan.unscoped.get().says_something
    assert read_waiting_captures(user_id=user.pk, limit=5).total == 0
    assert "What would rest" not in page_of(signed_in, "/")
    for file in UserFile.deleted_of(user.pk):
        signed_in.post(f"/files/deleted/{file.pk}/")
    restored = DayPlan.unscoped.get()
    assert {"intention": restored.intention, "priorities": restored.priorities} == changed
    assert restored.file
    assert restored.file.kept_plan is None
    assert read_waiting_captures(user_id=user.pk, limit=5).total == 1
    assert "What would rest" in page_of(signed_in, "/")


def test_deleted_files_go_for_good_after_weeks(signed_in: Client, user: User, write: Write) -> None:
    write("Work")
    kept = create(signed_in, "Kept")
    for address in (CAREER, kept):
        signed_in.post(f"{address}/delete/")
    late = timezone.now() - timedelta(days=KEPT_DAYS, hours=1)
    UserFile.unscoped.filter(path="life-map/career.md").update(deleted_at=late)
    assert purge_deleted_files(now=timezone.now()) == 1
    assert UserFile.unscoped.get().title == "Kept"
    assert UserFileVersion.unscoped.count() == 1
    assert not RecallPassage.unscoped.exists()


@pytest.mark.slow
def test_files_are_found_by_name_and_by_their_words(signed_in: Client, write: Write) -> None:
    write("The heron flew over the lake.", status="good")
    watching = create(signed_in, "Heron watching", "At dawn.")
    page = page_of(signed_in, "/files/?q=heron")
    named, _, text = page.partition('id="found-title"')
    assert "Heron watching" in named
    assert "<mark>heron</mark> flew" in text
    assert "type: domain" not in text
    signed_in.post(f"{watching}/rename/", {"title": "Early birds"})
    assert 'dir="auto">Early birds</span>' in page_of(signed_in, "/search/?q=dawn")
    signed_in.post(f"{watching}/rename/", {"title": "Heron watching"})
    assert "<mark>Good</mark>" in page_of(signed_in, "/files/?q=good"), "only the frontmatter has it"
    assert f'href="{CAREER}"' in text
    assert "No files match these words" in page_of(signed_in, "/files/?q=zebra")
    assert "No files match these words" in page_of(signed_in, "/files/?q=the")
    assert "Heron watching" in page_of(signed_in, "/files/?q=%00heron%00")
    for _ in range(40):
        response = signed_in.get("/files/?q=heron")
    assert response.status_code == HTTPStatus.TOO_MANY_REQUESTS
    assert "Heron watching" not in response.content.decode(), "looking for names counts as a search"


@pytest.mark.slow
def test_many_files_and_captures_are_small_pages_of_few_queries(
    signed_in: Client, user: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    Profile.unscoped.create(user=user)
    now = timezone.now()
    files = UserFile.unscoped.bulk_create(
        UserFile(
            user=user,
            path=f"captures/{2012 + number // 360}-{1 + number // 30 % 12:02}-{1 + number % 30:02}-120000.md",
            file_type=FileType.CAPTURE,
            version_number=1,
        )
        for number in range(size(600, long=5_000))
    )
    words = {"number": 1, "size": 9, "source": "user", "content": "A thought that is some words long. " * 5}
    UserFileVersion.unscoped.bulk_create(
        UserFileVersion(file=file, storage_key=str(file.pk), **words) for file in files
    )
    Capture.unscoped.bulk_create(
        Capture(user=user, file=file, captured_at=now - timedelta(minutes=number))
        for number, file in enumerate(files)
    )
    for address in ("/files/", "/files/?folder=captures", "/capture/"):
        with django_assert_max_num_queries(7):
            assert len(signed_in.get(address).content) < 150_000
