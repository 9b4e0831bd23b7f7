"""Links of rendered texts name their host, and lead through a page that names it once more."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from http import HTTPStatus
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from coaching.engine.events import TextDelta
from coaching.events import RoundClosed, RoundShown, Sync, TurnDone, TurnEvent
from coaching.models import (
    AnswerFeedback,
    Document,
    DocumentText,
    KnowledgeEntry,
    Profile,
    Reference,
    ReflectionPrompt,
    Skill,
)
from coaching.sandbox.leaving import target_of
from coaching.sandbox.markdown import plain_words, render_markdown, render_replies
from coaching.sandbox.markdown_worker import MAX_ADDRESS
from coaching.sockets.fragments import StreamedReply, render_fragment
from sessions_app.models import Session
from tests.browsers import browser_of
from tests.context.conftest import put_file
from tests.leaving import leave_url
from tests.pages.conftest import Exchange
from tests.sockets.tenant_library import fill_library, ids_of_library

pytestmark = pytest.mark.django_db

EVIL = "https://evil.example/?d=secret"
HOSTILE_LINKS = (
    f"[/files/life-map/career.md]({EVIL})",
    f"[career.md]({EVIL})",
    f"[the plan]({EVIL})",
    f"[https://bank.example/login]({EVIL})",
    f"[www.bank.example]({EVIL})",
    f"[anna@bank.example]({EVIL})",
    f"[`/files/life-map/career.md`]({EVIL})",
    f"[**/library/documents/1/**]({EVIL})",
    f"[![/files/a.md](https://evil.example/x.png)]({EVIL})",
    f"[]({EVIL})",
    f"[\u200b]({EVIL})",
    f"[\u202e elpmaxe]({EVIL})",
    f"[https:\u2215\u2215bank\u2024example\u2215]({EVIL})",
    f"[c:\\\\Users\\\\me]({EVIL})",
    f"[localhost:8000]({EVIL})",
    f"<{EVIL}>",
    "<anna@evil.example>",
    "[write to us](mailto:anna@evil.example?body=secret)",
    "[write to us](mailto:anna@evil.example,eve@evil.example)",
    f"[a reference][r]\n\n[r]: {EVIL} 'bank.example'",
    "[x](https://bank.example@evil.example/)",
    "[x](https://bank.example:pass@evil.example/)",
    "[x](https://bank.example%2f@evil.example/)",
    "[x](https://bank.example\\@evil.example/)",
    "[x](https:\\\\evil.example/)",
    "[x](https:/evil.example)",
    "[x](https:///evil.example)",
    "[x](//evil.example/)",
    "[x](/\\evil.example/)",
    "[x](/leave/?to=https://evil.example)",
    "[x](https://evil.example:8443/a)",
    "[x](https://evil.example:99999999/a)",
    "[x](https://[::1]/a)",
    "[x](https://2130706433/)",
    "[x](https://0x7f.1/)",
    "[x](https://127.0.0.1/)",
    "[x](https://127.1/)",
    "[x](https://%65vil.example/)",
    "[x](https://\u0430\u0440\u0440\u04cf\u0435.example/)",
    "[x](https://bank.ex\u0430mple/)",
    "[x](https://bank.example\u3002evil.example/)",
    "[x](https://bank.example\uff0fevil.example/)",
    "[x](https://xn--80ak6aa92e.example/)",
    "[x](HTTPS://EVIL.example/)",
    "[x](https://evil.example./)",
    f"[x](https://evil.example/{'a' * 1900})",
    f"[x](https://evil.example/{'a' * 100_000})",
    f"[x](https://www.bank.example.{'a' * 60}.{'b' * 60}.evil.example/)",
    "[x](&#104;ttps://evil&#46;example/&quot;onclick=x)",
    "[x](https://evil.example/?a=1&amp;b=2#c)",
    "[x](https://evil.example/?a=%22%3E%3Cscript%3E)",
    "[x](javascript:alert(1))",
    "[x](data:text/html,x)",
    "[x](tel:+123456)",
    "[x](ftp://evil.example/)",
    "[x](blob:https://evil.example/1)",
    f"# [a heading]({EVIL})",
    f"|a|b|\n|-|-|\n|[cell]({EVIL})|[/files/a.md]({EVIL})|",
    f"- [ ] [a task]({EVIL})",
    f"> [quoted]({EVIL})",
    f"~~[struck]({EVIL})~~ *[leaning]({EVIL})*",
    f"[one]({EVIL}) [two](https://second.example) [three](../life-map/career.md)",
)


class Links(HTMLParser):
    """Collects each link of a page: its URL, and the words inside it."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self._href: str | None = None
        self._words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a link; one without a URL leads nowhere."""
        if tag == "a":
            self._href, self._words = dict(attrs).get("href"), ""

    def handle_data(self, data: str) -> None:
        """Add to the words of a link."""
        self._words += data

    def handle_endtag(self, tag: str) -> None:
        """End a link."""
        if tag == "a" and self._href is not None:
            self.found.append((self._href, self._words))
            self._href = None


def links_in(markup: str) -> list[tuple[str, str]]:
    links = Links()
    links.feed(markup)
    links.close()
    return links.found


def leaving(markup: str) -> list[tuple[str, str]]:
    """Return the target and the words of each link that leaves; fail for one that hides its host."""
    found = []
    for href, words in links_in(markup):
        if not href.startswith("/leave/"):
            assert re.fullmatch(r"/(?:[a-z?#].*)?|[#?].*", href), f"{href} leads elsewhere"
            continue
        target = target_of(parse_qs(urlsplit(href).query)["to"][0])
        host = urlsplit(target).netloc.lower() or urlsplit(target).path
        assert host.lower() in words.lower(), f"{words!r} hides {host}"
        found.append((target, words))
    return found


@pytest.mark.parametrize("text", HOSTILE_LINKS, ids=range(len(HOSTILE_LINKS)))
def test_no_link_hides_its_host(text: str) -> None:
    for markup in (render_markdown(text), render_replies([text])[text]):
        for target, words in leaving(markup):
            assert "@" not in urlsplit(target).netloc
            for fake in ("/files/", "/library/", "career.md", "www.bank.example/", "anna@bank", "localhost"):
                assert fake not in words


CORPUS = "\n\n".join(text for text in HOSTILE_LINKS if len(text) < 5_000)
"""Without the one that is longer than a message may be."""
SURFACES = {
    "coaching/transcript/conversation.py": ("/chat/{session}/",),
    "coaching/transcript/turn_items.py": ("/chat/{session}/", "stream", "round", "sync", "done"),
    "coaching/sockets/fragments.py": ("stream",),
    "coaching/views/conversation_page.py": ("/chat/{session}/",),
    "coaching/views/session_export.py": ("/chat/{session}/print/",),
    "coaching/personal_data/device_copy.py": ("/offline/copy/",),
    "coaching/views/home.py": ("/",),
    "coaching/views/prompts.py": ("/reflections/{prompt}/",),
    "coaching/views/journal.py": ("/journal/", "/journal/2026-11-16/", "/journal/week/2026-11-16/"),
    "coaching/views/files.py": ("/files/life-map/career.md", "/files/daily-logs/2026-11-16.md"),
    "coaching/views/file_edits.py": ("preview", "preview without JavaScript"),
    "coaching/views/file_tasks.py": ("tick",),
    "coaching/library/pages/documents.py": ("/library/documents/{document}/",),
    "coaching/library/pages/knowledge.py": ("/library/knowledge/", "/library/knowledge/{entry}/"),
    "coaching/admin/transcripts.py": ("/admin/sessions_app/session/{session}/words/",),
    "coaching/admin/feedback.py": ("/admin/coaching/answerfeedback/{feedback}/words/",),
    "coaching/admin/skills.py": ("/admin/coaching/skill/{skill}/preview/",),
    "coaching/library/admin/references.py": ("/admin/coaching/reference/{reference}/preview/",),
}
"""Each module that renders markdown, with the pages and frames that show it."""
SILENT = ("/library/knowledge/",)
"""Those that show a text's words only, without its links."""
OTHER_PAGES = (
    "/files/", "/files/life-map/career.md/edit/", "/files/life-map/career.md?view=raw",
    "/files/life-map/career.md/versions/", "/files/life-map/career.md/difference/", "/search/?q=secret",
    "/capture/", "/library/", "/library/review/", "/library/actions/", "/map/", "/chat/",
)  # fmt: skip


