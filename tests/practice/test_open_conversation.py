"""The scripted coach outside arcs: offers, two approaches, and lookups."""

from typing import Any

import orjson
import pytest
from anthropic import AsyncAnthropic

from coaching.practice.coach.offer_wording import ARC_OFFERS
from tests.practice.walking import File, Walk

LIFE_PLAN = "life-plan/current.md"
MORNING = (
    "<session_context>\nName: Ana\nLast session: open_day, 1 day ago\nTime: morning\nCheck-in: not due\n"
    "Day plan: none\n</session_context>"
)
DUE = '<offer arc="weekly_checkin">\nThe weekly check-in is due: weekly_checkin would fit.\n</offer>'


def tool(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "input_schema": {"type": "object", "properties": properties}}


@pytest.mark.parametrize(
    ("header", "words", "arc"),
    [
        (MORNING, "hi", "open_day"),
        (DUE, "hello", "weekly_checkin"),
        ("", "Good morning!", "open_day"),
        ("", "What a day, I'm glad that it's evening.", "close_day"),
        ("", "I don't know where to start, it's my whole life.", "life_mapping"),
    ],
)
async def test_an_arc_that_fits_is_offered_and_entered_after_a_yes(
    client: AsyncAnthropic, header: str, words: str, arc: str
) -> None:
    walk = Walk(client, header=header)
    await walk.say(words)
    assert walk.prompts == [ARC_OFFERS[arc].wordings[0]]
    assert not walk.arc
    await walk.tap("yes")
    assert walk.arc == arc


@pytest.mark.parametrize("refusal", ["no", "not now", "tapped"])
async def test_a_refusal_settles_it_for_the_conversation(client: AsyncAnthropic, refusal: str) -> None:
    walk = Walk(client, header=MORNING)
    await walk.say("hi")
    reply = await (walk.tap("no") if refusal == "tapped" else walk.say(refusal))
    assert "?" in reply
    for words in ("Good morning", "My boss wants more hours of me.", "What a day!", "What a week it was."):
        await walk.say(words)
    assert len(walk.prompts) == 1
    assert "enter_structured_arc" not in walk.names()
    await walk.say("ok, let's plan my day after all")
    assert walk.arc == "open_day", "a wish of their own still counts"


async def test_an_offer_that_got_no_answer_is_not_repeated(client: AsyncAnthropic) -> None:
    walk = Walk(client, header=DUE)
    await walk.say("hi")
    await walk.say("My sister wrote to me last night and I don't know what to say.")
    await walk.say("hello")
    assert len(walk.prompts) == 1
    await walk.say("She moved to Lisbon in spring.")
    assert not walk.arc


async def test_a_typed_yes_enters_and_the_second_arc_is_entered_after_the_first(
    client: AsyncAnthropic,
) -> None:
    walk = Walk(client)
    await walk.say("Good morning")
    await walk.say("yes please")
    await walk.tap("rested")
    await walk.say("write a letter")
    reply = await walk.say("Calm")
    assert walk.completed == ["open_day"]
    assert "plan for today" in reply or "your day" in reply
    await walk.say("let's do my weekly check-in")
    assert walk.arc == "weekly_checkin"


async def test_without_the_tool_nothing_is_offered_and_a_wish_is_answered_honestly(
    client: AsyncAnthropic,
) -> None:
    walk = Walk(client, header=MORNING)
    walk.without = {"enter_structured_arc", "show_options"}
    await walk.say("hi")
    assert not walk.calls
    reply = await walk.say("let's open my day")
    assert not walk.calls
    assert "home page" in reply


async def test_an_arc_that_does_not_begin_is_named_as_such(client: AsyncAnthropic) -> None:
    walk = Walk(client, failures={"enter_structured_arc": ["Its guidance is missing."]})
    reply = await walk.say("map my life")
    assert "Its guidance is missing." in reply
    assert not walk.arc


async def test_heavy_words_get_no_offer_and_the_approach_quietly(client: AsyncAnthropic) -> None:
    walk = Walk(client, header=MORNING)
    await walk.say("I feel hopeless and completely overwhelmed this morning.")
    assert walk.names() == ["load_skill"]
    assert not walk.prompts
    assert "crisis-support" not in " ".join([*walk.said, *walk.notes])


