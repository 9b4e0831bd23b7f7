"""Who asks not to be asked again, and who doesn't."""

import pytest

from coaching.safety.no_more import wants_no_more_questions


@pytest.mark.parametrize(
    "text",
    [
        "I'm all right, don't ask again.",
        "Im fine. Please do not ask me about it again!",
        "Don’t ask me that anymore",
        "please stop asking",
        "Stop checking on me, I'm okay.",
        "You don't need to ask again.",
        "No need to check on me any more.",
        "never ask me how I am again",
        "I'm good. Don't bring it up again.",
        "Mir geht's gut, frag nicht mehr.",
        "Alles in Ordnung. Frag mich bitte nicht wieder.",
        "Hör auf, mich das zu fragen.",
        "Du brauchst nicht mehr zu fragen.",
        "Estoy bien, no me preguntes más.",
        "Deja de preguntarme.",
        "Ça va, ne me demande plus.",
        "Arrête de me demander.",
        "Sto bene, non chiedermelo più.",
        "Estou bem, não pergunte mais.",
        "Het gaat goed, vraag het niet meer.",
    ],
)
def test_a_plain_request_is_heard(text: str) -> None:
    assert wants_no_more_questions(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'm all right.",
        "Ask me again tomorrow.",
        "Why don't you ask me again?",
        "My mother said: don't ask again.",
        "He told me “don't ask again”, and I cried.",
        "Don't ask me again to do the dishes, I told my son.",
        "I'll never ask him for money again.",
        "I want to die, don't ask again.",
        "Frag mich nicht mehr nach meiner Arbeit.",
        "No me preguntes, no lo sé.",
        "I don't ask for help any more.",
        "Don't ask again. " + "And then it went on and on. " * 20,
    ],
)
def test_anything_else_isnt(text: str) -> None:
    assert not wants_no_more_questions(text)
