"""A situation is met where it is told; where one of its words is only mentioned, the answer fits anything."""

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.known_scenes import scenes
from coaching.practice.coach.texts import Language
from tests.practice.conftest import Http
from tests.practice.talking import CONTEXT, NAMES, TalkWalk

MENTIONED: dict[Language, tuple[str, ...]] = {
    "en": (
        "I just need five minutes where nobody wants anything from me",
        "I am retired and keep bees",
        "I lost two colonies to them last winter, it grieved me more than I expected",
        "Hello, I'm a retired teacher from Hull and my tomatoes are doing well this year",
        "I read a book about a divorce lawyer, quite funny",
        "My brother works as an interviewer for the census and tells odd stories",
        "We got married forty years ago and still play cards every Sunday",
        "I teach eight-year-olds and we're doing exam practice with a glove puppet",
        "what? no, i'm not looking for a job. it's the baby",
        "There's a documentary about burnout on tonight",
        "The new café in the old funeral parlour is lovely",
        "I photograph weddings for a living and my knees feel it",
        "The neighbours had a fight about a hedge in 1987 and it's still a legend here",
        "I work in a care home kitchen and we changed the menu",
        "My cat ignored me all morning, as cats do",
        "I quit the choir years ago and now they've asked me back",
        "Everyone at work is talking about the pay rise of the director",
        "I used to have exams every June, now June is just June",
        "I bought a drum kit and the lady next door moved out the same week, pure chance",
        "My daughter is reading a novel about a woman who is betrayed by everybody",
    ),
    "de": (
        "Seit vier Uhr wach mit dem Baby. Ich brauche nur fünf Minuten, in denen niemand was von mir will",
        "Ich bin Rentner und halte Bienen",
        "Im letzten Winter habe ich zwei Völker verloren, das hat mir mehr ausgemacht als gedacht",
        "Guten Tag, ich bin pensionierter Lehrer aus Kassel und meine Tomaten gedeihen",
        "Ich lese gerade einen Roman über eine Scheidung, ziemlich lustig",
        "Mein Bruder ist Prüfer beim TÜV und erzählt lauter komische Sachen",
        "Wir haben vor vierzig Jahren geheiratet und spielen jeden Sonntag Karten",
        "Nein, ich suche keine Arbeit, es geht um das Baby",
        "Heute Abend kommt eine Doku über Burnout",
        "Das neue Café im alten Bestattungsinstitut ist richtig schön",
        "Ich fotografiere Hochzeiten und merke es in den Knien",
        "Die Nachbarn hatten 1987 Streit wegen einer Hecke, darüber redet man noch heute",
        "Ich arbeite in der Küche von einem Pflegeheim und wir haben den Speiseplan geändert",
        "Meine Katze hat mich den ganzen Morgen ignoriert, wie Katzen eben sind",
        "Im Chor habe ich vor Jahren gekündigt und jetzt fragen sie mich wieder",
        "Bei uns reden alle über die Gehaltserhöhung vom Direktor",
        "Früher hatte ich jeden Juni Prüfungen, heute ist Juni einfach Juni",
        "Meine Tochter liest ein Buch über eine Frau, die von allen betrogen wird",
        "Ich unterrichte Drittklässler und wir üben mit einer Handpuppe für die Prüfung",
        "In der Zeitung steht was über Leute, die ihren Job verloren haben",
    ),
    "es": (
        "Despierta desde las cuatro con el bebé. Solo necesito cinco minutos en que nadie quiera nada de mí",
        "Estoy jubilado y cuido abejas",
        "El invierno pasado perdí dos colmenas y me dolió más de lo que esperaba",
        "Buenas, soy profesora jubilada de Burgos y mis tomates van muy bien",
        "Estoy leyendo una novela sobre un divorcio, bastante graciosa",
        "Mi hermano trabaja de examinador en la autoescuela y cuenta cosas raras",
        "Nos casamos hace cuarenta años y cada domingo jugamos a las cartas",
        "No, no busco trabajo, es el bebé",
        "Esta noche ponen un documental sobre el estrés laboral",
        "El café nuevo en la antigua funeraria es precioso",
        "Hago fotos de bodas y lo noto en las rodillas",
        "Los vecinos se pelearon por un seto en 1987 y todavía se habla de eso",
        "Trabajo en la cocina de una residencia de ancianos y hemos cambiado el menú",
        "Mi gata me ha ignorado toda la mañana, como hacen los gatos",
        "Dejé el coro hace años y ahora me piden que vuelva",
        "En la oficina todos hablan del aumento de sueldo del director",
        "Antes tenía exámenes cada junio, ahora junio es solo junio",
        "Mi hija lee un libro sobre una mujer a la que todos traicionan",
        "Doy clase a niños de ocho años y practicamos el examen con un títere",
        "En el periódico cuentan de gente que ha perdido el trabajo",
    ),
}
TOLD: dict[Language, tuple[tuple[str, str], ...]] = {
    "en": (
        ("Up since 4 with the baby again. I just need five minutes where nobody wants anything", "newborn"),
        ("I retired in March and I don't know what to do with the mornings", "retire"),
        ("My husband died in spring", "death"),
        ("I was laid off last week", "fired"),
        ("I've been looking for a job since May and nobody answers", "jobhunt"),
        ("My boss shouted at me in front of the whole team today", "boss"),
        ("We had a big argument last night and now she won't talk to me", "quarrel"),
        ("I have an exam on Thursday and I can't get anything in", "exam"),
        ("I have a job interview tomorrow", "interview"),
        ("We split up two weeks ago", "breakup"),
        ("I can't sleep, third night now", "sleep"),
        ("I'm so tired all the time", "tired"),
        ("I feel so lonely in the evenings", "lonely"),
        ("I'm behind with the rent and it's only the tenth", "money"),
        ("Mum is in hospital since Sunday", "care"),
        ("I got the job!", "success"),
        ("I failed the driving test again", "failed"),
        ("I keep putting it off, for weeks now", "putoff"),
        ("I'm really scared of the operation", "ill"),
        ("My son moved out on Saturday and the house is so quiet", "child_leaves"),
        ("I feel guilty because I shouted at my little boy", "guilt"),
    ),
    "de": (
        ("Ich bin seit März in Rente und weiß morgens nichts mit mir anzufangen", "retire"),
        ("Mein Mann ist im Frühling gestorben", "death"),
        ("Mir wurde letzte Woche gekündigt", "fired"),
        ("Ich suche seit Mai Arbeit und keiner antwortet", "jobhunt"),
        ("Mein Chef hat mich heute vor allen angeschrien", "boss"),
        ("Wir hatten gestern einen riesigen Streit, jetzt redet sie nicht mehr mit mir", "quarrel"),
        ("Ich habe am Donnerstag eine Prüfung und krieg nichts mehr in den Kopf", "exam"),
        ("Morgen habe ich ein Vorstellungsgespräch", "interview"),
        ("Wir haben uns vor zwei Wochen getrennt", "breakup"),
        ("Ich kann nicht schlafen, schon die dritte Nacht", "sleep"),
        ("Ich bin die ganze Zeit so müde", "tired"),
        ("Ich fühle mich so einsam, seit ich hier wohne", "lonely"),
        ("Ich kann die Miete nicht zahlen", "money"),
        ("Mama liegt seit Sonntag im Krankenhaus", "care"),
        ("Ich hab den Job bekommen!", "success"),
        ("Ich bin schon wieder durch die Fahrprüfung gefallen", "failed"),
        ("Ich schiebe das seit Wochen vor mir her", "putoff"),
        ("Mein Sohn ist am Samstag ausgezogen und das Haus ist so still", "child_leaves"),
        ("Ich habe ein schlechtes Gewissen, weil ich meinen Kleinen angeschrien habe", "guilt"),
        ("Ich bin total überfordert gerade", "overload"),
    ),
    "es": (
        ("Me jubilé en marzo y no sé qué hacer por las mañanas", "retire"),
        ("Mi marido murió en primavera", "death"),
        ("Me despidieron la semana pasada", "fired"),
        ("Busco trabajo desde mayo y nadie contesta", "jobhunt"),
        ("Mi jefe me gritó hoy delante de todos", "boss"),
        ("Anoche tuvimos una pelea enorme y ahora no me habla", "quarrel"),
        ("Tengo un examen el jueves y no me entra nada", "exam"),
        ("Mañana tengo una entrevista de trabajo", "interview"),
        ("Nos separamos hace dos semanas", "breakup"),
        ("No puedo dormir, ya es la tercera noche", "sleep"),
        ("Estoy tan cansada todo el tiempo", "tired"),
        ("Me siento muy sola desde que vivo aquí", "lonely"),
        ("No llego a fin de mes", "money"),
        ("Mamá está en el hospital desde el domingo", "care"),
        ("¡Me dieron el trabajo!", "success"),
        ("He suspendido otra vez el examen de conducir", "failed"),
        ("Lo voy dejando para mañana desde hace semanas", "putoff"),
        ("Mi hijo se fue de casa el sábado y la casa está tan callada", "child_leaves"),
        ("Me siento culpable porque le grité a mi pequeño", "guilt"),
        ("Estoy agobiadísima, no doy abasto", "overload"),
    ),
}
_MENTIONED = [(code, words) for code, said in MENTIONED.items() for words in said]
_TOLD = [(code, *each) for code, said in TOLD.items() for each in said]


async def _first(http: Http, language: Language, words: str) -> str:
    walk = TalkWalk(http, header=CONTEXT.format(language=NAMES[language]))
    return await walk.say(words)


def _met(reply: str, language: Language) -> set[str]:
    """Return the situations and feelings that a reply meets."""
    known = [each for each in scenes(language) if not each.is_background]
    return {each.name for each in known if any(said in reply for said in (*each.says, *each.more))}


@pytest.mark.parametrize(("language", "words"), _MENTIONED)
async def test_words_that_are_only_mentioned_are_no_situation(
    http: Http, language: Language, words: str
) -> None:
    reply = await _first(http, language, words)
    with texts.speaking(language):
        grieves = [each for each in texts.reactions("grief") if each in reply]
    assert not [*_met(reply, language), *grieves]


@pytest.mark.parametrize(("language", "words", "name"), _TOLD)
async def test_a_situation_that_is_told_is_met(http: Http, language: Language, words: str, name: str) -> None:
    reply = await _first(http, language, words)
    with texts.speaking(language):
        mourned = name == "death" and any(each in reply for each in texts.reactions("grief"))
    assert mourned or name in _met(reply, language), reply
