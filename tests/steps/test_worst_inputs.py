"""The longest and most awkward words in which a quote may be looked for: linear time, and no promise."""

import time
from collections.abc import Sequence
from datetime import date

import pytest

from coaching.library.promises import MAX_CHARACTERS, MAX_FOUND, Claim, weigh
from coaching.library.quote_context import Said
from coaching.library.spoken import sentences_of, tokens_of
from coaching.library.spoken_days import days_said
from tests.patience import patience
from tests.thoroughness import sample_of_day

DAY = date(2026, 12, 1)
MESSAGE = 20_000
MOST = MAX_FOUND + 1
SECONDS = 1.0
"""For one call, on an idle machine."""
HOSTILE = {
    "one word": "a",
    "words": "a ",
    "the quote itself": "call mum ",
    "quoted lines": "> call mum\n",
    "fences": "```\ncall mum\n",
    "nested marks": "“‘(«call mum»)’” ",
    "numbers": "1. ",
    "ends": "?!. ",
    "dots": "a.",
    "apostrophes": "a'b-",
    "clauses": "call mum, but ",
    "marks on letters": "e\u0301\u0323",
    "wide forms": "\ufdfa ",
    "emoji": "\U0001f468\u200d\U0001f469 ",
    "days": "next friday the 3rd of december 2026 ",
    "headers": "from: call mum\n",
    "times": "[14:02 call mum: ",
    "no spaces": "打电话给妈妈",
    "blank": " \n",
}


CUTS = (tokens_of, lambda text: list(sentences_of(text)), lambda text: days_said(text, spoken_on=DAY))


def weighed(texts: Sequence[str], quote: str = "call mum tonight and tomorrow") -> tuple[str, float]:
    claim = Claim(quote=quote, purpose="new", title="Call Mum", due_date=date(2026, 12, 2))
    said = [Said(number=number, text=text, day=DAY, asked=text) for number, text in enumerate(texts)]
    began = time.process_time()
    why = weigh(claim, said).why
    return why, time.process_time() - began


@pytest.fixture(scope="module")
def limit() -> float:
    weighed(["call mum"], "call mum")  # reads the lists
    return SECONDS * patience()


@pytest.mark.slow
@pytest.mark.parametrize("kind", sample_of_day(list(HOSTILE), of_each=3))
def test_no_message_makes_a_call_slow(kind: str, limit: float) -> None:
    for length in (MAX_CHARACTERS, MESSAGE):
        text = (HOSTILE[kind] * length)[:length]
        for quote in ("call mum", text[:400]):
            why, seconds = weighed([text] * MOST, quote)
            assert why, "none of these is a promise"
            assert seconds < limit, (length, quote[:20])


@pytest.mark.slow
@pytest.mark.parametrize("kind", sample_of_day(list(HOSTILE), of_each=3))
def test_texts_are_cut_in_linear_time(kind: str, limit: float) -> None:
    text = (HOSTILE[kind] * MESSAGE)[:MESSAGE]
    for cut in CUTS:
        began = time.process_time()
        cut(text)
        assert time.process_time() - began < limit
