"""What words of several meanings tell together is danger, in any order, unless others make it harmless."""

import re
import time

import pytest

from coaching.safety import together
from coaching.safety.danger import find_danger
from coaching.safety.languages import Found
from coaching.safety.readable import plain_letters, readable
from coaching.safety.tables import read_table
from tests.patience import is_quick

LONG_CHARACTERS = 20_000
WORD = re.compile(r"\*?[a-z0-9]+(?:['_-][a-z0-9]+)*-?\*?")
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
        "Ich habe die Kleine auf dem Arm und koche Nudeln", "Er steht auf einem Bein, das ist eine Übung",
        "Ich habe sie alle auf einmal aufgemacht", "Wir sind fertig, sagt der Maler, alle können herein",
        "Der Stress schlägt mir auf den Magen", "Die Nachbarin klopft an die Tür, jetzt muss ich los",
        "Mein Sohn ist auf dem Eis ausgerutscht", "Seine Tochter hielt ihm die Hand, es war ganz still",
        "Die Kinder werfen Steine ins Wasser", "Ich sitze am Wasser auf einem Stein und esse mein Brot",
        "Der Schal hängt am Haken, der Gürtel auch", "Mein Mann steht schon vor der Tür, ich muss los",
        "Weihnachten steht vor der Tür, jetzt muss ich los", "Ich wasche das Messer heute ab",
        "Ich schneide heute das Gemüse mit dem Messer von Oma", "Krieg ich eine Antwort?",
        "Ich lasse mich nicht wieder überreden", "Beim Angebot habe ich zugeschlagen",
        "Morgens laufe ich hier rum", "Ich habe zwei Ibuprofen genommen und bin immer noch müde",
        "Ich habe Angst, dass mein Vater im Bad stürzt", "Die Kinder essen die Pilze nicht auf",
        "Meine Mutter kommt einfach in mein Zimmer", "Auf meiner Liste steht: Bilder aufhängen",
        "Bier trinke ich abends, die Kopfschmerztabletten nehme ich morgens",
        "Las abrí todas de golpe", "Mis amigas y yo salimos todas juntas el sábado", "Hoy no llego a todo",
        "Ceno sin vino y leo antes de dormir", "No como gluten y llevo dos semanas mejor",
        "Llevo zapatos negros y el pie izquierdo me aprieta", "Llevo sangre italiana y hablo mucho",
        "Hoy empuja el viento y nos cuesta andar", "Manejo mejor que mi hermano",
        "Apago el cigarrillo y me voy", "Ahora estoy siguiendo la receta en casa",
        "Estoy bajo techo, antes llovía", "Se me fue la mano con la sal y los niños no comieron",
        "Put on my list: water the plants before they die", "Can you read this before it's over?",
        "I put my arm around her at the open door", "My leg looks great in black tights",
        "I give away whatever I don't need", "Get a glue gun and some felt for the costume",
        "The engine light is on, I washed the car inside", "She kicked off her shoes and told me about Rome",
        "I took an ibuprofen and I still feel sick", "We threw stones into the lake",
    ],
)  # fmt: skip
def test_words_of_an_ordinary_day_do_not_tell_it_together(words: str) -> None:
    assert _found(words) is None


@pytest.mark.parametrize(
    "words",
    [
        "Steh am See, Steine in den Taschen, und geh ins Wasser", "I swim out with stones in my pockets",
        "Der Schlauch ist am Auspuff befestigt", "La manguera está en el tubo de escape",
        "Der Motor läuft und das Tor ist zu", "Der schlägt mich", "Der Gürtel ist um den Hals",
        "Está tumbando la puerta y estamos debajo de la cama", "Las tomé todas de golpe",
        "Ich habe sie alle auf einmal geschluckt", "Tonight I'm taking all of them at once",
        "Mi novio me deja encerrada", "El me pega cuando bebe",
        "I get death threats", "Ich bekomme Morddrohungen", "Nothing but black coffee for three days",
    ],
)  # fmt: skip
def test_the_same_words_tell_it_with_what_makes_it_plain(words: str) -> None:
    assert _found(words) is not None


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


def test_each_word_can_be_met_and_is_listed_once() -> None:
    table = read_table("together")
    for meaning in together.all_meanings():
        for line in table[meaning]:
            words = line.partition(": ")[2].split()
            assert len(words) == len(set(words)), (meaning, line)
            assert not [word for word in words if not WORD.fullmatch(word)], (meaning, line)


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
