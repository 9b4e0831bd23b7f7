"""What people write in German and Spanish as in a chat: situations, questions, jokes, corrections."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.hearing import danger_heard
from coaching.practice.coach.scenes import scene_in
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

SCENES: list[tuple[texts.Language, str, list[str]]] = [
    ("de", "patient_died", ["heut nacht is ein patient gestorben", "wir haben eine bewohnerin verloren"]),
    ("es", "patient_died", ["se me murió un paciente a las 5", "hoy falleció una paciente en la planta"]),
    (
        "de",
        "parents_divorce",
        ["meine eltern lassen sich scheiden", "die trennung meiner eltern macht mich fertig"],
    ),
    ("es", "parents_divorce", ["mis papás se van a divorciar", "me preguntan con quién quiero vivir"]),
    ("de", "left_partner", ["hab gestern mit ihr schluss gemacht", "ich hab mich von ihm getrennt"]),
    ("es", "left_partner", ["corté con mi novio ayer", "dejé a mi novia hace un mes"]),
    ("de", "breakup", ["sie hat mit mir schluss gemacht", "mein freund ist gestern ausgezogen"]),
    ("es", "breakup", ["mi novio se fue ayer de casa", "me dejó después de 4 años"]),
    ("de", "withdraws", ["mein sohn redet kaum noch mit mir", "die tochter zieht sich total zurück"]),
    ("es", "withdraws", ["mi hija me cerró la puerta en la cara", "mi hijo ya no me cuenta nada"]),
    ("de", "bullied_other", ["ich glaub er wird gemobbt", "mein bruder wird in der schule ausgelacht"]),
    ("es", "bullied_other", ["a mi hijo le hacen bullying", "se burlaron de mi hermana en el cole"]),
    ("de", "clients", ["mir springen grad 2 kunden ab", "kaum aufträge diesen monat"]),
    ("es", "clients", ["llevo 2 meses casi sin clientes", "se me fue el cliente gordo"]),
    ("de", "exam", ["hab morgen matheklausur", "nix gelernt für die bioprüfung"]),
    ("es", "exam", ["tengo final de anatomía el lunes", "no estudié nada para el parcial"]),
    ("de", "sleep", ["ich kann seit 3 wochen nicht mehr durchschlafen", "so gegen 3 wach ich auf"]),
    ("es", "sleep", ["llevo 3 semanas durmiendo fatal", "no pego ojo"]),
    ("de", "pet_dying", ["unser hund is über die regenbogenbrücke", "wir mussten die katze gehen lassen"]),
    ("es", "pet_dying", ["ayer tuvimos que dormir a nuestro perro", "tuve que sacrificar a mi gata"]),
    ("de", "insulted", ["er hat mich vor allen beleidigt"]),
    ("de", "guilt", ["ich hab ihn dann angebrüllt", "ich hab das gefühl ich hab ihn abgeschoben"]),
    ("es", "guilt", ["siento que la he abandonado", "le terminé gritando"]),
]
"""Situations, each with words that name it."""

NO_SCENES = [
    ("de", "guilt", "er is dann beleidigt"),
    ("de", "anger", "meine frau is sauer"),
    ("de", "sad", "keine lust auf die schicht morgen"),
    ("es", "sad", "no tengo ganas de ir a trabajar"),
    ("es", "ill", "me duele que no me lo contara"),
]
"""Words that don't name what they could be taken for."""

