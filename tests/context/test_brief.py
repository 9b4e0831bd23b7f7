"""The brief in the prompt: when the edge waits for it, what the opening says, what its user corrected."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import given
from hypothesis import strategies as st

from coaching.context.brief_lines import (
    CORRECTED,
    MAX_TOKENS,
    brief_text,
    corrected_lines,
    corrected_text,
    lines_of,
)
from coaching.context.budget import count_tokens
from coaching.context.opening import Opening
from coaching.context.window import MAX_TOKENS as WINDOW_TOKENS
from coaching.context.window import Edge, open_window, rows_to_read
from coaching.engine.errors import UpstreamError
from coaching.practice.faults.fault import Fault
from coaching.practice.server import PracticeServer
from coaching.transcript.trace import TurnTrace, read_trace
from sessions_app.brief_corrections import correct_brief, undo_correction
from sessions_app.database import in_database
from sessions_app.models import BriefCorrection, Message, Session, SessionBrief, Turn
from tests.context.conftest import Talk, text_blocks


def strike(line: str) -> BriefCorrection:
    return BriefCorrection(kind="strike", line=line)


def correction(words: str, line: str = "") -> BriefCorrection:
    return BriefCorrection(kind="correction", line=line, words=words)


def one_token(_: Message) -> int:
    return 1


STRUCK = "You want to leave the clinic by summer [12]"


@pytest.mark.parametrize(
    "written",
    [
        STRUCK,
        "* you want to LEAVE the clinic by summer. [12, 40]",
        "3. By summer you want to leave the clinic [7]",
        "You want to leave the clinic by the summer",
        "You have a sister, and you want to leave the clinic by summer [12].",
        "you want to leave the clinic",
    ],
)
def test_a_struck_line_is_dropped_in_close_words_too(written: str) -> None:
    text = f"- You have a cat [3]\n{written}\n- Your sister is Anna [5]"
    assert corrected_lines(text, [strike(STRUCK)]) == ["You have a cat [3]", "Your sister is Anna [5]"]


def test_other_lines_stay_when_one_is_struck() -> None:
    lines = ["You like tea", "You like your work at the clinic [13]", "Your summer was good"]
    assert corrected_lines(brief_text(lines), [strike(STRUCK), strike("You like coffee")]) == lines


def test_a_correction_is_stated_and_the_line_as_it_was_is_gone() -> None:
    wrong = "Your sister Hannah visits on Sunday [4]"
    lines = corrected_lines(f"- {wrong}\n- You rest [6]", [correction("it was Anna, not Hannah", wrong)])
    stated = f"{CORRECTED}it was Anna, not Hannah (about: “{wrong}”)"
    assert lines == ["You rest [6]", stated]
    right = "Your sister Anna visits on Sunday [4]"
    assert right in corrected_lines(f"- {right}", [correction("it was Anna, not Hannah", wrong)])
    assert corrected_lines(f"- {right}", [correction(right, wrong)]) == [right], "it isn't said twice"
    assert corrected_lines(brief_text(lines), []) == ["You rest [6]"], "one that was undone isn't kept"


@given(
    st.lists(st.text(max_size=300), max_size=60),
    st.lists(st.text(min_size=1, max_size=500), max_size=50),
)
def test_a_brief_never_takes_more_than_its_tokens_and_stays_as_it_is(
    lines: list[str], words: list[str]
) -> None:
    corrections = [correction(" ".join(each.split()) or "no", "") for each in words]
    kept = corrected_lines("\n".join(lines), corrections)
    assert count_tokens(brief_text(kept)) <= MAX_TOKENS
    assert corrected_lines(brief_text(kept), corrections) == kept
    assert lines_of(brief_text(kept)) == kept


def messages_until(count: int) -> list[Message]:
    return [Message(number=n, role="user" if n % 2 else "assistant") for n in range(1, count + 1)]


def test_the_edge_waits_until_the_brief_covers_what_leaves_and_moves_by_whole_steps() -> None:
    edges: list[int] = []
    covered = 0
    for count in range(1, 140, 2):
        if count in {49, 95, 121}:
            covered = count - 1
        edge = Edge(number=edges[-1]) if edges else Edge()
        messages = messages_until(count)
        window = open_window(
            messages, minimum=15, step=20, edge=edge, covered=covered, count_tokens=one_token
        )
        edges.append(window.edge.number)
        assert count - len(window.messages) == max(0, window.edge.number - 1)
        assert window.edge.number <= covered + 1
    assert sorted(set(edges)) == [0, 21, 41, 81, 101, 121]


def test_an_edge_that_waits_moves_all_the_same_over_sixty_thousand_tokens() -> None:
    def edge_of(tokens: int) -> int:
        window = open_window(
            messages_until(61), minimum=15, step=20, edge=Edge(), covered=0, count_tokens=lambda _: tokens
        )
        return window.edge.number

    assert edge_of(WINDOW_TOKENS // 61) == 0
    assert edge_of(WINDOW_TOKENS // 61 + 1) == 41


def test_as_many_messages_are_read_as_a_waiting_edge_needs() -> None:
    assert rows_to_read(None, last=500, minimum=15, step=20) == 37
    assert rows_to_read(Edge(number=21), last=56, minimum=15, step=20) == 37
    assert rows_to_read(Edge(number=21), last=100, minimum=15, step=20) == 81
    assert rows_to_read(Edge(), last=5_000, minimum=15, step=20) == 640


TOPICS = (
    "The river was high today",
    "My sister called at noon",
    "I slept until seven",
    "The garden needs rain",
)


async def chat(talk: Talk, turns: int, *, words: str = "") -> None:
    for number in range(turns):
        talk.practice.script([f"Answer {number}."])
        await talk.say(f"{TOPICS[number % 4]}, and I want to walk more. {words}")


async def opening_of(talk: Talk) -> Opening:
    opening = Opening.from_text((await in_database(Session.unscoped.get)).opening)
    assert opening is not None
    return opening


async def trace_of_newest() -> TurnTrace:
    turn = await in_database(lambda: Turn.unscoped.order_by("-messages__number").first())
    assert turn is not None
    return read_trace(turn, [], None)


def brief_in(body: dict[str, Any]) -> str:
    return next((text for text in text_blocks(body) if text.startswith("<brief")), "")


@pytest.mark.django_db(transaction=True)
async def test_the_edge_waits_for_the_brief_and_then_the_opening_has_it(talk: Talk) -> None:
    await chat(talk, 20)
    assert (await opening_of(talk)).edge.number == 0, "39 messages, and no brief"
    assert brief_in(talk.bodies[-1]) == ""
    assert await talk.remember() == 1
    await chat(talk, 1)
    brief = await in_database(SessionBrief.unscoped.get)
    opening = await opening_of(talk)
    assert (opening.edge.number, opening.brief, opening.brief_covers) == (21, 1, 40)
    sent = brief_in(talk.bodies[-1])
    assert sent == f'<brief covers_messages="1 to 40">\n{brief.text}\n</brief>'
    assert "[39]" in sent
    trace = await trace_of_newest()
    assert (trace.brief_version, trace.brief_covers) == (1, 40)
    assert [section.name for section in trace.sections if section.opening] == ["brief"]

    # A new version isn't said until the edge moves again.
    await talk.remember()
    await chat(talk, 1)
    assert brief_in(talk.bodies[-1]) == sent
    assert (await opening_of(talk)).brief == 1


@pytest.mark.django_db(transaction=True)
async def test_an_opening_says_where_its_brief_ends(talk: Talk) -> None:
    await chat(talk, 3)
    await talk.remember()
    await chat(talk, 25, words="word " * 2_000)
    opening = await opening_of(talk)
    assert opening.edge.number > 7
    sent = brief_in(talk.bodies[-1])
    assert sent.startswith('<brief covers_messages="1 to 6">')
    assert f"messages 7 to {opening.edge.number - 1} are neither in it nor below" in sent


@pytest.mark.django_db(transaction=True)
async def test_what_the_user_says_of_a_brief_is_in_the_next_prompt(talk: Talk, person: User) -> None:
    await chat(talk, 2)
    await talk.remember()
    await chat(talk, 1)
    assert brief_in(talk.bodies[-1]) == ""
    line = lines_of((await in_database(SessionBrief.unscoped.get)).text)[0]
    of: Any = {"user_id": person.pk, "session_id": talk.session.id, "finish": corrected_text}
    made = await in_database(correct_brief, **of, words="It was Anna, not Hannah", line="")
    await chat(talk, 1)
    sent = brief_in(talk.bodies[-1])
    assert line in sent
    assert "- Corrected by the person: It was Anna, not Hannah" in sent
    await in_database(correct_brief, **of, words="", line=line, is_strike=True)
    await chat(talk, 1)
    assert line not in brief_in(talk.bodies[-1])
    assert "Anna" in brief_in(talk.bodies[-1])
    await in_database(undo_correction, **of, correction_id=made.pk)
    await chat(talk, 2)
    assert "Anna" not in brief_in(talk.bodies[-1])
    rebuilt = [brief_in(body) for body in talk.bodies]
    assert len(set(rebuilt)) == 4, "and it changes with what the user says alone"


@pytest.mark.django_db(transaction=True)
async def test_an_edit_of_a_covered_message_takes_the_brief_out_of_the_prompt(
    talk: Talk, person: User, brief_practice: PracticeServer
) -> None:
    await chat(talk, 2)
    await talk.remember()
    await chat(talk, 1)
    brief_practice.script(["- You have a secret [5]"])
    await talk.remember()
    await in_database(
        correct_brief,
        user_id=person.pk,
        session_id=talk.session.id,
        words="I rest on Sundays",
        finish=corrected_text,
    )
    await chat(talk, 1)
    assert "secret" in brief_in(talk.bodies[-1])
    brief_practice.script(["- You have another secret [7]"])
    await talk.remember()
    talk.practice.script(["Yes."])
    await talk.edit("Let's talk about walks. I like the river and the woods.")
    assert "secret [5]" in brief_in(talk.bodies[-1])
    for _ in range(2):
        brief_practice.script(["- You like walks [9]"])
        await talk.remember()
    versions = await in_database(lambda: list(SessionBrief.unscoped.order_by("version")))
    assert [(v.covers_from, v.covers_until, v.is_withdrawn) for v in versions] == [
        (1, 4, False),
        (5, 6, False),
        (7, 8, True),
        (7, 10, False),
    ]
    asked = brief_practice.requests[-1].body["messages"][0]["content"][0]["text"]
    assert "another secret" not in asked
    assert "- You have a secret [5]" in asked


@pytest.mark.django_db(transaction=True)
async def test_a_brief_model_that_is_down_for_thirty_turns_loses_nothing(
    talk: Talk, brief_practice: PracticeServer
) -> None:
    brief_practice.faults.push(Fault(kind="status", status=529, times=30))
    for number in range(30):
        talk.practice.script([f"Answer {number}."])
        assert (await talk.say(f"Number {number}: I walked by the river.")).status == "completed"
        with pytest.raises(UpstreamError):
            await talk.remember()
    assert (await opening_of(talk)).edge.number == 0
    assert len(talk.bodies[-1]["messages"]) == 59
    assert await talk.remember() == 1
    brief = await in_database(SessionBrief.unscoped.get)
    assert (brief.covers_from, brief.covers_until) == (1, 60)
    asked = brief_practice.requests[-1].body["messages"][0]["content"][0]["text"]
    assert all(f"Number {number}:" in asked for number in range(30))
    await chat(talk, 1)
    assert (await opening_of(talk)).edge.number == 41
