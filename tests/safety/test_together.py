"""What words of several meanings tell together is danger, in any order, unless others make it harmless."""

import time

import pytest

from coaching.safety import together
from coaching.safety.danger import find_danger
from coaching.safety.languages import Found
from coaching.safety.readable import plain_letters, readable
from tests.patience import is_quick

LONG_CHARACTERS = 20_000
MAX_SECONDS = 2.0
MEANINGS_OF_ALL = frozenset({"not", "told", "others"})
"""Those that belong to no rule because they count for each."""


def _found(words: str) -> Found | None:
    return together.danger_in_words_together(plain_letters(words), readable=readable(words))


@pytest.mark.parametrize(
    ("words", "level", "about", "topic"),
    [
        ("Gute Nacht für immer, mein Freund", "concern", "self", "life"),
        ("Danke dir, das war unser letztes Gespräch", "concern", "self", "life"),
        ("Thank you. Bye, this was our last talk", "concern", "self", "life"),
        ("Hol das Seil aus dem Schuppen", "concern", "self", "life"),
        ("Sacar la soga del garaje y descanso por fin", "immediate", "self", "life"),
        ("Erinnere mich heute Abend an die Brücke", "concern", "self", "life"),
        ("Liste: Brot, Post holen, dann vom Dach", "concern", "self", "life"),
        ("Meine Frau würgt mich, wenn sie trinkt", "immediate", "self", "violence"),
        ("Wenn er trinkt, schubst mein Vater mich gegen die Wand", "concern", "self", "violence"),
        ("Mi padrastro me jala del pelo", "concern", "self", "violence"),
        ("My dad locks me in the shed for hours", "concern", "self", "violence"),
        ("Er schlägt meine kleine Schwester", "concern", "other", "violence"),
        ("Ich habe das Baby geschüttelt", "immediate", "self", "life"),
        ("Sacudí al bebé para que parara", "immediate", "self", "life"),
        ("Meine Oma hat alle Schlaftabletten geschluckt", "immediate", "other", "life"),
        ("Bebí lejía hace un rato", "immediate", "self", "life"),
        ("Mein Sohn hat Rohrreiniger getrunken", "immediate", "other", "life"),
        ("Die Wunde blutet und lässt sich nicht stillen", "immediate", "self", "life"),
        ("My leg is bleeding and it won't stop", "immediate", "self", "life"),
        ("Seit sechs Tagen habe ich nichts gegessen", "concern", "self", "life"),
        ("Llevo una semana sin comer", "concern", "self", "life"),
    ],
)
def test_meanings_near_each_other_tell_of_danger(words: str, level: str, about: str, topic: str) -> None:
    assert _found(words) == (level, about, topic)
    danger = find_danger(words)
    assert danger is not None
    assert danger.topic == topic


@pytest.mark.parametrize(
    "words",
    [
        "Gute Nacht, bis morgen", "Hol das Seil aus dem Schuppen, wir bauen die Schaukel",
        "Erinnere mich an die Brücke beim Zahnarzt", "Saca la cuerda del garaje para la hamaca",
        "Meine Frau schlägt mich im Schach", "Mein Chef schlägt mir einen Termin vor",
        "Ich habe die Babyflasche geschüttelt", "Shake the bottle before you feed the baby",
        "Mein Hund hat Rattengift gefressen, wohin jetzt?", "Ich habe heute Mittag nichts gegessen",
        "Seit zwei Tagen esse ich nichts, am Montag ist die Darmspiegelung",
        "Ich nehme eine Tablette zum Frühstück", "Get the rope from the garage, we go climbing",
    ],
)  # fmt: skip
def test_words_that_make_it_harmless_or_are_missing_leave_it_alone(words: str) -> None:
    assert _found(words) is None


@pytest.mark.parametrize(
    "words",
    [
        "Mein Mann würgt mich nicht", "Ich habe das Baby nicht geschüttelt", "No sacudí al bebé",
        "Als Kind hat mein Vater mich mit dem Gürtel verprügelt", "Hace diez años mi padre me jaló del pelo",
        "In der Serie würgt mein Lieblingsheld mich fast", "My dad hit me in the game",
    ],
)  # fmt: skip
def test_what_is_denied_past_or_told_is_not_said(words: str) -> None:
    assert _found(words) is None


def test_a_denial_that_is_part_of_the_rule_denies_nothing() -> None:
    assert _found("Es hört nicht auf zu bluten") is not None
    assert _found("Mi hermana no despierta y hay un frasco de pastillas vacío") is not None


def test_a_text_without_frequent_words_is_read_in_each_language() -> None:
    assert _found("Notiere: zehn Tage nur Wasser") is not None
    assert _found("Apunta: diez días solo agua") is not None


def test_each_rule_names_meanings_that_there_are_and_each_meaning_has_a_rule() -> None:
    named = {name for rule in together.all_rules() for need in rule.needs for name in need}
    named |= {name for rule in together.all_rules() for name in rule.unless}
    assert named | MEANINGS_OF_ALL == together.all_meanings()


@pytest.mark.parametrize("language", together.LANGUAGES)
def test_each_phrase_and_each_piece_of_a_word_is_short_enough_to_be_looked_for(language: str) -> None:
    longest, affix = together.longest_of(language)
    assert longest <= together.PHRASE_WORDS
    assert affix <= together.AFFIX_CHARACTERS


@pytest.mark.parametrize(
    "piece",
    [
        *("mein mann schlagt mich nicht ", "wurgt ", "mein mann wurgt mich jetzt. ", "a b c d e f g h. "),
        *("sie, ", "a", "tabletten"),
    ],
)
def test_the_longest_message_is_read_in_time(piece: str) -> None:
    words = piece * (LONG_CHARACTERS // len(piece))
    together.read_words()
    start = time.process_time()
    _found(words)
    assert is_quick(time.process_time() - start, MAX_SECONDS)