async def test_a_decision_is_weighed_and_never_made(client: AsyncAnthropic) -> None:
    walk = Walk(client)
    await walk.say("hi")
    asked = await walk.say("They offered me a post in Porto. Should I take this job?")
    assert walk.calls == [("load_skill", {"name": "decision-helper"})]
    assert "decision-helper" not in asked
    assert "decided" in asked or "choice" in asked
    await walk.say("Whether we move, and they want to hear by Friday.")
    await walk.say("More money there, but my parents are here. I could ask for two days from home.")
    await walk.say("That they are old is a fact, that I'd miss everything is a fear.")
    assert walk.options() == ["do it", "leave it", "not yet"]
    await walk.tap("not yet")
    reply = await walk.say("I'd ask whether I can start in spring.")
    assert "I won't choose" in reply or "choice stays yours" in reply
    await walk.say("yes, write it down")
    assert any(name == "save_file" for name, _ in walk.calls)


async def test_a_decision_is_left_when_the_user_speaks_of_something_else(client: AsyncAnthropic) -> None:
    walk = Walk(client)
    await walk.say("Should I sell the house?")
    reply = await walk.say("bye, I have to go now")
    assert "Take good care" in reply or "until next time" in reply


async def test_a_pattern_that_runs_against_the_plan_brings_the_plan_to_the_table(
    client: AsyncAnthropic,
) -> None:
    walk = Walk(client)
    walk.files = {
        LIFE_PLAN: File(
            "# Where I want to go\n\n## Direction\n\n- Become a manager at my company within a year.\n", {}
        )
    }
    await walk.say("hi")
    await walk.say("I always say yes to more work, and every time I end up ill.")
    assert walk.calls == [("load_skill", {"name": "pattern-review"})]
    await walk.say("In March with the audit, and last autumn with the new office.")
    await walk.say("Nobody can say that I don't give enough.")
    assert ("load_skill", {"name": "life-plan-revision"}) in walk.calls
    assert "Become a manager at my company within a year" in walk.prompts[-1]
    await walk.tap("plan")
    await walk.say("Work that leaves me two free evenings a week.")
    assert walk.files[LIFE_PLAN].version == 1, "nothing is struck without a yes"
    reply = await walk.tap("yes")
    assert walk.files[LIFE_PLAN].version == 2
    assert "two free evenings" in walk.files[LIFE_PLAN].body
    assert "in your life plan" in reply


async def test_a_pattern_is_kept_only_after_a_yes(client: AsyncAnthropic) -> None:
    walk = Walk(client)
    await walk.say("The same thing again: I fall out with every friend after a year.")
    await walk.say("With Ana in 2019, with Rui at university.")
    await walk.say("If I go first I can't be left.")
    await walk.say("With my oldest friend it never did. The first sign is that I stop calling.")
    assert walk.options() == ["yes", "no"]
    assert not walk.files
    reply = await walk.tap("yes")
    assert "in your patterns" in reply
    assert walk.files["sage/patterns.md"].attributes["domains_touched"] == ["relationships", "learning"]


async def test_a_memory_is_looked_up_where_the_tool_is_offered(client: AsyncAnthropic) -> None:
    hits = {"hits": [{"date": "2026-03-02", "source": "message", "passage": "I want to learn the cello."}]}
    walk = Walk(client, extra_tools=(tool("recall_context", query={"type": "string"}),))
    walk.answers["recall_context"] = orjson.dumps(hits).decode()
    await walk.say("hi")
    reply = await walk.say("Do you remember what I said about the cello?")
    assert walk.calls[-1] == ("recall_context", {"query": "The cello"})
    assert "2026-03-02" in reply
    assert "I want to learn the cello." in reply
    walk.answers["recall_context"] = '{"hits": []}'
    assert "nothing" in await walk.say("Did I ever mention Lisbon?")
    walk.failures["recall_context"] = ["The search is away."]
    assert "2026" not in await walk.say("What did I say about rowing?")