def test_every_module_that_renders_markdown_is_tried() -> None:
    importing = re.compile(r"^from coaching\.sandbox\.markdown import ([^\n]+)", re.MULTILINE)
    found = set()
    for path in Path("coaching").rglob("*.py"):
        names = importing.search(path.read_text())
        if names and any(name.strip().startswith(("render_", "plain_")) for name in names[1].split(",")):
            found.add(path.as_posix())
    assert found == set(SURFACES)


@pytest.fixture
def linked(user: User, session: Session, exchange: Exchange) -> dict[str, object]:
    """Put the links into everything that is rendered; return the ids of what has them."""
    call_command("sync_skills")
    Profile.unscoped.create(user=user, timezone="Europe/Lisbon")
    exchange(CORPUS, CORPUS)
    for path in ("life-map/career.md", "daily-logs/2026-11-16.md", "check-ins/2026-11-16.md"):
        put_file(user, path, "Before.")
        put_file(user, path, CORPUS)
    asked = put_file(user, "life-map/health.md", CORPUS)
    prompt = ReflectionPrompt.unscoped.create(user=user, file=asked, text=CORPUS)
    fill_library(user, "secret")
    Document.of(user.pk).update(summary=CORPUS, reason=CORPUS[:500])
    DocumentText.unscoped.update(text=CORPUS)
    KnowledgeEntry.of(user.pk).update(content=CORPUS)
    feedback = AnswerFeedback.unscoped.create(
        turn=session.turns.get(), rating="up", is_shared=True, is_answer_shared=True
    )
    return {
        **ids_of_library(user.pk),
        "session": session.pk,
        "feedback": feedback.pk,
        "prompt": prompt.pk,
        "skill": Skill.objects.get(name="open-day").pk,
        "reference": Reference.objects.get(file_type="will").pk,
    }


