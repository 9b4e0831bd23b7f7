"""More than a hundred planted false quotes: none is in the letter that the job stores."""

import json
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from coaching.files.safety_plans import PLAN_PATH
from coaching.letters.checking import ClaimedParagraph, ClaimedQuote, Sayings, checked
from coaching.letters.words import read_month
from coaching.letters.writing import write_letter
from coaching.library.clients import create_client, own_client
from coaching.library.scopes import set_scope
from coaching.model_client.connection import ModelConnection
from coaching.models import ActionItem, ActionOrigin, ActionState, ClientType, Profile, UserFileVersion
from coaching.practice import PracticeServer
from coaching.safety.card import ELSEWHERE_KEY, METADATA_KEY, values_of_danger
from coaching.safety.danger import Danger
from sessions_app.database import in_database
from sessions_app.models import Session, ToolCallRecord, ToolCallState, Turn
from sessions_app.organising import delete_session, purge_deleted_sessions
from sessions_app.verdicts import NewVerdict, store_verdict
from tests.letters.months import FIRST, OCTOBER, add, at, talk, wanting

pytestmark = pytest.mark.django_db(transaction=True)

SAID = {
    2: "I want to work four days a week from next spring.",
    4: "My knee hurts when I run longer than an hour.",
    6: "I called my sister and we talked until midnight.",
    8: "I don't want to move to Berlin for the job.",
    10: "Painting on Sundays is what keeps me sane.",
    12: "I told my boss about the four days.",
    15: "We argued about money again on the way home.",
    18: "I ran for twenty minutes without any pain.",
    21: "I have not opened the letter from the bank yet.",
    24: "My sister is coming to visit in November.",
    27: "My boss said yes to Fridays off.",
    30: "I opened the letter and it was less than I feared.",
}
ANSWER = "You sound relieved that the bank wrote a friendly letter."
DANGER = {METADATA_KEY: values_of_danger(Danger(level="concern", about="self", topic="life"))}


def day(number: int) -> date:
    return date(2026, 10, number)


def of_others() -> Iterator[str]:
    """Yield what stands in the person's messages and isn't theirs."""
    yield "You never finish anything that you begin."
    yield "You are the laziest person in this office."
    yield "Please find attached the minutes of our meeting."
    yield "The landlord ends the contract by the end of March."


def keep_others(user: User) -> None:
    first, second, third, fourth = of_others()
    talk(user, at(9), f"> {first}\nThat is what he wrote.", f"She said: “Look. {second} Go home.”")
    talk(user, at(9), f"From: Eva\nSubject: Minutes\n\n{third}", f"```\n{fourth}\n```")


def kept_apart(user: User, other: User) -> Iterator[tuple[int, str]]:
    """Store what no letter may quote, and yield each with its day."""
    for moment, text in (
        (at(30, month=9), "I was happy in September."),
        (at(2, month=11), "It is November."),
    ):
        talk(user, moment, text)
        yield moment.day, text
    talk(other, at(5), "I am somebody else entirely.")
    yield 5, "I am somebody else entirely."
    talk(user, at(5), "I wrote this in another program.", imported_id="1")
    yield 5, "I wrote this in another program."
    talk(user, at(5), "Please go on from there with me.", is_hidden=True)
    yield 5, "Please go on from there with me."
    yield 5, in_danger(user, "Nobody would notice that I am gone.", **DANGER)
    yield 5, in_danger(user, "It was all too much for me once.", **{ELSEWHERE_KEY: DANGER[METADATA_KEY]})
    judged = talk(user, at(5), "The bridge is very quiet at night.")
    store_verdict(judged.messages.get(number=1).pk, NewVerdict(level="immediate", looked="immediate"))
    yield 5, "The bridge is very quiet at night."
    answered = talk(user, at(5), "I answered the question below honestly.")
    call(answered, "show_pulse_check", {}, metadata=DANGER)
    yield 5, "I answered the question below honestly."
    planned = talk(user, at(5), "Calling Ana helps me in the evenings.", "Thank you for writing it down.")
    call(planned, "save_file", {"file_type": "safety-plan", "content": "Ana"})
    yield 5, "Calling Ana helps me in the evenings."
    read = talk(user, at(5), "Please read my plan to me again.")
    call(read, "read_file", {"path": PLAN_PATH})
    yield 5, "Please read my plan to me again."
    deleted = talk(user, at(5), "Forget that I ever told you this.")
    delete_session(user_id=user.pk, session_id=deleted.pk)
    yield 5, "Forget that I ever told you this."
    edited = talk(user, at(5), "I take back what I wrote here.")
    edited.turns.update(is_withdrawn=True)
    yield 5, "I take back what I wrote here."
    about = talk(user, at(5), "My client wants to sell the house.")
    client = create_client(user_id=user.pk, name="Acme", client_type=ClientType.COMPANY)
    set_scope(about, client_id=client.pk, project_id=None)
    yield 5, "My client wants to sell the house."


def in_danger(user: User, text: str, **given: Any) -> str:
    talk(user, at(5), text, **given)
    return text


def call(session: Session, name: str, given: object, **more: object) -> None:
    turn = Turn.within(session).order_by("started_at", "id")[0]
    ToolCallRecord.unscoped.create(
        turn=turn, round_number=1, position=0, tool_use_id=f"toolu_{session.pk}", name=name, input=given,
        state=ToolCallState.ANSWERED, finished_at=at(5), **more,
    )  # fmt: skip


