"""Feeds are fetched from public addresses only, within limits, whatever an address, name or server says."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from pytest_django import Settings
from structlog.testing import capture_logs
from yarl import URL

from coaching.calendar import fetch
from coaching.calendar.addresses import checked_address, checked_redirect, is_public
from coaching.calendar.fetch import FeedFetcher
from coaching.calendar.fetchers import Fetched
from coaching.calendar.own_addresses import OwnAddresses, Resolve
from sessions_app.errors import Refused
from tests.calendar.conftest import FeedServer, calendar_text, feed_server, one_event

TEXT = calendar_text(one_event())
NAME = "calendar.example"


@pytest.fixture(autouse=True)
def no_own_names(settings: Settings) -> None:
    """Django adds a name to ALLOWED_HOSTS, and each request would ask the network's name server for it."""
    settings.ALLOWED_HOSTS = ["*"]


@pytest.fixture
async def server() -> AsyncIterator[FeedServer]:
    """A server with a feed."""
    async with feed_server() as server:
        server.answers["/feed.ics"] = TEXT
        yield server


async def fetched(fetcher: FeedFetcher, url: str, **validators: str) -> Fetched:
    return await fetcher.fetch(checked_address(url), **validators)


async def refusal(fetcher: FeedFetcher, url: str) -> str:
    with pytest.raises(Refused) as refused:
        await fetched(fetcher, url)
    return str(refused.value)


