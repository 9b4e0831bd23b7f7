"""What words mean besides what they name: the tour answers what somebody says, and not a word of it."""

import pytest

from coaching.practice.coach import texts
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk
from tests.practice.test_follow_ups import wordings_of

ROWS = [
    # A first word, a greeting or a "don't know what to say" hides no story and no question.
    (
        "en",
        "hey. so my manager just gave the lead role to the guy i trained. i dont even know what to say",
        "!begin",
    ),
    (
        "en",
        "Hi there! I'm not really in need of anything, my sister sent me the link. What exactly do you do?",
        "!begin",
    ),
    ("en", "Hi there! My sister sent me the link. What exactly do you do?", "!begin"),
    ("en", "Hi! My daughter set this up for me. I don't know what to write.", "begin"),
    ("de", "Hallo! Meine Schwester hat mir den Link geschickt. Was genau machst du?", "!begin"),
    ("es", "¡Hola! Mi hermana me recomendó esto. ¿Qué haces exactamente?", "!begin"),
    # A goodbye is met as one.
    (
        "en",
        "I went swimming with my granddaughter. | Anyway, thanks, I'll tell my sister I tried it. Bye!",
        "!felt",
    ),
    (
        "de",
        "Ich war mit meiner Enkelin schwimmen. | Danke, ich sag meiner Schwester Bescheid. Tschüss!",
        "!felt",
    ),
    # A wish to have something written down is told what is kept and how.
    (
        "en",
        "OK, the pizza's getting cold. Can I write down somewhere that today was the day we got the keys?",
        "jotask",
    ),
    (
        "de",
        "Dass ich es wieder nicht mache :D Kannst du mir das irgendwo aufschreiben, damit ich's morgen sehe?",
        "jotask",
    ),
    ("es", "¿Puedo apuntar en algún sitio que hoy nos dieron las llaves?", "jotask"),
    ("en", "I write down everything she says, somewhere it has to go", "!jotask"),
    # Of two feelings that are compared, the first is felt.
    (
        "en",
        "he got my job | I'm more hurt than angry I think. I really believed she saw what I was doing.",
        "!anger",
    ),
    ("de", "er hat meine Stelle bekommen | Ich bin eher verletzt als wütend.", "!anger"),
    ("es", "le dieron mi puesto | Estoy más dolida que enfadada, creo.", "!anger"),
    # What somebody longs for is no wish to the tour, and no mood.
    (
        "en",
        "My mum died in March. | She told me about her dinners. I'd give anything to be bored by that again.",
        "!bored",
    ),
    (
        "en",
        "my son hasnt spoken to me in weeks | um, i'd settle for a joke. he used to tell me everything",
        "!joke",
    ),
    ("en", "My dad died in May. | I miss his silly jokes", "!joke"),
]
"""A conversation, and the name of what its last answer is, or mustn't be."""


@pytest.mark.parametrize(("language", "talk", "name"), ROWS, ids=[f"{row[1]} {row[2]}" for row in ROWS])
async def test_words_are_answered_as_they_are_meant(
    http: Http, language: texts.Language, talk: str, name: str
) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]), without={"show_help_lines"})
    reply = [await walk.say(turn) for turn in talk.split(" | ")][-1]
    with texts.speaking(language):
        is_said = any(each in reply for each in wordings_of(name.removeprefix("!")))
    assert is_said is not name.startswith("!"), reply
