"""Saved steps in English, German and Spanish alike: corrected, asked about, requested, said twice, owed."""

import pytest

from coaching.practice.coach import texts
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

FRIDAY, SATURDAY, WEDNESDAY = "2026-11-27", "2026-11-28", "2026-11-25"
NOTED = {
    "en": "I'll call the dentist on Friday",
    "de": "am freitag ruf ich den zahnarzt an",
    "es": "el viernes llamo al dentista",
}
MOVED = {
    "en": ["no, saturday", "make it saturday", "friday doesn't work, put it on saturday", "saturday then",
           "it's on saturday, not friday. can you change that?",
           "actually make it saturday, they're shut friday",
           "my boss shouted at me today. anyway make it saturday"],
    "de": ["nein, samstag", "mach samstag draus", "ach nee samstag geht besser", "na warte, erst am samstag",
           "der termin ist am samstag, nicht am freitag. kannst du das ändern?",
           "ich wollte, dass du freitag in samstag änderst"],
    "es": ["no, el sabado", "mejor el sábado", "al final el viernes no puedo, ponlo el sabado",
           "que sea el sábado",
           "espera, es el sábado, no el viernes. ¿puedes cambiarlo?", "no no, dije el sabado"],
}  # fmt: skip
STAYS = {
    "en": ["better at eleven", "it's the doctor, not the dentist", "Friday is my birthday"],
    "de": ["lieber um elf", "es heißt hausarzt, nicht zahnarzt", "Freitag hab ich Geburtstag"],
    "es": ["Mejor a las diez, que a las once tengo reunión", "es el médico, no el dentista",
           "El viernes es mi cumple"],
}  # fmt: skip
ONLY_DAY = {
    "en": "only move it to another day",
    "de": "nur auf einen anderen Tag",
    "es": "solo puedo pasarlo a otro",
}
DROPPED = {
    "en": ["delete it", "take it off again", "take that off the list", "no, scrap that please"],
    "de": [
        "lösch das wieder",
        "doch nicht, streich das bitte von der liste",
        "danke, nimm das wieder runter",
    ],
    "es": ["bórralo", "quitalo de la lista", "borra eso por favor", "gracias, sacalo de la lista"],
}
ASKED = {
    "en": [("did you save it?", "Yes."), ("which day did you write down", "noted like this"),
           ("is the time saved too?", "Only the day"), ("where do I change that", "open it"),
           ("who gets reminded", "Only you"), ("what's on my list?", "I've put on your list"),
           ("is tomorrow wednesday", "Today is Tuesday")],
    "de": [("hast du das gespeichert?", "Ja."), ("welchen tag hast du aufgeschrieben", "Notiert ist es so"),
           ("hast du die uhrzeit auch?", "nur der Tag"), ("wo kann ich das selber ändern", "Öffne ihn"),
           ("wer erinnert mi da dran?", "Nur du selbst"),
           ("was steht auf meiner liste?", "auf deine Liste gesetzt"),
           ("ist morgen mittwoch?", "Heute ist Dienstag")],
    "es": [("lo has guardado?", "Sí."), ("que dia has apuntado?", "apuntado así"),
           ("¿y la hora?", "Solo está apuntado"),
           ("dónde lo cambio?", "ábrelo"), ("quien me avisa?", "Solo a ti"),
           ("que hay en la lista?", "he puesto en tu lista"),
           ("mañana es miercoles?", "Hoy es martes")],
}  # fmt: skip
REQUESTED = [
    ("en", "can you put buy stamps on my list for thursday?", ["Buy stamps"]),
    ("en", "add three things to my list: bins, call gran, pay the bill",
     ["Bins", "Call gran", "Pay the bill"]),
    ("en", "add to my list buy flowers", ["Buy flowers"]),
    ("de", "kannst du die steuer für freitag auf meine liste setzen? ich vergess das sonst", ["Die steuer"]),
    ("de", "notiere drei dinge: wäsche, bad putzen und mama anrufen",
     ["Wäsche", "Bad putzen", "Mama anrufen"]),
    ("de", "notier bitte für donnerstag dass ich den vermieter anrufe", ["Den vermieter anrufen"]),
    ("es", '¿me puedes poner "llamar a Moira" en la lista para el jueves?', ["Llamar a Moira"]),
    ("es", "apuntame tres cosas: sacar la basura, llamar a mama y pagar",
     ["Sacar la basura", "Llamar a mama", "Pagar"]),
    ("es", "apunta lo de llamar a mi hermana el jueves", ["Llamar a mi hermana"]),
]  # fmt: skip
ADDED = {
    "en": ("put milk on my list", ["that too: eggs", "and bread as well"], ["Eggs", "Bread"]),
    "de": ("setz milch auf die liste", ["das auch: eier", "und brot auch"], ["Eier", "Brot"]),
    "es": ("pon leche en la lista", ["eso tambien: huevos", "y pan también"], ["Huevos", "Pan"]),
}
AGAIN = {
    "en": ["I'll phone my sister tomorrow", "on Wednesday I'll phone my sister"],
    "de": ["morgen ruf ich meine schwester an", "am mittwoch rufe ich meine Schwester an"],
    "es": ["mañana llamo a mi hermana", "el miercoles llamo a mi hermana"],
}
OWED = {
    "en": ("I need to call the dentist on Wednesday", "yes please", "no thanks", "Call the dentist"),
    "de": ("ich muss am Mittwoch zum Zahnarzt", "ja bitte", "nö lass mal", "Zum Zahnarzt"),
    "es": ("tengo que llamar al dentista el miércoles", "si porfa", "no hace falta", "Llamar al dentista"),
}
NONE = [
    ("en", "last friday I was at the dentist"),
    ("de", "letzten freitag war ich beim zahnarzt"),
    ("es", "el viernes pasado fui al dentista"),
    ("en", "i have to hand in my notice by friday and i'm terrified"),
    ("de", "ich muss bis freitag kündigen und hab solche angst davor"),
    ("es", "tengo que renunciar antes del viernes y me da mucho miedo"),
    ("en", "right i'm off to bed, no phone tonight, i promise"),
    ("en", "I go swimming every monday"),
    ("en", "my brother will call the bank on friday"),
    ("en", "I was going to ring him on monday"),
    ("de", "so ich geh jetzt ins bett, heute ohne handy, versprochen!"),
    ("de", "jeden montag geh ich schwimmen"),
    ("de", "mein bruder ruft am freitag die bank an"),
    ("de", "ich muss morgen zur beerdigung von meiner tante"),
    ("es", "me voy a la cama y hoy sin móvil, prometido"),
    ("es", "todos los lunes voy a nadar"),
    ("es", "mi hermano llama al banco el viernes"),
    ("es", "mañana tengo que ir al entierro de mi tia"),
]
LEAVING = [
    ("en", "night night, I'll call my mum tomorrow", "Call my mum"),
    ("de", "na dann gute nacht, ich meld mich morgen bei meiner mutter", "Ich meld mich bei meiner mutter"),
    ("es", "me voy a dormir, mañana llamo a mi madre", "Llamo a mi madre"),
]