async def test_a_memory_without_the_tool_is_not_invented(client: AsyncAnthropic) -> None:
    walk = Walk(client)
    walk.without = {"recall_context"}
    await walk.say("hi")
    assert "see" in await walk.say("Do you remember what I said about the cello?")
    assert "recall_context" not in walk.names()


async def test_a_reminder_and_a_list_use_the_librarys_tools(client: AsyncAnthropic) -> None:
    extra = (tool("create_action_item", title={"type": "string"}), tool("list_action_items"))
    walk = Walk(client, extra_tools=extra)
    walk.answers = {
        "create_action_item": '{"success": true, "title": "Call the bank on Monday"}',
        "list_action_items": '{"items": [{"title": "Call the bank on Monday"}]}',
    }
    await walk.say("hi")
    await walk.say("Remind me to call the bank on Monday")
    assert walk.calls[-1] == ("create_action_item", {"title": "Call the bank on Monday"})
    assert "Call the bank" in await walk.say("What is on my to-do list?")
    walk.failures["create_action_item"] = ["The user declined."]
    assert "Call" not in await walk.say("Remind me to call my aunt")


DIRECTORY = (
    "## Arcs and Approaches\n\nApproaches (`load_skill`):\n"
    "- decision-helper: weigh a choice by what matters\n- pattern-review: what keeps coming back\n"
)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("use the decision helper", "decision-helper"),
        ("Can we do a Pattern-Review?", "pattern-review"),
        ("I'd like to try domain deep dive", "domain-deep-dive"),
        ("capture review", "capture-review"),
        ("please load life_plan_revision", "life-plan-revision"),
        ("let's take crisis support", "crisis-support"),
    ],
)
async def test_an_approach_is_taken_up_when_it_is_asked_for_by_name(
    client: AsyncAnthropic, words: str, name: str
) -> None:
    walk = Walk(client)
    await walk.say("hi")
    reply = await walk.say(words)
    assert walk.calls == [("load_skill", {"name": name})]
    assert reply.endswith("?")
    again = await walk.say(words)
    assert walk.names() == ["load_skill"], "a text that is there isn't loaded again"
    assert again


async def test_an_approach_asked_for_by_name_is_then_walked(client: AsyncAnthropic) -> None:
    walk = Walk(client)
    await walk.say("use the decision helper")
    reply = await walk.say("Whether we sell the house, and I'm afraid to regret it.")
    assert "decided" in reply or "exactly is the choice" in reply
    await walk.say("Whether to sell, by spring.")
    await walk.say("More money, less garden.")
    await walk.say("That prices fall is a fear.")
    assert walk.options() == ["do it", "leave it", "not yet"]


async def test_a_name_in_passing_loads_nothing(client: AsyncAnthropic) -> None:
    walk = Walk(client)
    await walk.say("hi")
    await walk.say("They told me at the clinic that crisis support had called my sister on Monday evening.")
    assert not walk.calls


async def test_inside_an_arc_a_named_approach_is_taken_up_and_the_arc_goes_on(client: AsyncAnthropic) -> None:
    walk = Walk(client, kind="open_day")
    await walk.say("hi")
    await walk.say("can we use the decision helper for a moment?")
    assert walk.calls[-1] == ("load_skill", {"name": "decision-helper"})
    await walk.say("Whether I take the train or the car, it's silly.")
    for words in ("finish the report", "Unhurried"):
        if walk.pending and "tired" in walk.options():
            await walk.tap("tired")
        await walk.say(words)
    assert walk.completed == ["open_day"]


async def test_the_skills_in_use_are_named_when_asked(client: AsyncAnthropic) -> None:
    walk = Walk(client, system=DIRECTORY)
    told = await walk.say("Which skills are in play?")
    assert "We are just talking" in told
    assert "**decision helper**: weigh a choice by what matters" in told
    await walk.say("use the decision helper")
    told = await walk.say("which approaches do you have in mind?")
    assert ": decision helper." in told
    assert "I have this in mind" not in await walk.say("what approach should I take with my boss?")
    walk = Walk(
        client, kind="weekly_checkin", header='<skill name="domain-deep-dive">\n## Goal\n\nX\n</skill>'
    )
    await walk.say("hi")
    assert "weekly checkin and domain deep dive" in await walk.say("what skills do you use now?")
