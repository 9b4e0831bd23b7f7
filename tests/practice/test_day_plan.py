"""Closing a day takes up its plan, by name, and the log has it; the next day begins with what was left."""

import pytest

from tests.practice.arc_walks import LOG, open_day
from tests.practice.conftest import Http
from tests.practice.walking import Walk

LANGUAGES = {"en": "English", "de": "German", "es": "Spanish"}
PLAN = """
<todays_plan date="Saturday 2026-11-21">
Intention: Unhurried
- [x] Call Mia
- [ ] Run
</todays_plan>"""
ALL_DONE = PLAN.replace("[ ]", "[x]")


def header(language: str = "en", more: str = "", clock: str = "evening, 20:10") -> str:
    return (
        f"<session_context>\nName: not known yet\nLanguage: {LANGUAGES[language]}\n"
        f"Time: Saturday 2026-11-21, {clock} (Europe/Berlin)\n</session_context>{more}"
    )


async def closed(http: Http, language: str, more: str, rest: str = "", clock: str = "evening, 20:10") -> Walk:
    """Return the walk of a day that was closed; `rest` is tapped where it is asked what becomes of it."""
    walk = Walk(http, kind="close_day", header=header(language, more, clock))
    await walk.say({"en": "Good evening", "de": "Guten Abend", "es": "Buenas noches"}[language])
    await walk.say(
        {"en": "Work was long", "de": "Die Arbeit war lang", "es": "El trabajo fue largo"}[language]
    )
    if rest:
        await (walk.tap(rest) if rest in {"all", "none", "done"} else walk.say(rest))
    await walk.tap("little")
    await walk.tap("calm")
    await walk.tap("career")
    await walk.say({"en": "The tea at four", "de": "Der Tee um vier", "es": "El té de las cuatro"}[language])
    await walk.tap("yes")
    return walk


@pytest.mark.parametrize(
    ("language", "left", "line"),
    [
        ("en", "All of it tomorrow", "- **Not ticked: Run**"),
        ("de", "Alles morgen", "- **Nicht abgehakt: Run**"),
        ("es", "Todo para mañana", "- **Sin marcar: Run**"),
    ],
)
async def test_the_plan_is_named_and_what_becomes_of_the_rest_is_asked_and_logged(
    http: Http, language: str, left: str, line: str
) -> None:
    walk = await closed(http, language, PLAN, "all")
    prompt = next(each for each in walk.prompts if "Run" in each)
    assert "Unhurried" in prompt
    assert "Call Mia" in prompt
    body = walk.files[LOG].body
    assert line in body
    assert f"- **{left}**" in body
    assert "Unhurried" in body
    assert walk.completed == ["close_day"]


async def test_the_rest_is_logged_in_the_persons_own_words(http: Http) -> None:
    walk = await closed(http, "en", PLAN, "half the run on Sunday instead")
    assert "- “Half the run on Sunday instead”" in walk.files[LOG].body


async def test_a_plan_that_is_all_done_is_named_without_a_question(http: Http) -> None:
    walk = await closed(http, "en", ALL_DONE)
    assert any("Ticked off: “Call Mia” and “Run”." in each for each in walk.prompts)
    assert not any("What becomes of" in each for each in walk.prompts)
    assert "- **Done: Call Mia, Run**" in walk.files[LOG].body


async def test_without_a_plan_nothing_is_said_of_one(http: Http) -> None:
    walk = await closed(http, "en", "")
    assert "planned" not in walk.files[LOG].body
    assert not any("Ticked" in each or "What becomes of" in each for each in walk.prompts)


async def test_a_plan_of_the_same_conversation_is_taken_up(http: Http) -> None:
    walk = Walk(http, header=header())
    await walk.say("plan my day")
    await open_day(walk)
    await walk.say("close my day")
    await walk.say("Work was long")
    assert walk.pending is not None
    prompt = walk.pending["input"]["prompt"]
    assert "“Finish the report”, “Call mum and dad” and “Go for a run”" in prompt
    assert "No hurry at all" in prompt


@pytest.mark.parametrize(
    ("clock", "is_wished"),
    [("morning, 07:32", False), ("evening, 20:10", True), ("night, 01:10 past midnight", True)],
)
async def test_a_good_night_is_wished_in_the_evening_only(http: Http, clock: str, is_wished: bool) -> None:
    walk = await closed(http, "en", "", clock=clock)
    assert ("Sleep well" in walk.said[-1]) is is_wished


async def test_the_next_day_begins_with_what_was_left(http: Http) -> None:
    walk = Walk(http, kind="open_day", header=header(more=PLAN.replace("todays_plan", "yesterdays_plan")))
    await walk.say("Good morning")
    reply = await walk.tap("rested")
    assert "Not ticked off yesterday: “Run”." in reply
