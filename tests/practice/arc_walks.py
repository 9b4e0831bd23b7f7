"""Whole arcs, walked with the guided tour."""

from tests.practice.walking import TODAY, Walk

ASKED_FOR = {
    "life_mapping": "Can we map my life?",
    "open_day": "let's open my day",
    "close_day": "I'd like to close the day",
    "weekly_checkin": "let's do my weekly check-in",
}

LOG, PLAN, CHECKIN = f"daily-logs/{TODAY}.md", f"day-plans/{TODAY}.md", f"check-ins/{TODAY}.md"


async def map_life(walk: Walk) -> None:
    await walk.say("My job is fine but dull, 3 out of 5")
    await walk.say("I see my sister too rarely")
    await walk.tap("needs_attention")
    await walk.tap("okay")
    await walk.say("later")
    await walk.say("Thriving")
    await walk.tap("later")
    await walk.say("I miss a direction")
    await walk.rate(career=3, health=2, play=1)
    await walk.say("It all hangs on sleep")
    await walk.say("Calmer days")
    await walk.say("In bed by eleven on Monday")
    await walk.say("I have two kids and work nights")
    await walk.tap("yes")


async def open_day(walk: Walk) -> None:
    await walk.tap("tired")
    await walk.say("finish the report, call mum and dad, and go for a run")
    await walk.say("No hurry at all")
    await walk.tap("yes")


async def close_day(walk: Walk) -> None:
    await walk.say("Work was long, my boss was nice for once. I went for a run.")
    await walk.tap("little")
    await walk.tap("calm")
    await walk.tap("career")
    await walk.say("The run along the river")
    await walk.tap("yes")


async def check_in(walk: Walk) -> None:
    await walk.say("Deadlines every day, but my sister visited on Sunday.")
    await walk.rate(career=3, health=4, play=3)
    await walk.say("deadlines, my sister")
    await walk.say("Leave at five on Wednesday")
    await walk.tap("yes")


WALKS = {"life_mapping": map_life, "open_day": open_day, "close_day": close_day, "weekly_checkin": check_in}
