"""Pending questions: answered by mouse, keyboard or form, refused, or put off."""

import asyncio
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from playwright.async_api import Page, WebSocketRoute, expect

from coaching.models import PulseRating
from coaching.practice.faults.fault import Fault
from coaching.practice.script import Hold, Reply, Text, ToolUse
from coaching.practice.server import PracticeServer
from sessions_app import session_services
from sessions_app.database import in_database
from sessions_app.models import Session, SessionKind
from tests.browser.chat_page import messages_markup, path_of, say, until_asked, until_done
from tests.browser.fixtures import WAIT_MS, OpenContext, Watcher
from tests.browser.questions import PILLS, PULSE, assert_a_reload_shows_the_same, save, states
from tests.browser.test_accessibility import serious_findings

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


LOOK = """(pill) => {
    const { backgroundColor, borderTopColor } = getComputedStyle(pill);
    const probe = document.body.appendChild(document.createElement("i"));
    const [wash, sage] = ["--sage-wash", "--sage"].map((name) => {
        probe.style.color = `var(${name})`;
        return getComputedStyle(probe).color;
    });
    probe.remove();
    return { background: backgroundColor, border: borderTopColor, wash, sage };
}"""
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}
MORE_PILLS = ToolUse(
    "show_options",
    {"prompt": "And now?", "options": [{"label": "Coffee"}, {"label": "Tea"}]},
    id="toolu_more",
)


async def test_a_tap_answers_and_the_question_stays_where_it_was_asked(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(Text("Good morning."), PILLS), Reply.of(Text("I'm sorry."), Hold("end"))])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How did you wake?")
    await expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    await expect(page.get_by_label("Your message")).to_have_attribute(
        "placeholder", "Answer above, or type a message"
    )
    await expect(page.locator("#announcer")).to_contain_text("How did you wake? Answers to choose from: 2")
    await page.get_by_role("button", name="Not <so> good").dblclick()
    await practice.reached("end")
    await expect(page.locator(".turn.is-open .call .is-chosen")).to_contain_text("Not <so> good")
    await expect(page.get_by_role("button", name="Not <so> good")).to_have_count(0)
    practice.release("end")
    await until_done(page)
    await expect(page.locator("#messages .turn")).to_contain_text(
        re.compile("Good morning.*How did you wake.*Fine.*Not <so> good.*I'm sorry", re.DOTALL)
    )
    await expect(page.locator("#notices")).to_be_empty()
    await assert_a_reload_shows_the_same(page)
    assert await states(session) == ["answered"]
    assert watcher.faults == []