def begun(http: Http, language: str) -> TalkWalk:
    return TalkWalk(http, header=CONTEXT.format(language=NAMES[language]), says_yes=True)


def each_of(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(language, words) for language, said in table.items() for words in said]


@pytest.mark.parametrize(("language", "words"), each_of(MOVED))
async def test_a_step_is_moved_to_the_day_that_a_correction_names(
    http: Http, language: str, words: str
) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    await walk.say(words)
    assert [step["due_date"] for step in walk.steps.values()] == [SATURDAY]


@pytest.mark.parametrize(("language", "words"), each_of(STAYS))
async def test_a_time_or_a_name_moves_no_step(http: Http, language: str, words: str) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    reply = await walk.say(words)
    assert [step["due_date"] for step in walk.steps.values()] == [FRIDAY]
    assert (ONLY_DAY[language] in reply) == (words != STAYS[language][-1])


@pytest.mark.parametrize(("language", "words"), each_of(DROPPED))
async def test_a_step_that_was_just_noted_is_dropped_again(http: Http, language: str, words: str) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    await walk.say(words)
    assert walk.steps[1]["state"] == "dropped"


@pytest.mark.parametrize(
    ("language", "words", "said"), [(code, *each) for code, asked in ASKED.items() for each in asked]
)
async def test_a_question_about_what_was_noted_is_answered(
    http: Http, language: str, words: str, said: str
) -> None:
    walk = begun(http, language)
    await walk.say(NOTED[language])
    assert said in await walk.say(words)
    assert len(walk.steps) == 1


