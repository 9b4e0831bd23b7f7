"""Browsers of Django's test client in which somebody is signed in, and the pages that they show."""

from http import HTTPStatus
from typing import Any

from allauth.account.internal.flows.login import record_authentication
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.test import AsyncClient, Client

from sessions_app.models import Session


def browser_of(user: User) -> Client:
    """Return a browser of somebody who signed in long ago."""
    browser = Client()
    browser.force_login(user)
    return browser


def confirmed_browser_of(user: User) -> Client:
    """Return a browser of somebody who has just given their password."""
    browser = Client()
    sign_in_confirmed(browser, user)
    return browser


def sign_in_confirmed(client: Client | AsyncClient, user: User) -> None:
    """Sign somebody in as if they had just given their password again."""
    client.force_login(user)
    request: Any = HttpRequest()
    request.session = client.session
    record_authentication(request, user, "password", reauthenticated=True)
    request.session.save()


def page_of(browser: Client, address: str) -> str:
    """Return the page at an address."""
    response = browser.get(address)
    assert response.status_code == HTTPStatus.OK
    return response.content.decode()


def conversation_page(user: User, session: Session) -> str:
    """Return a conversation's page as it is loaded anew."""
    return page_of(browser_of(user), f"/chat/{session.id}/")
