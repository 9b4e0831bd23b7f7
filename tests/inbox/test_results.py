"""What counts as a proof of a mail's sender, and how much time odd headers take."""

import time
from collections.abc import Callable
from contextlib import suppress

import pytest
from pydantic import TypeAdapter, ValidationError

from coaching.inbox.authentication import MAX_CHARACTERS as MAX_RESULTS
from coaching.inbox.authentication import proven_domain
from coaching.inbox.headers import MAX_SENDER, Unusual, headers_of, sender_of, tokens_in
from coaching.inbox.place import place_of
from sage.env_values import ServerName

SERVER = "mx.example.org"
UNUSUAL = "unusual"
RESULTS = {
    "mx.example.org; dmarc=pass header.from=a.example": "a.example",
    "MX.example.org 1; DMARC=PASS header.from=A.example": "a.example",
    '"mx.example.org"; dmarc=pass header.from="a.example"': "a.example",
    "mx.example.org (a (b) c); dmarc/1=pass (x\\)y) policy.dmarc=none header.from=a.example;": "a.example",
    "mx.example.org;\tdmarc = pass\theader.from = a.example": "a.example",
    "mx.example.org; dkim=pass header.b=ab/c+= header.s=x; dmarc=pass header.from=a.example": "a.example",
    "mx.example.org; dmarc=pass action=none header.from=a.example; compauth=pass reason=100": "a.example",
    "": "",
    "mx.example.org": "",
    "mx.example.org; none": "",
    "mx.example.org.evil.example; dmarc=pass header.from=a.example": "",
    "mx.example.org more; dmarc=pass header.from=a.example": "",
    "dmarc=pass header.from=a.example; mx.example.org": "",
    "mx.example.org; dmarc=bestguesspass header.from=a.example": "",
    "mx.example.org; xdmarc=pass header.from=a.example": "",
    "mx.example.org; dmarc=pass header.from=a.example; dmarc=pass header.from=a.example": UNUSUAL,
    "mx.example.org; dmarc/2=pass header.from=a.example": UNUSUAL,
    "mx.example.org; dmarc=pass header.from=a.example header.from=a.example": UNUSUAL,
    "mx.example.org; dmarc=pass header.from=ada@a.example": UNUSUAL,
    "mx.example.org; dmarc=pass header.from=localhost": UNUSUAL,
    "mx.example.org; dmarc=pass header.from=a.example )": UNUSUAL,
    'mx.example.org; "dmarc"=pass header.from=a.example': UNUSUAL,
    'mx.example.org; dmarc=pass reason="without end header.from=a.example': UNUSUAL,
    f"mx.example.org; dmarc=pass {'(' * 20}{')' * 20} header.from=a.example": UNUSUAL,
}


@pytest.mark.parametrize("value", RESULTS)
def test_a_domain_is_proven_by_one_plain_result_alone(value: str) -> None:
    try:
        found = proven_domain(value, server=SERVER)
    except Unusual:
        found = UNUSUAL
    assert found == RESULTS[value]


def test_headers_are_lines_in_one_way_only() -> None:
    assert headers_of(b"A: 1\r\nb:\t2\r\n  more\r\n\r\nC: 3\r\n") == [("a", b"1"), ("b", b"2  more")]
    for head in (
        b" A: 1\r\n",
        b"A\r\n",
        b"A : 1\r\n",
        b": 1\r\n",
        b"A: 1\nB: 2\r\n",
        b"A: 1\rB: 2\r\n",
        b"A: \0\r\n",
    ):
        with pytest.raises(Unusual):
            headers_of(head)
    with pytest.raises(Unusual):
        headers_of(b"A: 1\r\n" * 501)


def test_a_token_is_that_of_a_whole_address_in_any_header_of_recipients() -> None:
    given = {"local": "sage", "domain": "in.example"}
    headers = [
        ("to", b'"x, sage+no@in.example.evil" <Sage+ABC@IN.example>, xsage+no@in.example'),
        ("delivered-to", b"sage+abc@in.example"),
        ("subject", b"sage+no@in.example"),
        ("cc", b"sage@in.example, sage+@in.example, (sage+def@in.example)"),
    ]
    assert tokens_in(headers, **given) == ["abc", "def"]


