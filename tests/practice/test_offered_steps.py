"""What somebody has to do is offered for the list where it is an errand, and not beside hard things."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.texts import Language
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

NOT_OFFERED: dict[Language, list[list[str]]] = {
    "en": [
        ["I have to pay my dealer on Friday"],
        ["I need to have an abortion on Friday"],
        ["I have to identify my brother's body tomorrow"],
        ["I have to see the oncologist on Friday"],
        ["I have to go to court on Friday"],
        ["I have to get drunk tonight"],
        ["My husband left me", "I have to tell the kids on Friday"],
        ["I got fired", "I have to return the laptop on Friday"],
    ],
    "de": [
        ["Ich muss am Freitag meinen Dealer bezahlen"],
        ["Ich muss am Freitag zur Abtreibung"],
        ["Ich muss morgen meinen Bruder identifizieren"],
        ["Ich muss am Freitag zum Onkologen"],
        ["Ich muss am Freitag vor Gericht"],
        ["Ich muss mich heute Abend betrinken"],
        ["Mein Mann hat mich verlassen", "Ich muss es am Freitag den Kindern sagen"],
        ["Mir wurde gekündigt", "Ich muss am Freitag den Laptop abgeben"],
    ],
    "es": [
        ["Tengo que pagar a mi camello el viernes"],
        ["Tengo que abortar el viernes"],
        ["Mañana tengo que identificar a mi hermano"],
        ["Tengo que ir al oncólogo el viernes"],
        ["Tengo que ir al juzgado el viernes"],
        ["Tengo que emborracharme esta noche"],
        ["Mi marido me ha dejado", "Tengo que decírselo a los niños el viernes"],
        ["Me han despedido", "Tengo que devolver el portátil el viernes"],
    ],
}
OFFERED: list[tuple[Language, str]] = [
    ("en", "I have to return the books on Friday"),
    ("de", "Ich muss am Freitag die Bücher zurückgeben"),
    ("es", "Tengo que devolver los libros el viernes"),
]


@pytest.mark.parametrize(
    ("language", "said"), [(code, said) for code in NOT_OFFERED for said in NOT_OFFERED[code]]
)
async def test_nothing_is_offered_beside_medical_legal_and_grave_things_or_drink(
    http: Http, language: Language, said: list[str]
) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    replies = [await walk.say(words) for words in said]
    assert not texts.stands_in("offer_step", replies[-1])
    assert not walk.steps


@pytest.mark.parametrize(("language", "words"), OFFERED)
async def test_an_errand_is_offered(http: Http, language: Language, words: str) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    reply = await walk.say(words)
    assert texts.stands_in("offer_step", reply)
