"""Mails for the tests: honest ones, and forgeries with the reason for which each is refused."""

from dataclasses import dataclass, field

from coaching.models import InboxRefusalReason as Reason

SERVER = "mx.in.example"
ADA, GRACE = "ada@example.org", "grace@example.org"
PASSED = f"{SERVER}; spf=pass smtp.mailfrom={ADA}; dmarc=pass (p=reject dis=none) header.from=example.org"

Header = tuple[str, str]


def result(name: str, value: str) -> str:
    """Return what a server says of a check."""
    return f"{SERVER}; {name}={value}"


def passed(domain: str) -> str:
    return result("dmarc", f"pass header.from={domain}")


@dataclass(frozen=True, kw_only=True)
class Mail:
    """A mail as it lies on the server. Empty headers are left out."""

    to: str = ""
    sender: str = ADA
    said: str = PASSED
    message_id: str = "<1@example.org>"
    subject: str = "The lease"
    first: tuple[Header, ...] = ()
    last: tuple[Header, ...] = ()
    body: str = "Here is the lease of the flat in Harbour Street.\n"
    kind: str = ""

    def written(self) -> bytes:
        headers = [
            *self.first,
            ("Return-Path", "<bounce@example.org>"),
            ("Authentication-Results", self.said),
            ("Received", "from mail.example.org by mx.in.example; Sun, 29 Nov 2026 10:00:00 +0000"),
            ("From", self.sender),
            ("To", self.to),
            ("Message-ID", self.message_id),
            ("Subject", self.subject),
            ("Content-Type", self.kind),
            *self.last,
        ]
        lines = [f"{name}: {value}" for name, value in headers if value]
        return "\r\n".join([*lines, "", self.body.replace("\n", "\r\n")]).encode()


@dataclass(frozen=True, kw_only=True)
class Forgery:
    """What differs from an honest mail, the reason, and with whom it is counted, if with anybody."""

    reason: Reason
    mail: dict[str, object] = field(default_factory=dict)
    to: str = "{ada}"
    counted_with: str = "ada"
    hole: int = 0


def forged(reason: Reason, **mail: object) -> Forgery:
    return Forgery(reason=reason, mail=mail)


def sent_to(to: str, reason: Reason, *, counted_with: str = "", **mail: object) -> Forgery:
    return Forgery(reason=reason, mail=mail, to=to, counted_with=counted_with)


OURS_LATER = (("Authentication-Results", PASSED),)
EVE = "eve@evil.example"
FORGERIES = {
    # What the server said.
    "no results": forged(Reason.UNPROVEN, said=""),
    "results of another server": forged(Reason.UNPROVEN, said=PASSED.replace(SERVER, "mx.evil.example")),
    "another server's results above ours": forged(
        Reason.UNPROVEN, said="mx.evil.example; none", last=OURS_LATER
    ),
    "a forged pass below our fail": forged(
        Reason.UNPROVEN, said=result("dmarc", "fail header.from=example.org"), last=OURS_LATER
    ),
    "a forged pass below our nothing": forged(Reason.UNPROVEN, said=f"{SERVER}; none", last=OURS_LATER),
    "no policy": forged(Reason.UNPROVEN, said=result("dmarc", "none header.from=example.org")),
    "only SPF and DKIM": forged(
        Reason.UNPROVEN, said=f"{SERVER}; spf=pass smtp.mailfrom={ADA}; dkim=pass header.d=example.org"
    ),
    "pass and fail": forged(Reason.UNUSUAL, said=f"{PASSED}; dmarc=fail header.from=example.org"),
    "a pass in a comment": forged(
        Reason.UNPROVEN, said=result("spf", "fail (x; dmarc=pass header.from=example.org)")
    ),
    "a pass in a string": forged(
        Reason.UNPROVEN, said=result("spf", 'fail reason="x; dmarc=pass header.from=example.org"')
    ),
    "a comment without an end": forged(Reason.UNUSUAL, said=f"{PASSED} (and so on"),
    "a pass without a domain": forged(Reason.UNUSUAL, said=result("dmarc", "pass")),
    "two domains": forged(Reason.UNUSUAL, said=f"{PASSED} header.from=evil.example"),
    "results of another version": forged(Reason.UNPROVEN, said=PASSED.replace(";", " 2;", 1)),
    "a pass of another domain": forged(Reason.UNPROVEN, said=passed("evil.example")),
    "a pass of the domain above": forged(
        Reason.UNPROVEN, sender="ada@mail.example.org", said=passed("example.org")
    ),
    # From.
    "another domain": forged(Reason.SENDER, sender=EVE, said=passed("evil.example")),
    "another person of the domain": forged(Reason.SENDER, sender="eve@example.org"),
    "the address as a name": forged(Reason.SENDER, sender=f'"{ADA}" <{EVE}>', said=passed("evil.example")),
    "two From headers": forged(Reason.UNUSUAL, first=(("From", ADA),), sender=EVE),
    "two addresses": forged(Reason.UNUSUAL, sender=f"{ADA}, {EVE}"),
    "a group": forged(Reason.UNUSUAL, sender=f"friends: {ADA};"),
    "a comment": forged(Reason.UNUSUAL, sender=f"{EVE} ({ADA})"),
    "two addresses in brackets": forged(Reason.UNUSUAL, sender=f"<{EVE}> <{ADA}>"),
    "a letter of another alphabet": forged(
        Reason.UNUSUAL, sender="\N{CYRILLIC SMALL LETTER A}da@example.org"
    ),
    "an encoded address": forged(Reason.UNUSUAL, sender="=?utf-8?q?ada=40example=2Eorg?="),
    "a look-alike domain": forged(
        Reason.SENDER, sender="ada@xn--exmple-4nf.org", said=passed("xn--exmple-4nf.org")
    ),
    "a quoted address": forged(Reason.UNUSUAL, sender='"ada"@example.org'),
    "a space before the colon": sent_to("{ada}", Reason.UNUSUAL, first=(("From ", ADA),), sender=EVE),
    "half a line's end": sent_to("{ada}", Reason.UNUSUAL, first=(("X-Note", f"a\rFrom: {ADA}"),), sender=EVE),
    "no Message-ID": forged(Reason.UNUSUAL, message_id=""),
    "two Message-IDs": forged(Reason.UNUSUAL, last=(("Message-ID", "<2@example.org>"),)),
    # The address.
    "the token of somebody else": sent_to("{grace}", Reason.SENDER, counted_with="grace"),
    "two tokens": sent_to("{ada}, {grace}", Reason.SEVERAL),
    "no token": sent_to("{plain}", Reason.ADDRESS),
    "a guessed token": sent_to("{guessed}", Reason.ADDRESS),
    "a token that was renewed": sent_to("{old}", Reason.ADDRESS),
    "a token of an inactive account": sent_to("{inactive}", Reason.ADDRESS),
    "the token at another domain": sent_to("{elsewhere}", Reason.ADDRESS),
    "an address that isn't confirmed": sent_to(
        "{unconfirmed}", Reason.SENDER, counted_with="hopper", sender="hopper@example.org"
    ),
    # Size.
    "long headers": sent_to("{ada}", Reason.UNUSUAL, last=(("X-Long", "a" * 70_000),)),
    "200 MB": Forgery(reason=Reason.LARGE, hole=200 << 20),
}
