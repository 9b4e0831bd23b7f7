"""E-mails are read in linear time, whatever their shape: twice the size takes about twice the time."""

import gc
import json
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from coaching.library.extractors import eml
from coaching.library.extractors.attached import MAX_ATTACHMENTS, MAX_BYTES, MAX_LISTED, MORE_ATTACHED
from coaching.library.extractors.extracted import Unread
from coaching.library.extractors.markup import MAX_TAGS, ONLY_BEGINNING
from coaching.library.extractors.mime import MAX_DEPTH, MAX_PARTS, split
from coaching.library.pipeline.extracted import extraction_of
from coaching.sandbox.errors import UntrueAnswer
from tests.library.extractors.hostile_mails import HEAD, MIXED, SHAPES
from tests.thoroughness import sample_of_day

SMALL = 256 * 1024
TIMES = 8
FREE_SECONDS = 0.05
"""What a small one may take whatever its size."""


def cost(data: bytes) -> float:
    """Return the CPU time of reading a mail, the lesser of two."""

    def once() -> float:
        began = time.thread_time()
        with suppress(Unread):
            eml.extract(data)
        return time.thread_time() - began

    gc.collect()
    return min(once() for _ in range(2))


@pytest.mark.slow
@pytest.mark.parametrize("shape", sample_of_day(list(SHAPES), of_each=4))
def test_a_longer_mail_costs_proportionally(shape: str) -> None:
    make: Callable[[int], bytes] = SHAPES[shape]
    assert cost(make(TIMES * SMALL)) <= 3 * TIMES * (cost(make(SMALL)) + FREE_SECONDS / TIMES)


def test_names_in_pieces_and_encoded_are_read() -> None:
    kinds = {
        b'filename="a \\"b\\".pdf"': 'a "b".pdf',
        b"filename=plain.pdf": "plain.pdf",
        b"filename*=utf-8''M%C3%BCller%20%E2%82%AC.pdf": "Müller €.pdf",
        b"filename=x.pdf;\n filename*=iso-8859-1'de'M%FCller.pdf": "Müller.pdf",
        b"filename*1*=%C3%BCller;\n filename*0*=utf-8''M;\n filename*2=.pdf": "Müller.pdf",
        b'filename*0="long ";\n filename*1="name.pdf"': "long name.pdf",
        b'filename="=?utf-8?Q?M=C3=BCller?= =?utf-8?B?LnBkZg==?="': "Müller.pdf",
        b'filename="unclosed': "unclosed",
        b"filename=": "unnamed",
        b"size=12": "unnamed",
        b"filename*=nothing''a%FF.pdf": "a\N{REPLACEMENT CHARACTER}.pdf",
    }
    for said, name in kinds.items():
        (part,) = split(HEAD + b"Content-Disposition: attachment; " + said + b"\n\nx")
        assert part.file_name == name, said


def test_parts_and_levels_are_counted() -> None:
    def levels(count: int) -> bytes:
        return HEAD + b"".join(
            b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (number, number)
            for number in range(count)
        )

    assert len(list(split(levels(MAX_DEPTH) + b"\nx"))) == MAX_DEPTH + 1
    parts = HEAD + b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * (MAX_PARTS - 1)
    assert len(list(split(parts))) == MAX_PARTS
    for refused in (levels(MAX_DEPTH + 1) + b"\nx", parts + b"--b\n\nx\n"):
        with pytest.raises(Unread, match="too many parts"):
            list(split(refused))


@pytest.mark.slow
def test_of_many_or_large_attachments_only_some_have_their_bytes() -> None:
    def attached(size: int) -> bytes:
        return b"--b\nContent-Disposition: attachment; filename=a\n\n" + b"x" * size + b"\n"

    many = eml.extract(MIXED + attached(1) * 400)
    taken = [each for each in many.attachments if each.data is not None]
    assert (len(many.attachments), len(taken), many.note) == (MAX_LISTED, MAX_ATTACHMENTS, MORE_ATTACHED)
    listed = eml.extract(MIXED + attached(1) * MAX_LISTED)
    assert (len(listed.attachments), listed.note) == (MAX_LISTED, "")
    large = eml.extract(
        MIXED + attached(MAX_BYTES - 10) + attached(11) + attached(10) + b"--b--\n"
    ).attachments
    assert [(each.size, each.data is not None) for each in large] == [
        (MAX_BYTES - 10, True), (11, False), (10, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "attachments",
    [
        "none", [1], [{}], [{"name": "a", "size": 4, "is_taken": True}], [{"name": "a", "size": -1}],
        [{"name": "a", "size": 2, "is_taken": True}] * 2, [{"name": "a", "size": "1", "is_taken": False}],
        [{"name": "a\0", "size": 1, "is_taken": True}], [{"name": "a", "size": 0, "is_taken": True}] * 101,
    ],
)  # fmt: skip
def test_attachments_that_the_answer_does_not_hold_are_untrue(attachments: object) -> None:
    head = {"outcome": "text", "sentence": "", "text_bytes": 5, "attachments": attachments}
    with pytest.raises(UntrueAnswer):
        extraction_of(json.dumps(head).encode() + b"\nLeaseABC")


@pytest.mark.parametrize("ends", [b"\n", b"\r\n", b"\r"])
def test_a_mail_of_several_kinds_is_read(ends: bytes) -> None:
    mail = b"""From: =?utf-8?q?J=C3=BCrgen?= <jg@example.org>
To: ada@example.org
Subject: The
 lease
Date: Tue, 24 Nov 2026 10:00:00 +0100
Content-Type: multipart/mixed;
 boundary="one two"

Ignored.
--one two
Content-Type: multipart/alternative; boundary=three

--three
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

F=FCr Ada=
, plain.
--threefold isn't one
--three
Content-Type: text/html

<p>Not shown
--three--
--one two
Content-Type: message/rfc822

From: bob@example.org
Subject: Forwarded

Inside.
--one two
Content-Type: application/pdf; name="lease.pdf"
Content-Transfer-Encoding: base64

QUJD
--one two--
Ignored.
"""
    found = eml.extract(mail.replace(b"\n", ends))
    assert found.pages[0].splitlines() == [
        "From: Jürgen <jg@example.org>", "To: ada@example.org", "Date: Tue, 24 Nov 2026 10:00:00 +0100",
        "Subject: The lease", "Attachments: Forwarded.eml, lease.pdf", "", "Für Ada, plain.",
        "--threefold isn't one",
    ]  # fmt: skip
    forwarded, lease = found.attachments
    assert (forwarded.name, lease.name, lease.data) == ("Forwarded.eml", "lease.pdf", b"ABC")
    assert eml.extract(forwarded.data or b"").pages == (
        "From: bob@example.org\nSubject: Forwarded\n\nInside.",
    )


@pytest.mark.slow
def test_html_is_shown_if_there_is_no_text_and_its_beginning_if_it_is_very_long() -> None:
    html = HEAD + b"Content-Type: text/html; charset=utf-8\n\n<h1>Lease</h1>" + "<p>für Ada".encode()
    assert eml.extract(html).pages[0].endswith("\n\nLease\nfür Ada")
    long = eml.extract(html + b"<p>again" * MAX_TAGS)
    assert "für Ada\nagain" in long.pages[0]
    assert long.note == ONLY_BEGINNING
