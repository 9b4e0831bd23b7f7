"""The tour says that it is a script in its first answer and when it is asked, not again and again."""

import re

import pytest

from coaching.practice.coach.texts import Language
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

SCRIPT = re.compile(r"\b(?:script|Skript|guion)", re.IGNORECASE)
SAID = {
    "en": [
        "I've been sleeping badly for weeks", "My boss keeps pushing me", "I don't know", "Pity",
        "Can you write him an email for me?", "What's the weather tomorrow?", "I'm afraid of that",
        "What's the capital of Peru?", "My sister doesn't call any more", "Thanks",
    ],
    "de": [
        "Ich schlafe seit Wochen schlecht", "Mein Chef macht mir Druck", "Ich weiß nicht", "Schade",
        "Kannst du mir eine Mail an ihn schreiben?", "Wie wird das Wetter morgen?", "Ich habe Angst davor",
        "Was ist die Hauptstadt von Peru?", "Meine Schwester meldet sich nicht mehr", "Danke",
    ],
    "es": [
        "Llevo semanas durmiendo mal", "Mi jefe me presiona mucho", "No lo sé", "Qué pena",
        "¿Me escribes un correo para él?", "¿Qué tiempo hará mañana?", "Me da miedo eso",
        "¿Cuál es la capital de Perú?", "Mi hermana ya no me llama", "Gracias",
    ],
}  # fmt: skip
ASKED = {"en": "Are you human?", "de": "Bist du ein Mensch?", "es": "¿Eres una persona?"}


@pytest.mark.parametrize("language", ["en", "de", "es"])
async def test_it_says_once_that_it_is_a_script_and_again_when_it_is_asked(
    http: Http, language: Language
) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    first, *others = [await walk.say(words) for words in SAID[language]]
    assert SCRIPT.search(first)
    assert [told for told in others if SCRIPT.search(told)] == []
    assert SCRIPT.search(await walk.say(ASKED[language]))