@pytest.mark.parametrize(("language", "words", "titles"), REQUESTED)
async def test_steps_are_noted_as_they_are_requested(
    http: Http, language: str, words: str, titles: list[str]
) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert [step["title"] for step in walk.steps.values()] == titles


@pytest.mark.parametrize("language", ADDED)
async def test_what_is_to_be_noted_too_is(http: Http, language: str) -> None:
    first, more, titles = ADDED[language]
    walk = begun(http, language)
    for words in [first, *more]:
        await walk.say(words)
    assert [step["title"] for step in walk.steps.values()][1:] == titles


@pytest.mark.parametrize("language", AGAIN)
async def test_a_step_that_is_said_twice_is_noted_once(http: Http, language: str) -> None:
    walk = begun(http, language)
    for words in AGAIN[language]:
        reply = await walk.say(words)
    assert [step["due_date"] for step in walk.steps.values()] == [WEDNESDAY]
    assert walk.steps[1]["title"] in reply or language == "de"


@pytest.mark.parametrize("language", OWED)
async def test_what_somebody_has_to_do_is_noted_after_a_yes(http: Http, language: str) -> None:
    words, yes, _, title = OWED[language]
    walk = begun(http, language)
    assert title in await walk.say(words)
    assert not walk.steps
    await walk.say(yes)
    assert [(step["title"], step["due_date"]) for step in walk.steps.values()] == [(title, WEDNESDAY)]


@pytest.mark.parametrize("language", OWED)
async def test_after_a_no_it_is_neither_noted_nor_offered_again(http: Http, language: str) -> None:
    words, _, no, title = OWED[language]
    walk = begun(http, language)
    await walk.say(words)
    await walk.say(no)
    assert title not in await walk.say(words)
    assert not walk.steps


@pytest.mark.parametrize(("language", "words"), NONE)
async def test_a_goodbye_a_habit_the_past_and_what_others_do_is_no_step(
    http: Http, language: str, words: str
) -> None:
    walk = begun(http, language)
    reply = await walk.say(words)
    assert not walk.steps
    assert not texts.stands_in("offer_step", reply)


@pytest.mark.parametrize(("language", "words", "title"), LEAVING)
async def test_a_promise_beside_a_goodbye_is_noted_without_it(
    http: Http, language: str, words: str, title: str
) -> None:
    walk = begun(http, language)
    await walk.say(words)
    assert [step["title"] for step in walk.steps.values()] == [title]


@pytest.mark.parametrize(
    ("language", "words", "time"),
    [
        ("en", "I'll clean the shed on Saturday at 10", "10:00"),
        ("en", "I'll call Ana on Saturday at half five", "17:30"),
        ("de", "am samstag räum ich um halb elf den keller auf", "10:30"),
        ("de", "am Samstag geh ich um acht Uhr abends laufen", "20:00"),
        ("es", "el sábado limpio el trastero a las diez", "10:00"),
        ("es", "el sábado llamo a Ana a las siete de la mañana", "07:00"),
    ],
)
async def test_the_time_that_is_said_is_kept_with_the_step(
    http: Http, language: str, words: str, time: str
) -> None:
    walk = begun(http, language)
    reply = await walk.say(words)
    assert [step["due_time"] for step in walk.steps.values()] == [time]
    assert time in reply
