"""What strangers say plainly, in several wordings each, and the kind of answer it gets in English."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.known_scenes import scenes
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, TalkWalk

ABOUT_SAGE = {
    "able": (
        "What exactly do you do?", "wat can u do", "so what is this for?", "How does this work?",
        "ok so it's like a diary?", "I don't get what this is supposed to be",
    ),
    "identity": (
        "Are you an AI?", "so who am i talking to?", "Am I talking to a real person?",
        "Hm. So it's not an actual AI?", "is there anybody real behind this",
    ),
    "therapist": ("are you a therapist?", "Is this therapy?", "Can you diagnose me?"),
    "available": ("are you always here", "can i come back tomorrow?", "never mind. Are you always here?"),
    "real": ("Is it free?", "how much does this cost?", "do I have to pay"),
    "time": ("How long does this take?", "how many questions is that"),
    "stored": ("What do you do with my data?", "And what do you do with the stuff I write here?"),
    "parts_shown": ("what's the life map?", "What is a check-in?"),
    "trust": ("I don't believe you", "hm, i can't really trust this"),
}  # fmt: skip
ANSWERED = {
    "whyask": ("why do you ask?", "Why do you want to know that"),
    "doubts_tip": ("does that really work?", "Why would that help"),
    "of_them": ("Do you think he hates me?", "Do you think they miss me?", "why won't he talk to me?"),
    "normal": ("Is it normal to feel this bad about a flat?", "am I the only one who feels like this?"),
    "takes_idea": ("I like that", "That could work", "good idea", "Thanks, that's decent advice"),
    "doubt": ("Can I be honest? I think this is silly", "I don't really buy into coaching"),
    "wait": ("I need to think", "ok i need to think about it"),
    "tried": ("tried that", "nah thats not me", "no, that doesn't work for me"),
    "whyself": ("Why do I never finish anything?", "why can't I just start"),
}  # fmt: skip
ADVISED = {
    "putoff": ("How do I stop procrastinating?", "I keep putting off my tax return | what should I do?"),
    "sleep": ("I can't sleep at the moment | any ideas?", "Didn't sleep again | what can I do?"),
    "quarrel": ("My son and I had a huge fight | How do I talk to him about it?",),
    "money": ("two clients haven't paid me | what would you suggest?", "I'm in debt | any advice?"),
    "lonely": ("I'm lonely here | what do other people do?",),
    "exam": ("I have finals in nine days | how do I cope?", "i think im gonna fail my driving test | tips?"),
    "saying_no": ("How can I say no without sounding rude?",),
    "breakup": ("I got dumped two weeks ago | what do people usually do?",),
    "habit": ("I can't stop eating at night | I asked for an idea, not a question",),
    "decide": ("should I get a dog?",),
}  # fmt: skip


async def _last(http: Http, talk: str) -> str:
    walk = TalkWalk(http, header=CONTEXT.format(language="English"))
    return [await walk.say(turn) for turn in talk.split(" | ")][-1]


def _pairs(table: dict[str, tuple[str, ...]]) -> list[tuple[str, str]]:
    return [(name, words) for name, all_words in table.items() for words in all_words]


@pytest.mark.parametrize(("name", "words"), _pairs(ABOUT_SAGE), ids=lambda each: each)
async def test_a_question_about_sage_is_answered_whatever_was_told(http: Http, name: str, words: str) -> None:
    reply = await _last(http, f"We painted the shed green | {words}")
    assert any(each in reply for each in texts.questions()[name]), reply


@pytest.mark.parametrize(("name", "words"), _pairs(ANSWERED), ids=lambda each: each)
async def test_what_is_said_of_an_answer_is_heard_as_such(http: Http, name: str, words: str) -> None:
    before = "I can't sleep | any ideas?" if name == "takes_idea" else "We painted the shed green"
    reply = await _last(http, f"{before} | {words}")
    heads = [each.partition("?")[0].partition("{")[0] for each in texts.answers(name)]
    assert any(each in reply for each in heads), reply


@pytest.mark.parametrize(("name", "talk"), _pairs(ADVISED), ids=lambda each: each)
async def test_who_asks_what_to_do_gets_common_advice_for_it(http: Http, name: str, talk: str) -> None:
    reply = await _last(http, talk)
    with texts.speaking("en"):
        scene = next(each for each in scenes("en") if each.name == name)
    assert any(each in reply for each in scene.asks), reply


@pytest.mark.parametrize(
    "words", ["you didn't answer my question", "That was a real question", "I asked you why"]
)
async def test_a_question_passed_over_is_named_and_answered(http: Http, words: str) -> None:
    reply = await _last(http, f"Why did the shed take so long? | {words}")
    assert "“Why did the shed take so long?”" in reply


@pytest.mark.parametrize("words", ["no, that's not what I said", "You misunderstood me", "I never said that"])
async def test_who_was_taken_wrongly_hears_their_own_words(http: Http, words: str) -> None:
    assert "“We painted the shed green”" in await _last(http, f"hi | We painted the shed green | {words}")


async def test_a_subject_is_known_or_named(http: Http) -> None:
    assert "About roses I know nothing" in await _last(http, "Do you know anything about roses?")


async def test_a_promise_of_it_is_what_was_said_before(http: Http) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language="English"))
    for words in ("I could leave the phone in the hall", "I'll do that from tonight"):
        await walk.say(words)
    assert [step["title"] for step in walk.steps.values()] == ["Leave the phone in the hall"]
    await walk.say("The rain stopped")
    await walk.say("I'll do it tomorrow")
    assert len(walk.steps) == 1


async def test_a_wish_with_a_day_is_no_step(http: Http) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language="English"))
    for words in (
        "I want to go for a run tomorrow",
        "he wants me to call on Friday",
        "that could work on Monday",
    ):
        await walk.say(words)
    assert not walk.steps


@pytest.mark.parametrize(
    "words",
    [
        "I've sent three reminders already", "I already tried that twice",
        "Maybe I'll try again on Wednesday",
        "What if they find out I can't do it?",
    ],
)  # fmt: skip
async def test_everyday_words_bring_no_question_about_self_harm(http: Http, words: str) -> None:
    reply = await _last(http, f"We painted the shed green | {words}")
    assert not any(texts.stands_in(name, reply) for name in ("help_maybe", "help_first", "help_concern"))
