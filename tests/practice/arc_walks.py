"""Whole arcs, walked with the scripted coach."""

from tests.practice.walking import TODAY, Walk

ASKED_FOR = {
    "life_mapping": "Can we map my life?",
    "open_day": "let's open my day",
    "close_day": "I'd like to close the day",
    "weekly_checkin": "let's do my weekly check-in",
}

LOG, PLAN, CHECKIN = f"daily-logs/{TODAY}.md", f"day-plans/{TODAY}.md", f"check-ins/{TODAY}.md"


async def map_life(walk: Walk) -> None:
    await walk.tap("work")
    await walk.say("My job is fine but dull, 3. Money is tight since we moved; finances need attention.")
    await walk.tap("people")
    await walk.say("I see my sister too rarely. I have no hobbies at all at the moment.")
    await walk.tap("body")
    await walk.say("I sleep badly, 2. Learning: later")
    await walk.say("I paint on Sundays and it's thriving. As to meaning, I miss a direction.")
    await walk.rate(career=3, health=2, play=1)
    await walk.say("It all hangs on sleep, I want calmer days")
    await walk.say("In bed by eleven on Monday")
    await walk.say("I have two kids and work nights")


async def open_day(walk: Walk) -> None:
    await walk.tap("tired")
    await walk.say("finish the report, call mum and go for a run")
    await walk.say("Unhurried")


async def close_day(walk: Walk) -> None:
    await walk.say("Work was long, my boss was nice for once. I went for a run.")
    await walk.tap("little")
    await walk.tap("calm")
    await walk.say("The run along the river. I want to let go of the emails.")
    await walk.tap("yes")


async def check_in(walk: Walk) -> None:
    await walk.say("Deadlines every day, but my sister visited on Sunday.")
    await walk.rate(career=3, health=4, play=3)
    await walk.say("The new project eats my evenings.")
    await walk.say("deadlines, my sister")
    await walk.say("Leave at five on Wednesday")


WALKS = {"life_mapping": map_life, "open_day": open_day, "close_day": close_day, "weekly_checkin": check_in}
