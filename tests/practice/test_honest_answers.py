"""What the guided tour must not mistake: danger for a refusal to rate, or an answer for something else."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.fitting import fits
from coaching.practice.coach.hearing import danger_heard, hear, is_about
from coaching.practice.coach.tables import ARCS, BY_LANGUAGE
from coaching.safety.card import danger_in
from tests.practice.arc_walks import LOG, PLAN
from tests.practice.conftest import Http
from tests.practice.test_beside import begun, is_asked

IN_DANGER = {
    "en": """
I can't see myself living much longer at this rate
No numbers. I want it all to stop
no numbers, I'd rather not wake up tomorrow
not going to rate a life I don't want
I can't rate this, I'd be better off gone
I have no one, I can't rate this, tonight it ends
No numbers. I want it to end
I don't want to rate my life, I want to end it
I won't rate my life. I want to die
I'm not going to rate my life any more, I don't want to live
I don't feel like rating this, I don't feel like living
I don't want to rate it, I want to kill myself
I refuse to rate my life, there is no point in living
no ratings, I took all my pills
I'm not going to rate this, I won't be here tomorrow
don't want to score my life, I want to be dead
I don't feel like living, so I won't rate it
""",
    "de": """
leben mag ich jetzt nicht mehr
das Leben mag ich nicht mehr
hier sein will ich nicht mehr
da sein möchte ich nicht mehr
am Leben sein will ich nicht
ich will mein Leben nicht bewerten, ich will sterben
mein Leben bewerte ich nicht, ich will nicht mehr leben
keine Noten, ich will mich umbringen
ich will nichts bewerten, ich will nicht mehr da sein
Punkte vergebe ich nicht, ich will tot sein
keine Zahlen bitte, ich will nicht mehr aufwachen
ich bewerte nichts, ich bringe mich um
nein, das bewerte ich nicht, ich will nicht mehr leben
ich mag mein Leben nicht bewerten, ich mag nicht mehr leben
ohne Noten, ich will einfach nur sterben
""",
    "es": """