async def test_an_answer_under_the_pointer_does_not_look_chosen(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script([Reply.of(PILLS)])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How did you wake?")
    pill = page.get_by_role("button", name="Fine")
    await pill.hover()
    hovered = await pill.evaluate(LOOK)
    await pill.evaluate("(pill) => pill.classList.add('is-picked')")
    chosen = await pill.evaluate(LOOK)
    assert (chosen["background"], chosen["border"]) == (chosen["wash"], chosen["sage"])
    assert hovered["background"] != chosen["background"]
    assert hovered["border"] != chosen["border"]


async def test_on_a_phone_the_talk_has_two_thirds_of_the_window(
    practice: PracticeServer, open_context: OpenContext, cookie: str, user: User
) -> None:
    mapping = await in_database(
        lambda: session_services.open_session(user_id=user.pk, kind=SessionKind.LIFE_MAPPING)
    )
    practice.script([Reply.of(Text("Good morning."), PILLS)])
    page = await (await open_context(cookie, **PHONE)).new_page()
    await page.goto(path_of(mapping))
    await page.get_by_label("Your message").fill("Hello")
    await page.get_by_role("button", name="Send").tap()
    await until_asked(page, "How did you wake?")
    talk = await page.evaluate(
        """() => {
            const stuck = document.querySelectorAll(".site-head, .arc-progress, .chat-footer");
            return [...stuck].reduce((rest, { offsetHeight }) => rest - offsetHeight, innerHeight);
        }"""
    )
    assert talk >= 740 * 2 / 3


@pytest.mark.parametrize("is_phone", [False, True])
async def test_the_message_field_has_the_focus_after_the_last_tap_but_opens_no_keyboard(
    practice: PracticeServer, open_context: OpenContext, cookie: str, session: Session, *, is_phone: bool
) -> None:
    practice.script([Reply.of(PILLS, MORE_PILLS), "And what matters today?"])
    page = await (await open_context(cookie, **(PHONE if is_phone else {}))).new_page()
    await page.goto(path_of(session))
    field = page.get_by_label("Your message")
    await field.fill("Hello")
    await page.get_by_role("button", name="Send").click()
    await until_asked(page, "How did you wake?")
    await page.get_by_role("button", name="Fine").click()
    await until_asked(page, "And now?")
    await expect(page.locator(".turn.is-open .call.is-answered")).to_be_focused()
    await page.get_by_role("button", name="Tea").click()
    await until_done(page)
    if is_phone:
        await expect(page.locator("#messages .call").last).to_be_focused()
    else:
        await expect(field).to_be_focused()


async def test_ratings_are_given_by_keyboard_alone(
    practice: PracticeServer, page: Page, session: Session, user: User, watcher: Watcher
) -> None:
    again = ToolUse(PULSE.name, PULSE.input, id="toolu_again")
    practice.script([Reply.of(PULSE), Reply.of(again), "Thank you.", Reply.of(PILLS), "Noted."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How do these feel?")
    radios = page.get_by_role("group", name="Career").get_by_role("radio")
    for _ in range(8):  # backwards from the composer to the first row
        await page.keyboard.press("Shift+Tab")
        if await radios.evaluate_all("all => all.includes(document.activeElement)"):
            break
    await page.keyboard.press("ArrowLeft")  # from 5, which is the nearest from behind
    await page.keyboard.press("ArrowLeft")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Tab")
    await page.keyboard.type("Tired")
    await page.keyboard.press("Enter")
    await expect(page.locator(".turn.is-open .ratings")).to_contain_text("Career")
    await until_asked(page, "How do these feel?")
    # Focus stays on the answered question; the next question follows it.
    await expect(page.locator(".turn.is-open .call.is-answered")).to_be_focused()
    for _ in range(3):  # past what the line opens, and its link
        await page.keyboard.press("Tab")
    career = page.get_by_role("group", name="Career", exact=True)
    await expect(career.get_by_role("radio", name="1")).to_be_focused()
    await expect(career).to_have_accessible_description(re.compile(r"^Last rated 3 on \d+ \w+ \d{4} 1 means"))
    await expect(career.locator(".is-last")).to_have_text("3")
    await expect(page.locator(".turn.is-open .call-help")).to_have_text(
        re.compile(r"A dashed ring is your rating of \d")
    )
    await expect(page.locator(".is-last")).to_have_count(1)
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    await until_done(page)
    ratings = await in_database(
        lambda: list(PulseRating.unscoped.order_by("id").values_list("domain", "rating", "note"))
    )
    assert ratings == [("career", 3, "Tired"), ("career", 2, "")]
    shown = page.locator("#messages .ratings")
    await expect(shown.first).to_have_text(re.compile(r"^\s*Career\s*3\s+of 5\s*$"))
    await expect(shown.last).to_have_text(re.compile(r"^\s*Career\s*3 → 2\s*from 3 to 2\s*$"))
    await expect(page.get_by_label("Your message")).to_be_focused()
    await page.get_by_label("Your message").fill("And once more")
    await page.keyboard.press("Enter")
    await until_asked(page, "How did you wake?")
    await page.get_by_role("button", name="Fine").focus()
    await page.keyboard.press("ArrowDown")
    await expect(page.get_by_role("button", name="Not <so> good")).to_be_focused()
    await page.keyboard.press("ArrowRight")
    await expect(page.get_by_role("button", name="Fine")).to_be_focused()
    await page.keyboard.press("Space")
    await until_done(page, 2)
    await page.get_by_label("Your message").focus()
    await assert_a_reload_shows_the_same(page)
    assert watcher.faults == []


async def test_a_message_that_comes_behind_an_answer_waits_and_leaves_stop_in_its_place(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    held: list[str | bytes] = []
    is_slow = False
    routes: list[WebSocketRoute] = []

    def hold(route: WebSocketRoute) -> None:
        def take(frame: str | bytes) -> None:
            if is_slow:
                held.append(frame)
            else:
                route.send(frame)

        routes.append(route)
        route.connect_to_server().on_message(take)

    await page.route_web_socket("**/ws/**", hold)
    practice.script(
        [
            Reply.of(Text("Good morning."), PILLS),
            Reply.of(Text("I'm "), Hold("half"), Text("glad.")),
            "Tell me.",
        ]
    )
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How did you wake?")
    is_slow = True  # the turn continues on the server, which the page doesn't know yet
    await page.get_by_role("button", name="Fine").click()
    await practice.reached("half")
    await say(page, "And another thing")
    async with asyncio.timeout(WAIT_MS / 1000):
        while not any('data-event="error"' in str(frame) for frame in held):
            await page.wait_for_timeout(20)
    is_slow = False
    for frame in held:
        routes[-1].send(frame)
    await expect(page.locator("#queued")).to_contain_text("And another thing")
    await expect(page.get_by_label("Your message")).to_have_value("")
    await expect(page.locator("#notices")).to_be_empty()
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "streaming")
    await expect(page.get_by_role("button", name="Stop")).to_be_enabled()
    practice.release("half")
    await expect(page.locator("#messages")).to_contain_text("Tell me.")
    await expect(page.locator("#queued")).to_be_empty()
    assert watcher.faults == []


async def test_an_action_that_is_refused_gives_the_send_button_back(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.faults.push(Fault(kind="status", status=400))
    await page.goto(path_of(session))
    await say(page, "Hello")
    again = page.locator("#messages .turn-action")
    await again.evaluate("(button) => { button.value = 'continue'; }")  # as if another tab had been faster
    await again.click()
    await expect(page.locator("#notices")).to_contain_text("nothing to continue")
    await expect(page.locator("#chat")).to_have_attribute("data-phase", "idle")
    await expect(page.get_by_role("button", name="Send")).to_be_visible()
    await expect(page.get_by_role("button", name="Stop")).to_be_hidden()


async def test_a_refused_answer_shows_an_error_and_can_be_corrected(
    practice: PracticeServer, page: Page, session: Session
) -> None:
    practice.script([Reply.of(PULSE), "Thank you."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How do these feel?")
    await page.get_by_label("Add a note").fill("Nothing rated yet")
    await page.get_by_role("button", name="Save ratings").click()
    await expect(page.locator('[data-fault="ratings"]')).to_contain_text("Please rate at least one area")
    await expect(page.locator("#notices")).to_be_empty()
    await expect(page.get_by_role("group", name="Career").get_by_role("radio", name="1")).to_be_focused()
    await page.get_by_role("group", name="Health").get_by_text("4", exact=True).click()
    await page.get_by_role("group", name="Career").get_by_text("1", exact=True).click()
    await page.get_by_role("group", name="Career").get_by_text("No rating").click(force=True)
    await page.get_by_role("button", name="Save ratings").click()
    await until_done(page)
    await expect(page.locator("#notices")).to_be_empty()
    await expect(page.locator("#messages .ratings")).to_contain_text("Health")
    await expect(page.locator("#messages .ratings")).not_to_contain_text("Career")
    await expect(page.locator("#messages .call")).to_contain_text("Nothing rated yet")


async def test_several_questions_come_one_after_another_and_one_is_put_off(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(save("health"), PILLS, MORE_PILLS, PULSE), "Tea, then."])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How did you wake?")
    await expect(page.get_by_text("And now?")).to_have_count(0)
    await page.get_by_role("button", name="Skip").click()
    await until_asked(page, "And now?")
    await expect(page.locator(".turn.is-open .is-dismissed")).to_contain_text("Skipped.")
    await page.reload()
    await until_asked(page, "And now?")
    await expect(page.locator(".turn.is-open .is-dismissed")).to_contain_text("How did you wake?")
    await page.get_by_role("button", name="Tea").click()
    await until_asked(page, "How do these feel?")
    await page.get_by_role("button", name="Skip").click()
    await until_done(page)
    assert await states(session) == ["finished", "dismissed", "answered", "dismissed"]
    await assert_a_reload_shows_the_same(page)
    assert watcher.faults == []


async def test_to_put_off_the_only_question_ends_the_turn(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(Text("One thing."), PILLS)])
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How did you wake?")
    await page.get_by_role("button", name="Skip").click()
    await until_done(page)
    await expect(page.locator("#messages .is-dismissed")).to_be_visible()
    await assert_a_reload_shows_the_same(page)
    assert watcher.faults == []


async def test_whoever_writes_instead_has_answered_too(
    practice: PracticeServer, page: Page, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(PILLS, MORE_PILLS), "Then we leave it."])
    other = await page.context.new_page()
    for tab in (page, other):
        await tab.goto(path_of(session))
        await expect(tab.locator("#chat")).to_have_attribute("data-phase", "idle")
    await say(page, "Hello")
    for tab in (page, other):
        await until_asked(tab, "How did you wake?")
    await say(page, "I'd rather not say")
    for tab in (page, other):
        await until_done(tab, 2)
        await expect(tab.locator("#messages .is-superseded")).to_have_count(1)  # the second was never asked
        await expect(tab.locator("#messages > li")).to_have_count(5)
    assert await messages_markup(page) == await messages_markup(other)
    await assert_a_reload_shows_the_same(page)
    assert watcher.faults == []


async def test_questions_are_answered_without_a_script(
    practice: PracticeServer, open_context: OpenContext, cookie: str, session: Session, watcher: Watcher
) -> None:
    practice.script([Reply.of(PILLS), Reply.of(PULSE), Reply.of(Text("Good."), MORE_PILLS)])
    page = await (await open_context(cookie, java_script_enabled=False)).new_page()
    await page.goto(path_of(session))
    await page.get_by_label("Your message").fill("Hello")
    box = await page.get_by_label("Your message").bounding_box()
    assert box is not None
    assert box["height"] >= 4 * 20, "lines"
    await page.get_by_role("button", name="Send").click()
    await expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    await expect(page.get_by_text("Sage is still answering")).to_have_count(0)
    await page.get_by_role("button", name="Not <so> good").click()
    await expect(page.locator("#open-turn .is-chosen")).to_contain_text("Not <so> good")
    await page.get_by_label("Add a note").fill("By form")
    await page.get_by_role("button", name="Save ratings").click()
    await expect(page.locator('[data-fault="ratings"]')).to_contain_text("Please rate at least one area")
    await expect(page.get_by_label("Add a note")).to_have_value("By form")
    await page.get_by_role("group", name="Health").get_by_text("2", exact=True).click()
    await page.get_by_role("button", name="Save ratings").click()
    await expect(page.locator("#open-turn .ratings")).to_contain_text("Health")
    await page.get_by_role("button", name="Skip").click()
    await expect(page.locator("#messages .is-dismissed")).to_contain_text("And now?")
    assert await states(session) == ["answered", "answered", "dismissed"]
    refused = [fault for fault in watcher.faults if "status of 422" in fault]
    assert watcher.faults == refused[:1]


async def test_axe_finds_nothing_serious_around_questions(
    practice: PracticeServer, open_context: OpenContext, cookie: str, session: Session
) -> None:
    practice.script([Reply.of(Text("First."), PILLS, PULSE), "Thank you.", Reply.of(MORE_PILLS)])
    page = await (await open_context(cookie)).new_page()
    await page.goto(path_of(session))
    await say(page, "Hello")
    await until_asked(page, "How did you wake?")
    findings = await serious_findings(page)
    await page.get_by_role("button", name="Fine").click()
    await until_asked(page, "How do these feel?")
    await page.get_by_role("group", name="Career").get_by_text("3", exact=True).click()
    findings += await serious_findings(page)
    await page.get_by_role("button", name="Save ratings").click()
    await until_done(page)
    findings += await serious_findings(page)
    await say(page, "And more")
    await until_asked(page, "And now?")
    await page.get_by_role("link", name="Edit").click()
    findings += await serious_findings(page)
    await page.goto("/chat/")
    findings += await serious_findings(page)
    assert findings == []
