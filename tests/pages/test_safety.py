"""Help lines and protocol, the safety card on pages, and a newcomer's first pages."""

import re
from collections import deque
from html.parser import HTMLParser
from http import HTTPStatus

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from coaching.models import CardCount, HelpLine, Profile
from coaching.people.help_lines import sync_help_lines
from coaching.safety import figures
from sessions_app import session_services
from sessions_app.models import Message, Session, SessionKind, SessionStatus
from tests.browsers import page_of
from tests.conftest import PASSWORD, MakeUser
from tests.pages.conftest import Exchange

pytestmark = pytest.mark.django_db

MARK = {"safety": {"level": "immediate", "about": "self", "topic": "life"}}


def lines_in(page: str) -> list[str]:
    return re.findall(r'href="tel:([^"]+)"', page)


def test_the_page_is_open_to_strangers_and_goes_by_the_browsers_time_zone(client: Client) -> None:
    page = page_of(client, "/safety/")
    assert "Help, wherever you are" in page
    assert "findahelpline.com" in page
    client.cookies["sage_timezone"] = "Europe/Paris"
    page = page_of(client, "/safety/")
    assert "Help lines: France" in page
    assert "3114" in lines_in(page)
    assert "988" in lines_in(page_of(client, "/safety/?country=US"))


def test_the_page_says_why_it_shows_a_country(client: Client) -> None:
    guessed, chosen = "a guess based on your time zone", "You chose this country."
    page = page_of(client, "/safety/")
    assert "Choose a country to see its help lines." in page
    assert guessed not in page
    client.cookies["sage_timezone"] = "Europe/Paris"
    assert guessed in page_of(client, "/safety/")
    page = page_of(client, "/safety/?country=US")
    assert chosen in page
    assert guessed not in page


@pytest.mark.parametrize("country", ["ZZ", "us", "%00", "<script>", "x" * 5000, ""])
def test_a_strange_country_is_anywhere(client: Client, country: str) -> None:
    client.cookies["sage_timezone"] = "Europe/Paris"
    assert "Help, wherever you are" in page_of(client, f"/safety/?country={country}")


def test_it_says_what_sage_is_how_well_it_notices_and_what_is_counted(
    client: Client, settings: Settings
) -> None:
    settings.IS_PRACTICE_MODEL = False
    page = page_of(client, "/safety/")
    look = figures.ENGLISH
    for words in (
        "Sage is an AI",
        "a therapist or a doctor",
        f"{look.immediate_noticed} of {look.immediate}",
        f"{look.concern_noticed} of {look.concern}",
        "Nobody is called or notified",
        "two numbers a day for everyone together",
        "They also check your captures, your changes to them, and your answers",
        "The same goes for captures and saved answers, whose card is shown once",
    ):
        assert words in page


RULES_ALONE = "These rules alone judge here"
A_LOOK = "A small AI model takes a second look"


@pytest.mark.parametrize(
    ("is_practice", "model", "there", "missing"),
    [
        (True, "sage-practice", RULES_ALONE, A_LOOK),
        (False, "", RULES_ALONE, A_LOOK),
        (False, "claude-haiku-5-5", A_LOOK, RULES_ALONE),
    ],
)
def test_it_says_who_judges(
    client: Client, settings: Settings, *, is_practice: bool, model: str, there: str, missing: str
) -> None:
    settings.IS_PRACTICE_MODEL, settings.SAGE_SAFETY_MODEL = is_practice, model
    page = page_of(client, "/safety/")
    assert there in page
    assert missing not in page


@pytest.mark.parametrize(
    "address", ["/", "/welcome/", "/safety/", "/chat/{session}/", "/capture/", "/settings/"]
)
@pytest.mark.parametrize("is_practice", [True, False])
def test_a_page_calls_sage_an_ai_or_a_script_and_never_both(
    signed_in: Client, session: Session, settings: Settings, *, address: str, is_practice: bool
) -> None:
    settings.IS_PRACTICE_MODEL = is_practice
    page = page_of(signed_in, address.format(session=session.id))
    is_ai, is_script = re.search(r"\ban AI\b", page), re.search(r"\ba script\b", page, re.IGNORECASE)
    assert (is_ai is not None, is_script is not None) == (not is_practice, is_practice)


