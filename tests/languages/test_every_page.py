"""Each page shows the catalogues' words and the person's own, but none in English, and no slugs."""

from pathlib import Path

import pytest
from allauth.account.adapter import get_adapter
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone
from django.utils.translation import override

from coaching.library.documents.reasons import PROPOSED, SIMILAR, TWO_TYPES, UNSURE, join_reasons
from coaching.library.references.files import sync_reference_files
from coaching.models import Document, DocumentState, EffectKind, LibraryEffect, MadeBy, Reference
from coaching.tools.refile_document import REFILE_DOCUMENT
from coaching.transcript.confirm_cards import card_parts
from sessions_app.models import Session
from tests.browsers import sign_in_confirmed
from tests.languages.bracketed import CODE, speak_in_brackets, words_outside
from tests.languages.conftest import speaks
from tests.library.rows import make_client, make_document
from tests.sockets.test_tenants import ROUTES, ids_of, owned

__all__ = ["owned"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

NAMES = {
    "Deutsch", "English", "Español", "Sage", "UTC", "befrienders", "com", "findahelpline", "https", "pdf",
    "txt",
}  # fmt: skip
"""What has the same name in every language."""
OWN = {
    "ada", "an", "calendar", "earlier", "example", "knows", "mail", "name", "only", "org", "own", "Rest",
    "secret", "that", "too",
}  # fmt: skip
"""What these people wrote, their addresses, and the host of their mailbox."""
TEMPLATES = Path(__file__).parents[2] / "templates"
NOT_OURS = {"api_docs", "example", "inbox", "oauth_authorize"}
"""Routes whose page is a text in each language or for programs, and one with an address of random letters."""
OF_ACCOUNTS = (
    "login", "signup", "password/reset", "password/reset/done", "password/reset/key/1-abc", "inactive",
    "password/change", "email", "logout", "reauthenticate", "2fa", "2fa/totp/activate", "2fa/webauthn",
    "2fa/webauthn/add", "no-such-page",
)  # fmt: skip


@pytest.fixture
def browser(user: User) -> Client:
    """The browser of somebody whose language is in brackets."""
    browser = Client(headers={"Accept-Language": CODE})
    sign_in_confirmed(browser, speaks(user, CODE))
    return browser


def english_on(response: object) -> list[str]:
    """Return the words of a page that aren't the catalogues' nor the person's."""
    if not isinstance(response, HttpResponse) or not response["Content-Type"].startswith("text/html"):
        return []
    return [word for word in words_outside(response.content.decode()) if word not in NAMES | OWN]


def test_each_page_can_be_translated_whole(
    owned: Session, browser: Client, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    ids = ids_of(owned)
    speak_in_brackets(monkeypatch)
    for name, row in ROUTES.items():
        if row.method == "get" and row.scope != "staff" and name not in NOT_OURS:
            with subtests.test(name):
                assert english_on(browser.get(row.path.format(**ids))) == []


def test_each_page_of_an_account_can_be_translated_whole(
    browser: Client, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    speak_in_brackets(monkeypatch)
    for page in OF_ACCOUNTS:
        for visitor in (Client(headers={"Accept-Language": CODE}), browser):
            with subtests.test(page):
                assert english_on(visitor.get(f"/accounts/{page}/", follow=True)) == []


def test_each_mail_about_an_account_can_be_translated_whole(
    user: User, rf: RequestFactory, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    adapter = get_adapter(rf.get("/"))
    names = ("deleted_email", "from_email", "ip", "password_reset_url", "to_email", "user_agent")
    values = dict.fromkeys(names, "secret") | {"current_site": {"domain": "example.org"}}
    speak_in_brackets(monkeypatch)
    subjects = sorted(TEMPLATES.glob("*/email/*_subject.txt"))
    assert len(subjects) > 12
    for subject in subjects:
        with subtests.test(subject.name), override(CODE):
            prefix = str(subject.relative_to(TEMPLATES)).removesuffix("_subject.txt")
            mail = adapter.render_mail(prefix, "ada@example.org", values | {"timestamp": timezone.now()})
            ((html, _),) = mail.alternatives
            shown = [word for text in (mail.subject, mail.body, html) for word in words_outside(str(text))]
            assert [word for word in shown if word not in NAMES | OWN] == []


def test_documents_of_each_type_and_each_doubt_are_shown_in_translated_words(
    user: User, browser: Client, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    document = fill_library(user)
    speak_in_brackets(monkeypatch)
    client = f"/library/clients/{document.client_id}/"
    pages = (
        "/library/",
        "/library/review/",
        client,
        f"{client}?folder=Home",
        f"/library/documents/{document.pk}/",
    )
    for page in pages:
        with subtests.test(page):
            assert english_on(browser.get(page)) == []


def test_a_form_takes_a_folder_by_the_name_that_it_shows(
    user: User, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = fill_library(user)
    speak_in_brackets(monkeypatch)
    page = f"/library/documents/{document.pk}/"
    assert '<option value="⟦Home⟧">' in browser.get(page).content.decode()
    for written, stored in (("⟦Home⟧", "Home"), ("Zoe’s", "Zoe’s")):
        browser.post(page, {"do": "type", "file_type": "payslip", "folder": written})
        document.refresh_from_db()
        assert document.folder == stored


def test_a_card_that_asks_where_a_document_goes_names_it_in_translated_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    question = REFILE_DOCUMENT.presentation.question
    facts = {"Document": "a.pdf", "Folder": "Home → Work", "Type": "Letter → Will", "For": "Me → Mill Ltd"}
    speak_in_brackets(monkeypatch)
    with override(CODE):
        fields, words = card_parts(question({"folder": "Home"}).fields, facts, is_pending=True)
    assert [field.value for field in fields] == ["⟦Home⟧"]
    written = [fields[0].parsed(name, was="Home") for name in ("⟦Home⟧", "Home", "Zoe’s", "")]
    assert written == ["Home", "Home", "Zoe’s", None]
    assert dict(words) == {
        "⟦Document⟧": "a.pdf",
        "⟦Folder⟧": "⟦Home⟧ → ⟦Work⟧",
        "⟦Type⟧": "⟦Letter⟧ → ⟦Will⟧",
        "⟦For⟧": "⟦Me⟧ → Mill Ltd",
    }


def fill_library(user: User) -> Document:
    """File a document of each shipped type, and return one that is to be reviewed for every reason."""
    sync_reference_files()
    client = make_client(user)
    for each in Reference.objects.all():
        values = {"file_type": each.file_type, "category": each.category, "folder": each.folder}
        make_document(client, "secret.pdf", **values)
    doubts = [UNSURE, "60%.", TWO_TYPES, "tenancy-agreement.", PROPOSED, "secret.", SIMILAR, "secret.pdf."]
    document = make_document(
        client,
        "secret.pdf",
        state=DocumentState.REVIEW,
        file_type="payslip",
        folder="Work",
        confidence=0.6,
        reason=join_reasons(doubts),
        alternatives=[{"file_type": "tenancy-agreement", "confidence": 0.3}],
    )
    LibraryEffect.unscoped.create(
        user=user,
        document=document,
        kind=EffectKind.MOVED,
        made_by=MadeBy.USER,
        before={"folder": "Home", "file_type": "lease", "state": "review"},
        after={"folder": "Work", "file_type": "payslip", "state": "filed"},
    )
    return document