ROWS = [
    ("de", "Ich wollt mal fragen ob das hier anonym ist", "wer den Server betreibt, könnte es"),
    ("de", "bleibt das unter uns?", "wer den Server betreibt, könnte"),
    ("de", "Können Sie mir sagen wie ich die Schrift größer mache?", "Strg"),
    ("de", "hallo | was kannst du besser als chatgpt", "Berechtigte Frage"),
    ("es", "hola | y qué hacés mejor que chatgpt?", "Buena pregunta"),
    ("es", "hola | y si lo borro se borra de verdad?", "Eliminar"),
    ("es", "me quitaron el carnet", "!Eliminar"),
    ("de", "kannst du schweigen?", "Ich sage es niemandem"),
    ("es", "sabes guardar un secreto?", "No se lo digo a nadie"),
    ("es", "mi hermana y yo no nos hablamos | no, no quise decir eso", "lo tomé mal"),
    ("de", "meine schwester ist sauer | nein, so hab ich das nicht gemeint", "da lag ich falsch"),
    ("de", "Erzähl einen Witz | der war schlecht", "Mehr Humor"),
    ("es", "cuéntame un chiste | jaja malísimo", "Más humor"),
    ("de", "frag mich was | der döner glaub ich", "Noch eine?"),
    ("es", "preguntame algo | las empanadas", "¿Otra?"),
    ("de", "hab im lotto gewonnen!!! | war nur spaß", "Erwischt"),
    ("es", "me gané la lotería!!! | era broma jaja", "Caí redondo"),
    ("de", "ich muss morgen ne präsi halten | und wenn ich nen blackout hab?", "kurz stehen bleiben"),
    ("es", "mañana tengo una exposición | y si me quedo en blanco?", "pararse un momento"),
    ("de", "hab morgen matheklausur | hast du nen tipp wie ich lernen soll?", "alte Aufgaben"),
    ("es", "tengo final el lunes | me das algún consejo para estudiar?", "exámenes de otros años"),
    ("de", "bin frisch in köln und kenn kein schwein | hast ne idee wo man leute kennenlernt?", "jede Woche"),
    ("de", "ich bin so wütend | nee ich bin nicht wütend, meine frau", "da lag ich falsch"),
    (
        "de",
        "meine frau ist im märz gestorben | manchmal deck ich noch für zwei. ist das normal?",
        "erzählen viele",
    ),
    ("de", "wie lange dauert trauer eigentlich?", "festes Maß"),
    ("es", "cuánto dura un duelo?", "medida fija"),
    (
        "de",
        "hatte einen schönen tag | und danach? keine ahnung, vllt reisen",
        "!Das kann ich nicht beantworten",
    ),
    (
        "de",
        "war am friedhof | nein nein, mir geht es gut. ich gieße da nur blumen | ich geh jetzt einkaufen",
        "!Trauer",
    ),
    ("es", "mi novio se fue ayer | no se murió eh, se fue con sus padres", "!Lo siento mucho"),
    ("es", "hola | no hice nada, no me gusta festejar", "!Tienes razón"),
    ("es", "hola | es que todos te dicen “ya pasará”", "!No puedo saberlo"),
    ("de", "hi ich bin tim, 19, azubi im lager", "Was führt dich her?"),
    ("de", "bin heute 40 geworden", "!Was führt dich her?"),
    ("de", "mein kleiner will nicht in die kita | hast du nen rat?", "immer gleicher Abschied"),
    ("es", "mi nene no quiere ir al jardín | algún consejo?", "siempre igual"),
    ("de", "er meldet sich tagelang nicht | findest du das normal?", "Beurteilen kann ich das nicht"),
    ("es", "desaparece días y luego vuelve | te parece normal?", "No puedo juzgarlo"),
    ("de", "Kann man das Tanzen mit 78 nochmal anfangen?", "in jedem Alter"),
    ("es", "hola | la mamá del nene me dio las gracias al final", "!De nada"),
    ("de", "hab heut nix hingekriegt, wieder nur rumgelegen", "!Glückwunsch"),
    ("es", "le tengo pánico al dentista, mañana me hacen una endodoncia", "va con ganas"),
    ("es", "soy mamá soltera de dos y ya no doy más", "!Enhorabuena"),
    ("de", "mein chef hat mich heut vor allen gelobt", "!Schlimmste"),
    ("es", "hoy mi jefe me felicitó delante de todos", "!lo peor"),
    ("de", "ich hab meine ausbildung geschafft!! als erste in der familie", "Glückwunsch"),
    ("es", "me recibí!!! la primera de mi familia", "Enhorabuena"),
]
"""A conversation, and what is said at its end, or isn't."""


@pytest.mark.parametrize(
    ("language", "name", "words"), [(code, name, each) for code, name, given in SCENES for each in given]
)
def test_a_situation_is_heard_in_the_words_of_a_chat(language: texts.Language, name: str, words: str) -> None:
    with texts.speaking(language):
        scene = scene_in(words)
    assert scene is not None
    assert scene.name == name


@pytest.mark.parametrize(("language", "name", "words"), NO_SCENES)
def test_words_are_not_taken_for_a_situation_of_another(
    language: texts.Language, name: str, words: str
) -> None:
    with texts.speaking(language):
        scene = scene_in(words)
    assert scene is None or scene.name != name


@pytest.mark.parametrize(("language", "talk", "words"), ROWS, ids=[row[1] for row in ROWS])
async def test_an_answer_fits_what_was_written(
    http: Http, language: texts.Language, talk: str, words: str
) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    reply = [await walk.say(turn) for turn in talk.split(" | ")][-1]
    assert (words.removeprefix("!") in reply) is not words.startswith("!"), reply


@pytest.mark.parametrize(
    "words",
    [
        "hoy me dio un ataque de pánico en el metro",
        "hoy me trato de usted",
        "hoy me grito delante de todos",
        "hoy uno me insultó 20 minutos",
    ],
)
async def test_a_past_tense_without_its_accent_is_no_plan(http: Http, words: str) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language="Spanish"))
    await walk.say("hola")
    assert "lista" not in await walk.say(words)
    assert not walk.steps


@pytest.mark.parametrize(
    ("language", "words"),
    [("de", "morgen vormittag setz ich mich 1 std dran"), ("es", "mañana por la mañana me pongo una hora")],
)
async def test_a_plan_in_short_words_is_noted(http: Http, language: texts.Language, words: str) -> None:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    await walk.say("hallo")
    await walk.say(words)
    assert len(walk.steps) == 1


@pytest.mark.parametrize(
    "words", ["Grüß Gott, mein Name ist Hedwig und ich wollt fragen ob man hier auch über Glauben reden kann"]
)
def test_a_name_does_not_weigh_towards_danger(words: str) -> None:
    with texts.speaking("de"):
        assert danger_heard(words) is None


@pytest.mark.parametrize(
    "words",
    ["Hallo, mein Name ist Hedwig und ich will nicht mehr leben", "Ich heiße Tim und ich bring mich um"],
)
def test_what_follows_a_name_still_weighs(words: str) -> None:
    with texts.speaking("de"):
        assert danger_heard(words) is not None
