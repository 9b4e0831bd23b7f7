"""Citations in a streamed reply: held until they are checked, and shown as links only if they hold."""

from collections.abc import Sequence

import pytest

from coaching.turns.citations import Citation, CitationFilter

LEASE = "[Lease, page 3](/library/documents/12/#page-3)"


class Checker:
    """Says that citations of the documents in `good` hold; `asked` are all that it was asked about."""

    def __init__(self, *good: int) -> None:
        self.good = good
        self.asked: list[Citation] = []

    async def __call__(self, citations: Sequence[Citation]) -> Sequence[bool]:
        self.asked += citations
        return [each.document_id in self.good for each in citations]


async def streamed(checker: Checker, *pieces: str) -> str:
    """Return what is shown of a reply that comes in pieces."""
    kept = CitationFilter(checker)
    shown = ""
    for piece in pieces:
        shown += kept.feed(piece)
        shown += await kept.check()
    shown += kept.close()
    return shown + await kept.check()


@pytest.mark.parametrize("size", [1, 2, 7, 1_000])
async def test_a_citation_that_holds_stays_and_another_becomes_its_words(size: int) -> None:
    text = f"It ends in May ({LEASE}). See [Letter](/library/documents/9/), too.\n\nOr [ask](https://example.org)."
    pieces = [text[place : place + size] for place in range(0, len(text), size)]
    checker = Checker(12)
    assert await streamed(checker, *pieces) == text.replace("[Letter](/library/documents/9/)", "Letter")
    assert [(each.document_id, each.page) for each in checker.asked] == [(12, 3), (9, None)]


async def test_nothing_is_shown_of_a_citation_before_its_sentence_has_ended() -> None:
    kept = CitationFilter(Checker(12))
    assert kept.feed(f"It says {LEASE}: “the ") == "It says "
    assert await kept.check() == "", "nothing is ready"
    assert kept.feed("rent is 900. Always” or so. N") == ""
    assert kept.has_claims
    assert kept.feed("ext, and on") == ""
    assert await kept.check() == f"{LEASE}: “the rent is 900. Always” or so. Next, and on"


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        (f"“The rent is 900 a month” ({LEASE}).", ["The rent is 900 a month"]),
        (f"“The rent is 900 a month.” {LEASE}", ["The rent is 900 a month."]),
        (f"It is 900. „Die Miete ist 900 Euro“, {LEASE}", ["Die Miete ist 900 Euro"]),
        (f"In {LEASE} pone: «la renta es de 900» y más.", ["la renta es de 900"]),
        (f'He calls it "a fair and good price". It is 900 ({LEASE}).', []),
        (f"The “rent” is 900 ({LEASE}).", []),
        ("[“The whole lease”](/library/documents/12/) says so.", []),
        (f"- “Nine hundred a month”\n- {LEASE}", []),
    ],
)
async def test_a_citation_answers_for_what_its_sentence_quotes(text: str, quotes: list[str]) -> None:
    checker = Checker(12)
    assert await streamed(checker, text) == text
    assert [list(each.quotes) for each in checker.asked] == [quotes]


async def test_each_quote_belongs_to_the_citation_after_it() -> None:
    checker = Checker(12, 9)
    await streamed(checker, f"“Nine hundred” {LEASE}, “eight hundred” [B](/library/documents/9/#page-1).")
    assert [each.quotes for each in checker.asked] == [("Nine hundred",), ("eight hundred",)]


@pytest.mark.parametrize(
    "link",
    [
        '[A](/library/documents/9/ "title")',
        "[A](</library/documents/9/>)",
        "[A]( /library/documents/9/#page-1 )",
        "[A](/library/documents/9&#47;)",
        "[A](\\/library/documents/9/)",
        "[A](/library/documents/9/%23page-1)",
        "[A](/library/documents/99999999999999999999/)",
        "[A](/library/documents/9/?page=2)",
        "[A](\n/library/documents/9/)",
        "[A](/files/../library/documents/9/)",
        "[A](../../library/documents/9/)",
        f"[A]({' ' * 500}/library/documents/9/)",
    ],
)
async def test_no_way_of_writing_a_link_gets_around_the_check(link: str) -> None:
    assert await streamed(Checker(), f"See {link} there.") == "See A there."
    assert await streamed(Checker(), *f"See {link} there.") == "See A there."


LONG = "very " * 200


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[Lease [signed], page 3](/library/documents/9/#page-3)", "Lease [signed], page 3"),
        ("[Lease \\[final\\]](/library/documents/9/)", "Lease \\[final\\]"),
        ("[The\nlease](/library/documents/9/)", "The\nlease"),
        (f"[{LONG}](/library/documents/9/)", f"[{LONG}]"),
        (f"[A](/library/documents/9/?{'x' * 600})", f"[A] (/library/documents/9/?{'x' * 600})"),
        (f"[1]: /library/documents/9/?{'x' * 600}", f"[1] : /library/documents/9/?{'x' * 600}"),
        ("[A](/library/documents/9/", "[A] (/library/documents/9/"),
        ("[1]:\n/library/documents/9/\nEnd", "1\nEnd"),
        ("[1]:/library/documents/9/", "1"),
        ("A](/library/documents/9/)", "A]"),
        ("\\[A](/library/documents/9/)", "\\[A]"),
        ("[A `]` b](/library/documents/9/)", "[A `]` b]"),
        ("[A\n\nb](/library/documents/9/)", "[A\n\nb]"),
        ("[A [b](/library/documents/9/) c](/library/documents/8/)", "[A b c]"),
        (f"{LEASE} and [Dr. Brown](/library/documents/9/)", f"{LEASE} and Dr. Brown"),
        (f"{LEASE} and [a\nb](/library/documents/9/)", f"{LEASE} and a\nb"),
    ],
)
async def test_no_label_and_no_length_gets_a_link_around_the_check(text: str, shown: str) -> None:
    assert await streamed(Checker(12), text) == shown
    assert await streamed(Checker(12), *text) == shown


async def test_an_address_that_stands_elsewhere_is_no_citation() -> None:
    text = "See [the lease][1].\n\n[1]: /library/documents/12/\nEnd"
    assert await streamed(Checker(12), text) == "See [the lease][1].\n\n1\nEnd"


@pytest.mark.parametrize(
    "text",
    ["[ ] a task", "a [b", "[a](", "[a](/lib", "[[x]](/files/a.md)", "[Ann]: hello", "x[1] and [2](y)", "["],
)
async def test_other_brackets_are_shown_as_they_are(text: str) -> None:
    checker = Checker()
    assert await streamed(checker, *text) == text
    assert not checker.asked


async def test_a_reply_of_brackets_is_shown_in_time() -> None:
    for text in ("[" * 50_000, "]" * 50_000, "[a](" * 20_000, "[a](/x" * 2_000 + ")", "](" * 20_000):
        assert len(await streamed(Checker(), text)) >= len(text)


async def test_an_address_is_written_as_the_page_has_it() -> None:
    assert (
        await streamed(Checker(12), "[A](/library/documents/12?page=3)")
        == "[A](/library/documents/12/#page-3)"
    )