def frames_of(name: str, session: Session) -> str:
    """Return what the socket sends for the text."""
    turn = session.turns.get()
    events: dict[str, TurnEvent] = {
        "round": RoundClosed(turn_id=str(turn.pk), number=1, text=CORPUS, notes=""),
        "sync": Sync(
            status="running",
            turn_id=str(turn.pk),
            rounds=(RoundShown(text=CORPUS, notes="", number=1, is_finished=True),),
            text=CORPUS,
            running={},
        ),
        "done": TurnDone(
            turn_id=str(turn.pk), stop_reason="end_turn", status="completed", text=CORPUS, number=2
        ),
    }
    if name != "stream":
        return async_to_sync(render_fragment)(events[name])

    async def stream() -> str:
        reply = StreamedReply()
        pieces = [CORPUS[start : start + 7] for start in range(0, len(CORPUS), 7)]
        return "".join([frame for piece in pieces for frame in await reply.frames_of(TextDelta(piece))])

    return async_to_sync(stream)()


def shown_at(surface: str, client: Client, session: Session, ids: dict[str, object]) -> str:
    """Return the markup of a page or frame."""
    if surface in ("stream", "round", "sync", "done"):
        return frames_of(surface, session)
    if surface == "preview":
        response = client.post("/files/life-map/career.md/preview/", {"body": CORPUS})
    elif surface == "preview without JavaScript":
        fields = {"body": CORPUS, "version": "2", "do": "preview"}
        response = client.post("/files/life-map/career.md/edit/", fields)
    elif surface == "tick":
        fields = {"version": "2", "box-0": "1"}
        response = client.post("/files/life-map/career.md/tick/", fields, headers={"HX-Request": "true"})
    elif surface.endswith("/preview/"):
        response = client.post(surface.format(**ids), {"override": CORPUS})
    elif surface == "/offline/copy/":
        client.post("/settings/device-copy/", {"do": "keep"})
        return str(client.get(surface).json()["html"])
    else:
        response = client.get(surface.format(**ids))
    assert response.status_code in (200, 422), surface
    return response.content.decode()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@time_machine.travel(datetime(2026, 11, 16, 20, tzinfo=UTC), tick=True)
def test_no_surface_shows_a_link_that_hides_its_host(
    user: User, session: Session, linked: dict[str, object], storage: None
) -> None:
    user.is_staff = user.is_superuser = True
    user.save()
    client = browser_of(user)
    surfaces = {surface for names in SURFACES.values() for surface in names}
    links = {
        surface: leaving(shown_at(surface, client, session, linked))
        for surface in sorted(surfaces | set(OTHER_PAGES))
    }
    for target, words in (
        (EVIL, "the plan (evil.example)"),
        (EVIL, "evil.example/?d=secret"),
        ("mailto:anna@evil.example?body=secret", "write to us (anna@evil.example)"),
    ):
        showing = {surface for surface, found in links.items() if (target, words) in found}
        assert showing == surfaces - set(SILENT)
    assert {surface for surface, found in links.items() if found} == surfaces - set(SILENT)