def results(text: str) -> None:
    proven_domain(f"{SERVER}; {text}", server=SERVER)


ODD: dict[str, tuple[Callable[[str], object], str, int]] = {
    "a sender of at signs": (sender_of, "@", MAX_SENDER),
    "a sender of names": (sender_of, "a ", MAX_SENDER),
    "a sender of brackets": (sender_of, "<", MAX_SENDER),
    "a sender of strings": (sender_of, '"\\""', MAX_SENDER),
    "results of words": (results, "a ", MAX_RESULTS),
    "results of lone signs": (results, "= ", MAX_RESULTS),
    "results of joined signs": (results, "a= ", MAX_RESULTS),
    "results of strings": (results, '"a"', MAX_RESULTS),
    "results of comments": (results, "(a)", MAX_RESULTS),
    "results of escapes": (results, '"' + "\\a" * 50 + '"', MAX_RESULTS),
    "results of nothing": (results, ";", MAX_RESULTS),
    "many headers": (lambda text: headers_of(text.encode()), "A:\r\n", 500 * 4),
    "one header of many lines": (lambda text: headers_of(f"A: b\r\n{text}".encode()), " a\r\n", 64_000),
    "words of recipients": (
        lambda text: tokens_in([("to", text.encode())], local="sage", domain="in.example"),
        "sage+a@in.example,",
        64_000,
    ),
}


@pytest.mark.parametrize("odd", ODD)
def test_a_header_that_is_eight_times_as_long_takes_about_eight_times_as_long(odd: str) -> None:
    read, repeated, most = ODD[odd]
    most -= 100
    short, long = (repeated * (length // len(repeated)) for length in (most // 8, most))
    # Four times what it should be, and a little for the clock; one that squares takes 64 times as long.
    assert best_of_five(read, long) < 32 * best_of_five(read, short) + 0.002


def best_of_five(read: Callable[[str], object], text: str) -> float:
    """Return the least processor time, which other processes and the collector disturb least."""
    found = []
    for _ in range(5):
        began = time.thread_time()
        with suppress(Unusual):
            read(text)
        found.append(time.thread_time() - began)
    return min(found)


@pytest.mark.parametrize(
    "url",
    [
        "imap://a%40b.example:c@host/",
        "https://a%40b.example:c@host/",
        "imaps://host/",
        "imaps://a%40b.example@host/",
        "imaps://a%40b.example:c@/",
        "imaps://a%40b.example:c@host:99999/",
        "imaps://a%40b.example:c@host/Sage",
        "imaps://a%40b.example:c@host/INBOX.Sage",
        "imaps://a%40b.example:c@host/INBOX/sage",
        "imaps://a%40b.example:c@host/Entw%26APw-rfe",
        "imaps://a%40b.example:c@host/INB%0D%0AOX",
        "imaps://a%40b.example:c@host/?other=1",
        "imaps://a:topsecret@host/",
        "imaps://a%2Bb%40b.example:topsecret@host/",
        "imaps://a:topsecret@host/?address=b",
    ],
)
def test_other_urls_are_refused_without_repeating_them(url: str) -> None:
    with pytest.raises(ValueError, match=r"^(must|names|needs) ") as refused:
        place_of(url)
    assert "topsecret" not in str(refused.value)


def test_a_misplaced_url_is_not_repeated() -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(ServerName).validate_python("imaps://a:topsecret@host/")
    assert [str(error["msg"]) for error in refused.value.errors()] == [
        "Value error, must be a name like mx.sage.example."
    ]


def test_an_address_may_differ_from_the_name_of_the_account() -> None:
    place = place_of("imaps://box:p%40ss@host:1993/In?address=Sage@In.example")
    assert (place.user, place.password, place.port, place.folder) == ("box", "p@ss", 1993, "In")
    assert place.address_of("abc") == "sage+abc@in.example"