def test_a_person_keeps_a_country_of_their_own_and_lets_it_go_again(signed_in: Client, user: User) -> None:
    Profile.unscoped.create(user=user, timezone="Europe/Berlin", timezone_source="user")
    assert "Help lines: Germany" in page_of(signed_in, "/safety/")
    response = signed_in.post("/safety/country/", {"country": "NZ"}, follow=True)
    assert "Your help lines are now for New Zealand." in response.content.decode()
    assert "1737" in lines_in(page_of(signed_in, "/safety/"))
    signed_in.post("/safety/country/", {"country": "nonsense"})
    assert Profile.unscoped.get(user=user).country == ""
    assert "Help lines: Germany" in page_of(signed_in, "/safety/")


def test_the_way_back_leads_to_a_conversation_of_ones_own_only(
    signed_in: Client, session: Session, make_user: MakeUser
) -> None:
    assert f'href="/chat/{session.id}/"' in page_of(signed_in, f"/safety/?from={session.id}")
    response = signed_in.post("/safety/country/", {"country": "NZ", "from": str(session.id)})
    assert response.url == f"/safety/?from={session.id}"  # type: ignore[attr-defined]
    foreign = session_services.open_session(user_id=make_user().pk, kind=SessionKind.OPEN_CONVERSATION)
    for address in (str(foreign.id), "nonsense", "%00", "https://elsewhere.example/"):
        assert "Back to the conversation" not in page_of(signed_in, f"/safety/?from={address}")
    assert str(session.id) not in page_of(Client(), f"/safety/?from={session.id}")


def test_an_operators_line_is_shown_and_its_words_are_only_words(client: Client) -> None:
    sync_help_lines()
    HelpLine.objects.create(country="US", name="<b>Ours</b>", phone="0123", text="<script>alert(1)</script>")
    page = page_of(client, "/safety/?country=US")
    assert "&lt;b&gt;Ours&lt;/b&gt;" in page
    assert "<script>alert" not in page


@pytest.mark.parametrize("address", ["/", "/chat/", "/files/", "/settings/", "/welcome/", "/nowhere/"])
def test_every_page_leads_to_the_help_lines(signed_in: Client, session: Session, address: str) -> None:
    assert 'href="/safety/"' in signed_in.get(address).content.decode()
    assert 'href="/safety/"' in page_of(signed_in, f"/chat/{session.id}/")
    assert 'href="/safety/"' in page_of(Client(), "/accounts/login/")