def altered(number: int, text: str) -> Iterator[tuple[str, date | None]]:
    """Yield what a model may make of a true sentence: other words, other days."""
    words = text.split()
    middle = len(words) // 2
    yield " ".join([*words[:middle], "never", *words[middle:]]), day(number)
    yield " ".join([*words[:middle], *words[middle + 1 :]]), day(number)
    yield " ".join([*words[:middle], "really", *words[middle + 1 :]]), day(number)
    yield " ".join([words[1], words[0], *words[2:]]), day(number)
    yield text, day(number) + timedelta(days=1)
    yield text, day(number).replace(year=2025)
    yield text, None
    yield text.replace("I ", "you ").replace("My ", "Your ").replace("me", "you"), day(number)


def planted(user: User, other: User) -> Iterator[tuple[str, date | None]]:
    """Store a month and yield quotes of which none is true."""
    for number, text in SAID.items():
        talk(user, at(number), text, answer=ANSWER)
        yield from (claim for claim in altered(number, text) if claim[0] != text or claim[1] != day(number))
    said = list(SAID.items())
    for (number, text), (_, following) in pairwise(said):
        yield f"{text.split()[-2]} {text.split()[-1]} {' '.join(following.split()[:3])}", day(number)
    yield from ((ANSWER, day(number)) for number in (2, 4, 6))
    keep_others(user)
    yield from ((text, day(9)) for text in of_others())
    yield from ((text, day(number)) for number, text in kept_apart(user, other))
    yield from (("", day(2)), ("I", day(2)), ("job.", day(8)), ("…", day(8)), ("Sage", day(2)))


def paragraph(words: str, on: date | None, text: str = "You talked about it.") -> dict[str, object]:
    return {"kind": "moved", "text": text, "quotes": [{"words": words, "day": str(on or "")}]}


async def test_of_more_than_a_hundred_false_quotes_none_survives(
    user: User, other_user: User, practice: PracticeServer
) -> None:
    false, sayings = await in_database(stored, user, other_user)
    assert len(false) >= 100
    for words, on in false:
        quote = ClaimedQuote(words=words, day=on)
        claimed = ClaimedParagraph(kind="moved", text="You talked about it.", quotes=[quote])
        assert not checked([claimed], sayings), (words, on)
    true = [paragraph(SAID[12], day(12), "You asked for it."), paragraph(SAID[27], day(27), "And got it.")]
    texts = ["You said “I give up”.", "It was on the 13th.", "You paid 12 euros."]
    wrong = [paragraph(SAID[10], day(10), text) for text in texts]
    body = await letter_about(user, practice, [*(paragraph(*each) for each in false), *wrong, *true])
    assert body.count("> “") == len(true)
    assert body.count("You talked about it.") == 0
    assert SAID[12] in body
    assert SAID[27] in body


def stored(user: User, other: User) -> tuple[list[tuple[str, date | None]], Sayings]:
    """Store a month; return the false quotes, and what true ones are found in."""
    profile = wanting(user)
    own_client(user.pk)
    false = list(planted(user, other))
    return false, Sayings(read_month(profile=profile, month=OCTOBER).said)


async def letter_about(user: User, practice: PracticeServer, paragraphs: list[dict[str, object]]) -> str:
    """Let the model answer with these paragraphs, and return the letter's text."""
    practice.script([json.dumps({"paragraphs": paragraphs})])
    models = ModelConnection()
    try:
        assert await write_letter(user.pk, OCTOBER, client=await models.client(), now=FIRST)
    finally:
        await models.close()
    versions = UserFileVersion.of(user.pk).filter(file__path="letters/2026-10.md")
    return await in_database(lambda: versions.get().content)


def test_a_true_quote_stays_however_it_is_punctuated(user: User) -> None:
    profile: Profile = wanting(user)
    session = talk(user, at(2), SAID[2])
    add(session, at(3), SAID[4])
    sayings = Sayings(read_month(profile=profile, month=OCTOBER).said)
    for number, on in ((2, 2), (4, 3)):
        for words in (SAID[number], SAID[number].upper().rstrip("."), f"“{SAID[number]}”"):
            claim = ClaimedQuote(words=words, day=day(on))
            found = checked([ClaimedParagraph(kind="moved", text="So.", quotes=[claim])], sayings)
            assert [quote.sentence for each in found for quote in each.quotes] == [SAID[number]]


def test_a_step_whose_conversation_was_deleted_is_in_no_month(user: User) -> None:
    profile: Profile = wanting(user)
    session = talk(user, at(2), "I will call my mother on Thursday.")
    client = own_client(user.pk)
    said, own = ActionOrigin.CONVERSATION, ActionOrigin.PERSON
    for title, quote, of, origin in (
        ("Call my mother", "I will call my mother", session, said),
        ("Write to her", "", session, said),
        ("Buy soil", "", None, own),
    ):
        step = ActionItem.unscoped.create(
            user=user, client=client, title=title, quote=quote, session=of, origin=origin,
            state=ActionState.OPEN,
        )  # fmt: skip
        ActionItem.unscoped.filter(pk=step.pk).update(created_at=at(2))
    assert titles_in(profile) == ["Call my mother", "Write to her", "Buy soil"]
    delete_session(user_id=user.pk, session_id=session.id)
    assert titles_in(profile) == ["Buy soil"]
    purge_deleted_sessions(now=timezone.now() + timedelta(minutes=11))
    assert titles_in(profile) == ["Buy soil"]


def titles_in(profile: Profile) -> list[str]:
    return [step.title for step in read_month(profile=profile, month=OCTOBER).steps]
