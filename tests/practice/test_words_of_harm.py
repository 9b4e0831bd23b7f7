"""Which steps would harm somebody, and which words mean harm: they go on no list, and get no praise."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.hearing import is_about
from coaching.practice.coach.requested import does_harm
from coaching.practice.coach.texts import Language

HARMFUL: dict[Language, tuple[str, ...]] = {
    "en": (
        "That it's all over", "Not eating", "Eat nothing until Sunday", "Only drink on Friday",
        "Just one beer", "Drink six beers", "My fists", "That he shuts up for good", "A double dose",
        "Halve the pills", "Take them from school and disappear", "Pay my dealer", "Get drunk tonight",
        "The balcony",
    ),
    "de": (
        "Dass alles vorbei ist", "Nichts essen", "Bis Freitag nichts essen", "Nur am Freitag trinken",
        "Nur ein Bier", "Sechs Bier trinken", "Ihm eine reinhauen", "Die doppelte Dosis nehmen",
        "Die Tabletten halbieren", "Mich betrinken", "Meinen Dealer bezahlen", "Nicht mehr da sein",
        "Der Balkon",
    ),
    "es": (
        "Que todo se acabe", "No comer", "No comer nada hasta el domingo", "Solo una cerveza",
        "Tomar seis cervezas", "Tomar el doble de dosis", "Partir las pastillas", "Emborracharme",
        "Pagar a mi camello", "Que yo ya no estaría", "No existir", "El balcón",
    ),
}  # fmt: skip
HARMLESS: dict[Language, tuple[str, ...]] = {
    "en": (
        "Eat less sugar", "Drink more water", "Have a beer with Tom", "Buy beer for the party",
        "Call the car dealer", "Take the kids to school", "Ask the doctor about the dose",
        "Water the balcony plants", "Ring when the meeting is over", "Only drink water",
    ),
    "de": (
        "Weniger Zucker essen", "Mehr Wasser trinken", "Ein Bier mit Tom trinken", "Bier für das Fest kaufen",
        "Beim Autohändler anrufen", "Den Balkon bepflanzen", "Nach der Dosis fragen",
        "Anrufen, wenn die Prüfung vorbei ist", "Nichts Süßes essen",
    ),
    "es": (
        "Acostarme antes",
        "Comer menos azúcar", "Beber más agua", "Tomar una cerveza con Juan",
        "Comprar cerveza para la fiesta",
        "Preguntar por la dosis", "Regar el balcón", "No comer dulces", "Llamar cuando se acabe la reunión",
    ),
}  # fmt: skip
MEANT: dict[Language, str] = {
    "en": "I have to pay my dealer on Friday",
    "de": "Ich muss mich heute Abend betrinken",
    "es": "Tengo que emborracharme esta noche",
}


@pytest.mark.parametrize("language", texts.LANGUAGES)
def test_a_step_that_harms_somebody_is_known_as_one(language: Language) -> None:
    with texts.speaking(language):
        assert not [words for words in HARMFUL[language] if not does_harm(words)]


@pytest.mark.parametrize("language", texts.LANGUAGES)
def test_an_everyday_step_with_such_words_is_not_taken_for_harm(language: Language) -> None:
    with texts.speaking(language):
        assert not [words for words in HARMLESS[language] if does_harm(words)]


@pytest.mark.parametrize("language", texts.LANGUAGES)
def test_who_has_to_get_drunk_means_harm(language: Language) -> None:
    with texts.speaking(language):
        assert is_about("means_harm", MEANT[language])
