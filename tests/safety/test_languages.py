"""The rules in the languages that Sage knows besides English, and what the English ones ignore."""

import pytest

from coaching.safety.danger import find_danger
from coaching.safety.languages import LANGUAGES, languages_in


@pytest.mark.parametrize(
    ("words", "level", "about"),
    [
        ("Ich will nicht mehr leben.", "immediate", "self"),
        ("Ich bringe mich heute um", "immediate", "self"),
        ("Mein Mann hat mich gestern geschlagen.", "immediate", "self"),
        ("Meine Freundin ritzt sich, was soll ich tun?", "concern", "other"),
        ("Ohne mich wären alle besser dran.", "concern", "self"),
        ("Je n’ai plus envie de vivre", "immediate", "self"),
        ("Mon copain m’a frappée hier soir", "immediate", "self"),
        ("Ma sœur parle de se suicider", "concern", "other"),
        ("Ce soir je me fous en l'air, c'est décidé", "immediate", "self"),
        ("J'en finis ce soir", "immediate", "self"),
        ("Me quito de en medio esta noche", "immediate", "self"),
        ("No quiero seguir viviendo, ya no puedo", "immediate", "self"),
        ("Mi marido me pega cuando bebe", "immediate", "self"),
        ("Mi hermano dice que quiere matarse", "concern", "other"),
        ("Non voglio più vivere", "immediate", "self"),
        ("Mio padre mi picchia ogni sera", "immediate", "self"),
        ("Não quero mais viver", "immediate", "self"),
        ("Meu namorado me bateu ontem", "immediate", "self"),
        ("Ik wil niet meer leven", "immediate", "self"),
        ("Als ik er niet meer was, zou het voor iedereen beter zijn", "concern", "self"),
    ],
)
def test_danger_is_noticed_with_its_level_and_whose_it_is(words: str, level: str, about: str) -> None:
    danger = find_danger(words)
    assert danger is not None
    assert (danger.level, danger.about) == (level, about)


@pytest.mark.parametrize(
    "words",
    [
        "Ich will mich nicht umbringen.", "Ich habe keine Suizidgedanken.", "Diese Deadline bringt mich um!",
        "Früher wollte ich sterben, das ist lange her.", "Ich habe einen Roman über Selbstmord gelesen.",
        "Ich bin todmüde und sterbe vor Hunger.", "Je suis morte de rire", "Je n’ai pas d’idées suicidaires",
        "Ce projet me tue", "Me muero de hambre", "Este trabajo me está matando",
        "No tengo pensamientos suicidas", "Sto morendo dal ridere", "Não quero morrer, claro",
        "Estou morrendo de fome", "Ik lach me dood", "Ik wil niet dood.", "Ik ben doodmoe van het werk",
        "Tomar mis pastillas de la tensión a las ocho", "Mein Bruder hat mich im Schach geschlagen",
        "Estoy en el puente en un atasco", "Me corté un poco pelando papas",
    ],
)  # fmt: skip
def test_idioms_denials_the_past_and_books_are_not_danger(words: str) -> None:
    assert find_danger(words) is None


def test_the_languages_of_a_text_are_told_from_its_frequent_words() -> None:
    assert (
        languages_in("good morning, what shall we plan for the day before lunch, and for the evening") == []
    )
    assert "german" in languages_in("heute war ein guter tag und ich habe viel geschafft, aber nicht alles")
    assert languages_in("panique") == LANGUAGES


@pytest.mark.parametrize(
    "words",
    [
        "This job is going to kill me", "my boss is going to kill me lol", "The last sprint nearly killed us",
        "I’m killing myself to finish this report",
        "I would rather jump off a bridge than sit through another standup",
        "I could strangle my coworker when he chews", "Do I want to die? No. I’m just tired.",
        "I’m nowhere near suicidal", "I have no plans to kill myself, I promise",
        "It’s not that I want to die, I just hate Mondays",
        "When I was at university I tried to kill myself. I’m happily married now.",
        "Twenty years back I wanted to die; that’s over.",
    ],
)  # fmt: skip
def test_work_talk_a_clear_no_and_the_long_past_are_not_danger(words: str) -> None:
    assert find_danger(words) is None


@pytest.mark.parametrize(
    "words",
    [
        "work is killing me and I want to kill myself", "My boss raped me",
        "My boyfriend said he’s going to kill me if I leave",
        "When I was 15 I tried to kill myself and lately it’s back",
        "Do you think I’m joking? No, I have the pills here in my hand",
    ],
)  # fmt: skip
def test_danger_beside_them_is(words: str) -> None:
    assert find_danger(words) is not None
