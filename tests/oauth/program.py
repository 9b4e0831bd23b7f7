"""A program that connects by OAuth, one request after the other."""

import base64
import hashlib
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.test import Client

RESOURCE = "http://testserver/mcp"
REDIRECT = "https://program.example/callback"
VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


def register(name: str = "Claude", redirects: object = (REDIRECT,), **more: object) -> Any:
    """Register a program; return what it is told."""
    given = {"client_name": name, "redirect_uris": redirects, **more}
    return Client().post("/oauth/register", json.dumps(given), content_type="application/json").json()


def request_of(client_id: str, **changes: Any) -> dict[str, Any]:
    """Return the parameters of a request for consent."""
    asked = {
        "client_id": client_id,
        "redirect_uri": REDIRECT,
        "response_type": "code",
        "state": "s1",
        "scope": "capture read write",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "resource": RESOURCE,
    }
    return {name: value for name, value in (asked | changes).items() if value is not None}


def signed(page: Any) -> str:
    """Return what the page of consent has its form send back."""
    found = re.search(r'name="request" value="([^"]+)"', page.content.decode())
    assert found, page.content.decode()[:4_000]
    return found[1]


def consent(browser: Client, client_id: str, scopes: str = "capture read write", **changes: Any) -> str:
    """Let a signed-in person allow it; return the code."""
    page = browser.get("/oauth/authorize", request_of(client_id, scope=scopes, **changes))
    form = {"request": signed(page), "scopes": scopes.split(), "action": "grant"}
    answered = browser.post("/oauth/authorize", form)
    assert answered.status_code == 302, answered.content.decode()[:2_000]
    return parse_qs(urlsplit(answered["Location"]).query)["code"][0]


def exchange(by: str, with_code: str, **changes: Any) -> Any:
    """Ask for tokens with a code."""
    sent = {
        "grant_type": "authorization_code",
        "client_id": by,
        "code": with_code,
        "redirect_uri": REDIRECT,
        "code_verifier": VERIFIER,
        "resource": RESOURCE,
    }
    return Client().post("/oauth/token", {k: v for k, v in (sent | changes).items() if v is not None})


def refresh(client_id: str, token: str, **changes: Any) -> Any:
    """Ask for new tokens with a refresh token."""
    sent = {"grant_type": "refresh_token", "client_id": client_id, "refresh_token": token}
    return Client().post("/oauth/token", sent | {"resource": RESOURCE} | changes)


def connect(browser: Client, scopes: str = "capture read write", name: str = "Claude") -> Any:
    """Register, get consent and tokens; return the tokens with the program's `client_id`."""
    client_id = register(name)["client_id"]
    tokens = exchange(client_id, consent(browser, client_id, scopes))
    assert tokens.status_code == 200, tokens.content
    return {**tokens.json(), "client_id": client_id}


def call_mcp(token: str | None, method: str = "tools/list", **params: Any) -> Any:
    """Send one message to `/mcp`, as the protocol before 2026 has it."""
    headers = {"Accept": "application/json, text/event-stream"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return Client().post("/mcp", json.dumps(message), content_type="application/json", headers=headers)