def test_a_stored_card_stands_between_the_words_and_the_answer(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    exchange("I want to die.", "Here with you.")
    exchange("Thank you", "Always.")
    Message.unscoped.filter(number=1).update(metadata=MARK)
    page = page_of(signed_in, f"/chat/{session.id}/")
    places = [page.index(part) for part in ('id="message-1"', 'id="safety-message-1"', "Here with you.")]
    assert places == sorted(places)
    assert page.count("safety-card") == 1
    assert f'href="/safety/?from={session.id}"' in page


def test_who_is_being_hurt_is_not_sent_to_the_ambulance_alone(
    signed_in: Client, session: Session, exchange: Exchange, user: User
) -> None:
    Profile.unscoped.create(user=user, country="JP")
    exchange("He hits me.", "Are you safe right now?")
    danger = {"level": "immediate", "about": "self", "topic": "violence"}
    Message.unscoped.filter(number=1).update(metadata={"safety": danger})
    page = page_of(signed_in, f"/chat/{session.id}/")
    assert lines_in(page)[:2] == ["119", "110"]
    assert "(Police)." in page


@pytest.mark.parametrize(
    "metadata", [{"safety": None}, {"safety": []}, {"safety": {"level": "loud"}}, {"safety": {"level": []}}]
)
def test_metadata_of_another_shape_is_no_card_and_no_error(
    signed_in: Client, session: Session, exchange: Exchange, metadata: dict[str, object]
) -> None:
    exchange("Hi", "Hello")
    Message.unscoped.filter(number=1).update(metadata=metadata)
    assert "safety-card" not in page_of(signed_in, f"/chat/{session.id}/")


@pytest.mark.django_db(transaction=True)  # the message is refused in another thread
def test_words_that_a_form_is_refused_for_get_their_card(signed_in: Client, session: Session) -> None:
    page = signed_in.post(f"/chat/{session.id}/message/", {"text": "I want to die. " + "x" * 20_001})
    assert page.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert 'id="safety-now"' in page.content.decode()
    assert "safety-card" in page.content.decode()
    calm = signed_in.post(f"/chat/{session.id}/message/", {"text": "x" * 20_001})
    assert "safety-card" not in calm.content.decode()
    assert CardCount.objects.get().shown == 1


# --- Newcomers -----------------------------------------------------------------------------------------


class Page(HTMLParser):
    """The links and forms in a page's main part."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.is_main = False
        self.links: list[str] = []
        self.forms: list[str] = []
        self.onward = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links and forms."""
        values = dict(attrs)
        self.is_main = self.is_main or tag == "main"
        if tag == "a" and values.get("href"):
            self.links.append(str(values["href"]))
            self.onward += self.is_main
        elif tag == "form":
            self.forms.append(str(values.get("action", "")))
            self.onward += self.is_main

    def handle_endtag(self, tag: str) -> None:
        """Record where the main part ends."""
        self.is_main = self.is_main and tag != "main"


@pytest.mark.django_db(transaction=True)
def test_signing_up_leads_to_the_welcome_and_from_there_into_life_mapping(client: Client) -> None:
    form = {"email": "new@example.org", "password1": PASSWORD, "password2": PASSWORD}
    response = client.post("/accounts/signup/", form, follow=True)
    assert response.redirect_chain[-1][0] == "/welcome/"
    page = response.content.decode()
    for words in ("Sage is a script here", "It writes things down", "What it writes is yours"):
        assert words in page
    assert "Map my life" in page
    begun = client.post("/chat/new/", {"kind": "life_mapping", "id": "once"}, follow=True)
    session = Session.unscoped.get()
    assert (session.kind, session.status) == (SessionKind.LIFE_MAPPING, SessionStatus.ACTIVE)
    assert "Eight parts of your life" in begun.content.decode()


def test_an_empty_home_says_what_to_do_next_and_a_lived_in_one_doesn_t(
    signed_in: Client, session: Session, exchange: Exchange
) -> None:
    assert "<h2>Sage is a script here</h2>" in page_of(signed_in, "/")
    exchange("Hi", "Hello")
    assert "<h2>Sage is a script here</h2>" not in page_of(signed_in, "/")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_no_page_of_a_brand_new_account_is_a_dead_end(client: Client) -> None:
    form = {"email": "new@example.org", "password1": PASSWORD, "password2": PASSWORD}
    client.post("/accounts/signup/", form)
    waiting, seen = deque(["/welcome/"]), set()
    while waiting:
        address = waiting.popleft()
        kind = re.sub(r"\d{4}-\d\d-\d\d", "day", address)  # each day of the journal links the one before
        if kind in seen:
            continue
        seen.add(kind)
        response = client.get(address)
        assert response.status_code in (HTTPStatus.OK, HTTPStatus.FOUND), address
        if response.status_code == HTTPStatus.FOUND or "text/html" not in response["Content-Type"]:
            continue
        page = Page(response.content.decode())
        assert page.onward, f"{address} leads nowhere"
        for link in page.links:
            path = link.partition("#")[0].partition("?")[0]
            if path.startswith("/") and "logout" not in path:
                waiting.append(path)
            elif not link.startswith(("https://", "tel:", "#", "?", "mailto:")):
                waiting.append(path or address)
        for action in page.forms:
            assert action.startswith(("/", "")), action
    assert {"/", "/chat/", "/files/", "/settings/", "/safety/", "/accounts/email/"} <= seen