no voy a poner números, me quiero ir para siempre
no quiero dar puntos, tengo las pastillas aquí
no quiero poner notas a mi vida, quiero morirme
no quiero puntuar mi vida, no quiero vivir
no voy a puntuar nada, me quiero matar
sin notas, quiero morir
no pienso puntuar esto, quiero suicidarme
no quiero poner notas a nada, ya no quiero vivir
prefiero no puntuar mi vida, prefiero estar muerta
no quiero calificar mi vida, quiero quitarme la vida
nada de notas, quiero matarme
no me apetece puntuar esto, no me apetece vivir, quiero morir
""",
}


@pytest.mark.parametrize(
    ("language", "words"),
    [(code, line) for code, lines in IN_DANGER.items() for line in lines.split("\n") if line],
)
def test_danger_is_never_taken_for_a_refusal_to_rate(language: texts.Language, words: str) -> None:
    with texts.speaking(language):
        assert danger_in(words) is not None
        assert danger_heard(words) == danger_in(words)
        assert hear(words).kind == "danger"


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "I don't feel like rating my life right now"),
        ("en", "I don't want to rate my life any more"),
        ("de", "ich will mein Leben nicht mehr bewerten"),
        ("es", "no quiero puntuar mi vida ahora"),
    ],
)
def test_a_message_that_is_wholly_a_refusal_to_rate_is_no_danger(
    language: texts.Language, words: str
) -> None:
    with texts.speaking(language):
        assert is_about("only_no_ratings", words)
        assert danger_heard(words) is None


async def test_danger_with_a_refusal_to_rate_gets_no_words_about_ratings(http: Http) -> None:
    walk = await begun(http, "life_mapping")
    reply = await walk.say("No numbers. I want it all to stop")
    assert not any(said in reply for said in texts.reactions("declines"))
    assert not is_asked(walk, reply)
    assert not walk.files


ANSWERS = [
    ("en", "close_day", "story", "I don't think I did enough today"),
    ("en", "close_day", "story", "I want to talk to my sister but she's busy"),
    ("en", "close_day", "story", "Thank you letters all day, then tea with Mum"),
    ("en", "close_day", "story", "not my best day, really"),
    ("en", "close_day", "story", "I slept for nine hours"),
    ("en", "close_day", "keep", "my daughter said I love you"),
    ("en", "close_day", "keep", "Just looking around the garden with tea"),
    ("en", "weekly_checkin", "week", "I don't think it was a good one, too many meetings"),
    ("en", "open_day", "priorities", "get my divorce papers signed"),
    ("en", "open_day", "priorities", "Visit dad in hospital"),
    ("en", "open_day", "intention", "thanks and gratitude"),
    ("en", "life_mapping", "career", "I was fired last month"),
    ("en", "life_mapping", "career", "I don't think my boss values me"),
    ("en", "life_mapping", "career", "it's ok but I don't sleep because of it"),
    ("en", "life_mapping", "relationships", "My wife and I don't talk any more"),
    ("en", "life_mapping", "health", "I was diagnosed with diabetes"),
    ("en", "life_mapping", "finances", "I can't make the numbers add up"),
    ("en", "life_mapping", "learning", "I never get good grades"),
    ("en", "life_mapping", "meaning", "I don't think there is any"),
    ("de", "life_mapping", "career", "nur Stress, ich schlafe schlecht"),
    ("de", "life_mapping", "relationships", "Mit meinem Bruder will ich nicht mehr reden"),
    ("de", "life_mapping", "career", "Ich bin nicht an dem Punkt, wo ich sein wollte"),
    ("de", "open_day", "priorities", "Mama im Krankenhaus besuchen"),
    ("de", "open_day", "intention", "Heute mach ich nicht alles selbst"),
    ("es", "life_mapping", "career", "Estoy en paro desde mayo"),
    ("es", "life_mapping", "learning", "No saqué buenas notas este curso"),
    ("es", "life_mapping", "relationships", "No quiero hablar mal de él, pero me ignora"),
    ("es", "life_mapping", "relationships", "bien, gracias a Dios"),
]


@pytest.mark.parametrize(("language", "kind", "name", "words"), ANSWERS)
def test_an_honest_answer_is_one_however_hard_it_is(
    language: texts.Language, kind: str, name: str, words: str
) -> None:
    with texts.speaking(language):
        assert hear(words).kind == "answer"
        assert fits(words, BY_LANGUAGE[language][kind].slot(name))
        assert not any(is_about(each, words) for each in ("no_ratings", "not_about"))


@pytest.mark.parametrize(
    ("language", "story", "energy"),
    [
        ("en", "Not much happened, a quiet day", "not much, honestly"),
        ("de", "Nicht viel passiert heute", "nicht viel, bin müde"),
        ("es", "No sé qué hacer con mi trabajo", "no sé, poca"),
        ("en", "I saw the art show", "not art, health"),
    ],
)
async def test_what_only_sounds_like_a_correction_changes_nothing(
    http: Http, language: texts.Language, story: str, energy: str
) -> None:
    walk = await begun(http, "close_day", language)
    for words in (story, energy):
        await walk.say(words)
    for value in ("calm", "play"):
        await walk.tap(value)
    await walk.say({"en": "skip", "de": "später", "es": "luego"}[language])
    with texts.speaking(language):
        assert texts.said("quoted", words=story) in walk.files[LOG].body
    assert energy.lower() in str(walk.files[LOG].attributes).lower()


@pytest.mark.parametrize(
    "intention",
    ["also patient with myself", "actually call it a day early", "plus a little kinder", "add some joy"],
)
async def test_an_intention_adds_nothing_to_the_priorities(http: Http, intention: str) -> None:
    walk = await begun(http, "open_day")
    await walk.tap("tired")
    await walk.say("call Ana, report")
    await walk.say(intention)
    assert walk.files[PLAN].attributes["priorities"] == ["Call Ana", "Report"]
    assert walk.files[PLAN].attributes["intention"].lower() == intention.lower()


async def test_the_gravest_answer_is_written_before_the_tour_rests(http: Http) -> None:
    words = "We divorced in May and I miss the kids every single day"
    walk = await begun(http, "life_mapping")
    await walk.say("good")
    reply = await walk.say(words)
    assert texts.stands_in("rests_kept", reply)
    assert words in walk.files["life-map/relationships.md"].body
    await walk.say("stop")
    assert words in walk.files["life-map/relationships.md"].body


async def test_a_page_that_cant_be_written_is_said_to_be_unwritten(http: Http) -> None:
    walk = await begun(http, "life_mapping")
    walk.refused_types = {"domain"}
    reply = await walk.say("I was fired last month")
    assert not walk.files
    assert not texts.stands_in("rests_kept", reply)


async def test_what_is_kept_for_the_end_is_said_to_be(http: Http) -> None:
    walk = await begun(http, "close_day")
    assert texts.said("kept_for_end") in await walk.say("My husband left me this morning, just like that")


async def test_an_answer_is_taken_though_the_question_waits_after_two_asides(http: Http) -> None:
    walk = await begun(http, "close_day")
    await walk.say("can you sing?")
    assert texts.stands_in("rests", await walk.say("tell me a joke"))
    await walk.say("It was a long day at work, the train was late")
    for value in ("little", "calm", "play"):
        await walk.tap(value)
    await walk.say("skip")
    assert "It was a long day at work, the train was late" in walk.files[LOG].body


async def test_what_is_said_again_to_the_same_question_is_the_answer(http: Http) -> None:
    words = "my brother's in prison and it's visiting day"
    walk = await begun(http, "open_day")
    await walk.tap("tired")
    for each in (words, "go on", words, "go on", "calm"):
        await walk.say(each)
    assert any("prison" in item for item in walk.files[PLAN].attributes["priorities"])


async def test_at_rest_a_page_that_stands_isnt_said_to_be_unwritten(http: Http) -> None:
    walk = await begun(http, "life_mapping")
    for words in ("good", "can you sing?", "tell me a joke"):
        await walk.say(words)
    reply = await walk.say("please don't write that down")
    assert "life-map/career.md" in walk.files
    assert "haven't put it into a file" not in reply
    assert not is_asked(walk, reply)


async def test_one_capitalised_word_is_no_name(http: Http) -> None:
    walk = await begun(http, "open_day")
    walk.without |= {"recall_context"}
    await walk.say("Tired")
    assert "Tired" not in await walk.say("do you remember her name?")


def test_every_part_of_life_takes_what_touches_another() -> None:
    for slot in ARCS["life_mapping"].slots:
        if slot.kind == "words":
            assert fits("My anxiety is through the roof", slot)