def test_the_page_names_the_host_and_only_a_click_goes_there(signed_in: Client) -> None:
    response = signed_in.get(leave_url("https://evil.example:8443/a?d=<b>&c=\u00fc"))
    page = response.content.decode()
    assert response.status_code == HTTPStatus.OK
    assert response["Referrer-Policy"] == "no-referrer"
    assert "Location" not in response
    assert "http-equiv" not in page
    assert '<p class="leave-host"><bdi>evil.example:8443</bdi></p>' in page
    assert (
        '<a class="button button-main" href="https://evil.example:8443/a?d=&lt;b&gt;&amp;c=\u00fc"'
        ' rel="noopener noreferrer nofollow">Go to <bdi>evil.example:8443</bdi></a>'
    ) in page
    assert "https://<strong>evil.example:8443</strong>/a?d=&lt;b&gt;" in page


def test_the_page_leads_back_to_where_the_link_was(signed_in: Client) -> None:
    address = leave_url("https://evil.example/")
    for referrer, back in (
        ("http://testserver/files/a/b.md?view=raw", "/files/a/b.md?view=raw"),
        ("http://elsewhere.example/files/", "/"),
        ("http://testserver//elsewhere.example/files/", "/"),
        ("http://testserver/\\elsewhere.example/", "/"),
        ("", "/"),
    ):
        page = signed_in.get(address, headers={"Referer": referrer}).content.decode()
        assert f'<a class="button" href="{back}">Stay here</a>' in page


def test_the_page_shows_the_letters_of_a_host_and_an_unencrypted_connection(signed_in: Client) -> None:
    page = signed_in.get(leave_url("http://xn--mnchen-3ya.example/")).content.decode()
    assert '<p class="leave-host"><bdi>xn--mnchen-3ya.example</bdi></p>' in page
    assert "<bdi>m\u00fcnchen.example</bdi>" in page
    assert "isn’t encrypted" in page


def test_a_mail_address_has_its_page_too(signed_in: Client) -> None:
    page = signed_in.get(leave_url("mailto:anna@evil.example?body=secret")).content.decode()
    assert '<p class="leave-host"><bdi>anna@evil.example</bdi></p>' in page
    assert "mailto:<strong>anna@evil.example</strong>?body=secret" in page
    assert 'href="mailto:anna@evil.example?body=secret"' in page


@pytest.mark.parametrize(
    "query", ["", "?to=", "?to=https://evil.example/", "?to=https://evil.example/:x{sig}"]
)
def test_a_target_that_sage_didn_t_sign_leads_nowhere(signed_in: Client, query: str) -> None:
    signature = leave_url("https://other.example/").rpartition(":")[2]
    response = signed_in.get(f"/leave/{query.format(sig=signature)}")
    assert response.status_code == HTTPStatus.BAD_REQUEST
    page = response.content.decode()
    assert "This link doesn’t work" in page
    assert "evil.example" not in page


def test_the_longest_link_fits_a_request_line() -> None:
    address = "https://evil.example/?" + "&" * (MAX_ADDRESS - 22)
    markup = render_markdown(f"[x]({address})")
    ((target, _words),) = leaving(markup)
    assert target == address
    assert len(links_in(markup)[0][0]) < 8_000
    assert leaving(render_markdown(f"[x]({address}a)")) == []


def test_words_of_a_text_have_no_hosts_beside_them() -> None:
    text = f"See [the *plan*]({EVIL}) and [a.md]({EVIL})."
    assert plain_words([text])[text] == "See the plan and evil.example/?d=secret."


def test_words_with_a_dot_or_a_slash_keep_their_host_beside_them() -> None:
    for words in ("e.g. this", "yes and/or no", "3.5 hours", "24.12.2026", "at 10:30", "Is it? Yes."):
        assert leaving(render_markdown(f"[{words}]({EVIL})")) == [(EVIL, f"{words} (evil.example)")]


def test_links_to_own_files_and_documents_stay_as_they_are() -> None:
    for address in ("/files/life-map/career.md", "/library/documents/1/#page-2", "/library/knowledge/"):
        assert render_markdown(f"[career.md]({address})") == (
            f'<p><a href="{address}" rel="noopener noreferrer nofollow">career.md</a></p>\n'
        )