def names(**addresses: str | list[str]) -> Resolve:
    """Return a resolver for these names only; a list gives the next answer on each call."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        known = addresses.get(host.partition(".")[0])
        if known is None:
            raise OSError("no such name")
        return [known.pop(0)] if isinstance(known, list) else known.split()

    return resolve


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "10.0.0.1", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
        "172.31.255.255", "192.0.0.170", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1",
        "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", "100::1", "2001::1", "2001:db8::1",
        "2002:7f00:1::", "2002:a00:1::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1",
        "fe80::1%eth0", "2606:4700::1%eth0", "fec0::1", "ff02::1",
        "", "localhost", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "1.1.1.1.", " 1.1.1.1",
    ],
)  # fmt: skip
def test_only_addresses_of_the_public_internet_are_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "8.8.8.8", "172.32.0.1", "192.167.255.255", "2606:4700:4700::1111", "2a00:1450::1"]
)
def test_addresses_of_the_public_internet_are(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "localhost", "LOCALHOST.", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "0.0.0.0",
        "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "017700000001", "127.1", "127.0.1", "0",
        "①②⑦.0.0.1", "127。0。0。1", "%31%32%37.0.0.1",
    ],
)  # fmt: skip
async def test_no_spelling_of_an_inner_address_reaches_a_server_here(server: FeedServer, host: str) -> None:
    try:
        url = checked_address(f"http://{host}:{server.port}/feed.ics")
    except Refused:
        return
    with pytest.raises(Refused) as refused:
        await FeedFetcher().fetch(url)
    assert str(refused.value) in (fetch.PRIVATE, fetch.UNKNOWN_NAME)
    assert server.requests == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "starts with https://"),
        ("file:///etc/passwd", "Use an address that"),
        ("gopher://calendar.example/", "Use an address that"),
        ("javascript:alert(1)", "Use an address that"),
        ("//calendar.example/x", "valid address"),
        ("https://", "valid address"),
        ("http://[::1", "valid address"),
        ("https://calendar.example:99999/", "valid address"),
        ("https://calendar.example\\@inside/", "valid address"),
        ("https://calendar.example/\r\nHost: inside", "valid address"),
        ("https://calendar.example/" + "x" * 2_000, "valid address"),
        ("https://ada:secret@calendar.example/", "name and password"),
    ],
)
def test_what_is_no_address_of_the_web_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        checked_address(text)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("  https://calendar.example/a b.ics#part ", "https://calendar.example/a%20b.ics"),
        ("webcal://calendar.example/x.ics", "https://calendar.example/x.ics"),
        ("WEBCALS://Calendar.Example/x.ics", "https://calendar.example/x.ics"),
        ("calendar.example/x.ics", "https://calendar.example/x.ics"),
        ("http://bücher.example:8080/", "http://xn--bcher-kva.example:8080/"),
    ],
)
def test_an_address_is_taken_as_people_copy_it(text: str, url: str) -> None:
    assert str(checked_address(text)) == url


async def test_a_feed_is_fetched_from_the_checked_address_under_its_own_name(server: FeedServer) -> None:
    fetcher = server.fetcher(resolve=names(calendar="127.0.0.1"))
    answer = await fetched(fetcher, server.url(host=NAME))
    assert answer.body == TEXT.encode()
    (request,) = server.requests
    assert request.headers["Host"] == f"{NAME}:{server.port}"
    assert {"Cookie", "Referer", "Authorization"}.isdisjoint(request.headers)


@pytest.mark.parametrize("addresses", ["10.0.0.1", "127.0.0.1", "1.1.1.1 192.168.0.1", "fe80::1", "::1"])
async def test_a_name_that_leads_inside_is_not_followed(server: FeedServer, addresses: str) -> None:
    fetcher = FeedFetcher(resolve=names(calendar=addresses))
    assert await refusal(fetcher, server.url(host=NAME)) == fetch.PRIVATE
    assert server.requests == []


async def test_a_name_whose_address_changes_is_resolved_once_per_request_and_checked_each_time(
    server: FeedServer,
) -> None:
    rebinding = ["127.0.0.1", "10.0.0.1", "127.0.0.1"]
    fetcher = server.fetcher(resolve=names(calendar=rebinding), seconds=5)
    assert (await fetched(fetcher, server.url(host=NAME))).body
    assert rebinding == ["10.0.0.1", "127.0.0.1"]
    assert await refusal(fetcher, server.url(host=NAME)) == fetch.PRIVATE
    assert len(server.requests) == 1


@pytest.mark.parametrize("port", [25, 8443, 49_152])
async def test_only_the_ports_of_the_web_are_connected_to(port: int) -> None:
    fetcher = FeedFetcher(resolve=names(calendar="1.1.1.1"))
    for host in (NAME, "1.1.1.1"):
        assert await refusal(fetcher, f"https://{host}:{port}/") == fetch.ODD_PORT


async def test_no_name_or_number_of_this_server_is_connected_to(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*", ".sage.example", "gone.example"]
    fetcher = FeedFetcher(resolve=names(sage="1.1.1.1 2606:4700::1111", calendar="2606:4700:0::1111"))
    for host in (NAME, "sage.example", "1.1.1.1", "[2606:4700::1111]"):
        assert await refusal(fetcher, f"https://{host}/") == fetch.OWN


async def test_a_server_keeps_an_address_that_its_name_had_and_knows_its_interfaces(
    settings: Settings,
) -> None:
    settings.ALLOWED_HOSTS = ["sage.example"]
    answers = [["1.1.1.1"]]

    async def resolve(host: str, port: int) -> Sequence[str]:
        if not answers:
            raise TimeoutError
        return answers.pop()

    own = OwnAddresses(resolve)
    assert ip_address("1.1.1.1") in await own.find()
    assert {ip_address("1.1.1.1"), ip_address("127.0.0.1")} <= await own.find()


async def test_redirects_are_followed_three_times(server: FeedServer) -> None:
    for step in range(4):
        server.answers[f"/{step}"] = web.Response(status=302, headers={"Location": f"{step + 1}"})
    server.answers["/4"] = TEXT
    fetcher = server.fetcher()
    assert (await fetched(fetcher, server.url("/1"))).body == TEXT.encode()
    assert "redirects too many times" in await refusal(fetcher, server.url("/0"))


@pytest.mark.parametrize(
    ("location", "sentence"),
    [
        ("http://127.0.0.1:{other}/feed.ics", fetch.PRIVATE),
        ("//localhost:{other}/feed.ics", fetch.PRIVATE),
        ("http://[::1]:{other}/feed.ics", fetch.PRIVATE),
        ("http://2130706433:{other}/feed.ics", fetch.PRIVATE),
        ("http://inside.example:{other}/feed.ics", fetch.PRIVATE),
        ("http://169.254.169.254/latest/meta-data/", fetch.PRIVATE),
        ("file:///etc/passwd", "Use an address that"),
        ("http://ada:secret@127.0.0.1/", "name and password"),
        ("https://elsewhere.example:8443/", fetch.ODD_PORT),
        ("https://sage.example/", fetch.OWN),
        ("", "redirects"),
    ],
)
async def test_a_redirect_is_checked_like_the_first_address(
    server: FeedServer, settings: Settings, location: str, sentence: str
) -> None:
    settings.ALLOWED_HOSTS = ["sage.example"]
    known = names(localhost="127.0.0.1", inside="127.0.0.1", elsewhere="8.8.8.8", sage="1.1.1.1")
    async with feed_server() as other:
        other.answers["/feed.ics"] = TEXT
        target = location.format(other=other.port)
        fetcher = server.fetcher(resolve=known)
        for status in (301, 302, 303, 307, 308):
            server.answers["/start"] = web.Response(status=status, headers={"Location": target})
            assert sentence in await refusal(fetcher, server.url("/start"))
        assert other.requests == []


async def test_a_server_that_is_slow_anywhere_is_left_in_time(server: FeedServer) -> None:
    async def dripping(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"B")
            await asyncio.sleep(0.05)

    async def silent(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(30)
        return web.Response()

    server.answers |= {"/dripping": dripping, "/silent": silent}
    fetcher = server.fetcher(seconds=0.4)
    for path in ("/dripping", "/silent"):
        async with asyncio.timeout(15):  # less than the silent one's 30
            assert await refusal(fetcher, server.url(path)) == fetch.TOO_SLOW


@pytest.mark.slow
async def test_a_feed_without_end_is_left_at_its_limit(server: FeedServer) -> None:
    sent = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 10_000)
            sent += 10_000

    def packed(body: bytes, encoding: str = "gzip") -> web.Response:
        return web.Response(body=body, headers={"Content-Encoding": encoding})

    bomb = gzip.compress(bytes(200 * 1024 * 1024), 9)
    server.answers |= {
        "/endless": endless,
        "/announced": web.Response(body=b"x" * 200_000),
        "/bomb": packed(bomb),
        "/cut": packed(gzip.compress(TEXT.encode())[:-12]),
        "/odd": packed(b"\x00", "br"),
        "/no-gzip": packed(b"plain"),
        "/gzip": packed(gzip.compress(TEXT.encode())),
    }
    fetcher = server.fetcher(max_bytes=100_000)
    for path in ("/endless", "/announced", "/bomb"):
        assert "larger than" in await refusal(fetcher, server.url(path))
    assert sent < 20_000_000
    assert await refusal(fetcher, server.url("/cut")) == fetch.INCOMPLETE
    assert await refusal(fetcher, server.url("/odd")) == fetch.UNREADABLE_RESPONSE
    assert await refusal(fetcher, server.url("/no-gzip")) == fetch.UNREADABLE_RESPONSE
    assert (await fetched(fetcher, server.url("/gzip"))).body == TEXT.encode()


@pytest.mark.parametrize(
    ("status", "sentence"),
    [(401, "password"), (403, "password"), (404, "nothing at this address"), (410, "nothing at this address"),
     (418, "an error instead"), (429, "a problem"), (500, "a problem"), (503, "a problem"),
     (204, "an error instead")],
)  # fmt: skip
async def test_each_answer_that_is_no_feed_has_its_sentence(
    server: FeedServer, status: int, sentence: str
) -> None:
    server.answers["/x"] = web.Response(status=status)
    assert sentence in await refusal(server.fetcher(), server.url("/x"))


async def test_a_server_that_knows_no_http_or_isn_t_there_has_its_sentence(server: FeedServer) -> None:
    async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(rude, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    fetcher = FeedFetcher(allowed=frozenset({("127.0.0.1", port)}), resolve=names())
    assert await refusal(fetcher, f"http://127.0.0.1:{port}/") in (
        fetch.UNREADABLE_RESPONSE,
        fetch.INCOMPLETE,
    )
    listener.close()
    await listener.wait_closed()
    assert await refusal(fetcher, f"http://127.0.0.1:{port}/") == fetch.UNREACHABLE
    assert await refusal(fetcher, f"http://nowhere.example:{port}/") == fetch.UNKNOWN_NAME


async def test_a_certificate_is_checked_for_the_name_that_was_asked(tmp_path: Path) -> None:
    asked: list[str | None] = []
    context = own_certificate(tmp_path)
    context.sni_callback = lambda _socket, name, _context: asked.append(name)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    port = listener.sockets[0].getsockname()[1]
    fetcher = FeedFetcher(
        allowed=frozenset({("127.0.0.1", port)}), resolve=names(calendar="127.0.0.1"), seconds=5
    )
    assert await refusal(fetcher, f"https://{NAME}:{port}/") == fetch.UNTRUSTED
    assert asked == [NAME]
    listener.close()
    await listener.wait_closed()


async def test_what_hasn_t_changed_is_not_sent_again(server: FeedServer) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.headers.get("If-None-Match") == '"one"':
            return web.Response(status=304, headers={"ETag": '"one"'})
        return web.Response(text=TEXT, headers={"ETag": '"one"', "Last-Modified": "Wed, 18 Nov 2026"})

    server.answers["/feed.ics"] = answer
    fetcher = server.fetcher()
    first = await fetched(fetcher, server.url())
    assert (first.etag, first.last_modified) == ('"one"', "Wed, 18 Nov 2026")
    again = await fetched(fetcher, server.url(), etag=first.etag, last_modified=first.last_modified)
    assert again.body is None
    assert server.requests[1].headers["If-Modified-Since"] == "Wed, 18 Nov 2026"


async def test_no_log_names_a_feeds_address(server: FeedServer, caplog: pytest.LogCaptureFixture) -> None:
    with capture_logs() as logs, caplog.at_level("DEBUG"):
        await fetched(server.fetcher(), server.url("/feed.ics?key=hush"))
        await refusal(server.fetcher(), server.url("/hush.ics"))
        await refusal(FeedFetcher(), server.url("/hush.ics"))
    assert "hush" not in str(logs) + caplog.text


def test_encryption_is_not_given_up_on_the_way() -> None:
    with pytest.raises(Refused, match="unencrypted"):
        checked_redirect(URL("https://calendar.example/a"), "http://calendar.example/b")
    target = checked_redirect(URL("https://calendar.example/a"), "webcal://other.example/b")
    assert str(target) == "https://other.example/b"


def own_certificate(folder: Path) -> ssl.SSLContext:
    """Create a self-signed certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, NAME)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAME)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    file.write_bytes(
        certificate.public_bytes(Encoding.PEM)
        + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context
