"""What the guided tour says to what follows what, and what holds for each answer on the way.

A row is the language, the messages, what the last answer has to be (names of situations, of wordings or of
answers; with `!` what it mustn't be; `quiet`: it asks and shows nothing), and words that stand in it.
"""

import re
from collections.abc import Sequence

import pytest

from coaching.practice.coach import texts
from coaching.practice.coach.known_scenes import scenes
from tests.evals.words import claims_in, language_of, questions_in, reminder_claims_in, removal_claims_in
from tests.practice.conftest import Http
from tests.practice.talking import TalkWalk

NAMES = {"en": "English", "de": "German", "es": "Spanish"}
RATES = {"show_pulse_check", "enter_structured_arc"}
SENTENCE = re.compile(r"(?<=[.!?…])\s+")
MIN_SENTENCE = 25
"""So many characters a sentence has that mustn't be said twice; "All right." may."""
ROWS: Sequence[tuple[texts.Language, str, str, str]] = [
    # Colloquial and regional words are known by their standard forms, and drawn-out letters are read.
    ("de", "i bin seit 3 wochn trennt und kumm ned klar", "breakup !refuse", ""),
    ("de", "is des hier umsonst?", "real", ""),
    ("es", "toy re bajón, me cortaron del equipo", "sad", ""),
    ("es", "¿Vos qué opinás?", "advice", ""),
    ("es", "estoy aburridoooo", "bored", ""),
    ("es", "bueno, mañana será otro día", "!english_only", ""),
    # What another person does is no situation of one's own, and what is told by the way is no topic.
    ("de", "Mein Chef geht in Rente und will, dass ich die Werkstatt übernehme.", "!retire", ""),
    ("es", "es que mi marido se quedó en paro en enero", "!fired", ""),
    ("de", "Letztes Mal habe ich den Faden verloren und es war totenstill.", "!death", ""),
    ("es", "mi hija se fue a vivir con el padre", "child_leaves", ""),
    ("de", "Mein Mann schaut beim Essen nur auf sein Handy.", "!watched", ""),
    ("de", "Meine Mutter liest heimlich mein Tagebuch.", "watched", ""),
    ("es", "te digo una cosa, que me han echado del trabajo", "fired", ""),
    # Anger of a boss before others is one situation.
    ("es", "mi jefe me gritó delante de todos, estoy re enojado", "boss !overload", ""),
    # What one ought to do is for the person to decide, whatever was told before.
    ("de", "Mein Partner verdient genug | soll ich mein Pensum reduzieren?", "undecided", ""),
    ("es", "Ayer se me olvidó una medicación | ¿debería contarlo a mi supervisora?", "undecided", ""),
    ("de", "wir streiten nur noch | wie soll ich das überstehen?", "getthrough", ""),
    # A loss is met quietly, and stays it.
    ("en", "My granny died on Sunday. | she raised me", "quiet !felt !good", ""),
    ("en", "My dad passed away last week | what should I do?", "!tip_start !advice", ""),
    ("en", "we have to put our dog down tomorrow | he's 14", "quiet", ""),
    ("en", "I lost my brother in May | it's his birthday today", "quiet !birthday !good", ""),
    ("en", "my grandad is dying | he's in a hospice | he can't talk any more", "quiet", ""),
    ("de", "Meine Oma ist am Sonntag gestorben. | sie hat mich großgezogen", "quiet !good", ""),
    ("de", "Wir müssen unseren Hund einschläfern lassen | er ist 14", "quiet", ""),
    ("es", "Mi abuela murió el domingo. | ella me crió", "quiet !good", ""),
    ("es", "Tenemos que sacrificar a nuestro perro | tiene 14 años", "quiet", ""),
    # Jokes are played along with, and what isn't one isn't taken for one.
    ("en", "knock knock | Lettuce.", "knock_who", "Lettuce who?"),
    ("en", "what do you call a fish without eyes? | a fsh", "tease", ""),
    ("en", "I joke when I'm nervous, and I've got a job interview tomorrow", "!joke !riddle", ""),
    ("de", "klopf klopf", "knock", ""),
    ("es", "toc toc | Lola", "knock_who", "¿Lola qué?"),
    # Who doubts apps isn't asked what is on their mind.
    ("en", "I don't need an app to tell me how to live", "doubt", ""),
    ("de", "noch so eine App, die mein Leben ändern will", "doubt", ""),
    ("es", "otra app que promete cambiarme la vida", "doubt", ""),
    # What was written is named, steps too.
    ("en", "I'll call mum on friday | what exactly did you save?", "", "put on your list: “Call mum”"),
    ("de", "Ich rufe am Freitag Mama an | was steht jetzt drin?", "", "gesetzt: „Ich rufe Mama an“"),
    ("es", "El viernes voy a llamar a mamá | ¿qué has guardado?", "", "en tu lista: «Llamar a mamá»"),
    ("en", "I broke up with my boyfriend | is there anything stored about me?", "wrote_nothing", ""),
    # Who mourns and asks how is answered, and who was told nothing is known to be told nothing.
    ("en", "My dad passed away last week | how do I explain that to my little boy?", "death !wonder", ""),
    ("en", "I dropped out and I haven't told my parents", "untold", ""),
    ("de", "Ich habe Schulden und meine Frau weiß nichts davon", "untold", ""),
    ("es", "Suspendí y no se lo he dicho a mis padres", "untold", ""),
    # A question to a person, and one at the end of a statement.
    ("de", "hast du gestern das Spiel gesehen?", "person", ""),
    ("es", "yo también la quería, ¿sabes?", "!asked !wonder", ""),
    # A situation is named, and lasts until another one is.
    ("en", "My boss yells at me in front of everyone", "boss", ""),
    ("en", "My boss yells at me in front of everyone | he did it again today", "!success", ""),
    ("en", "My boss yells at me in front of everyone | what should I do", "boss !tip_talk", ""),
    ("en", "my husband drinks | he's kind though", "drinks", ""),
    ("en", "I passed my driving test! | my mum cried", "!sad !exam !felt", ""),
    ("en", "I failed my driving test", "failed !success", ""),
    ("en", "I broke up with my boyfriend", "breakup !good", ""),
    ("en", "I got fired today | I was there eleven years", "!success !good", ""),
    ("en", "I have a job interview on Friday", "interview !success", ""),
    ("en", "our flat got burgled last night", "shock", ""),
    ("en", "im gonna be a grandma!!!", "birth !help_hint !felt", ""),
    ("de", "Mein Chef schreit mich vor allen an", "boss", ""),
    ("de", "Ich habe die Prüfung bestanden!", "success !failed", ""),
    ("de", "Ich bin durch die Prüfung gefallen", "!success !good", ""),
    ("de", "Meine Freundin hat Schluss gemacht | was soll ich tun?", "!success !tip_talk", ""),
    ("es", "Mi jefe me grita delante de todos", "boss", ""),
    ("es", "¡He aprobado el examen!", "success !failed", ""),
    ("es", "He suspendido el examen", "failed !success", ""),
    ("es", "Mi novia me ha dejado | ¿qué hago?", "!success !tip_talk", ""),
    # What is plainly said to do something counts before what is sensed.
    ("en", "can you write me a poem?", "write", ""),
    ("en", "translate dog into French", "translate", ""),
    ("en", "tell me a joke | another one", "joke", ""),
    ("en", "you're useless", "!felt !advice", ""),
    ("en", "am I a bad mother?", "selfask !self", ""),
    ("en", "I met my cousin | no, I meant my aunt", "mended", "my aunt"),
    ("en", "do you speak German?", "", "German and Spanish"),
    ("en", "I broke up with my boyfriend | what did you write?", "", "written nothing"),
    ("en", "are you open source", "maker", ""),
    ("en", "can I run you myself", "maker", ""),
    ("de", "kann ich dich selbst betreiben?", "maker", ""),
    ("es", "¿puedo instalarte en mi ordenador?", "maker", ""),
    ("en", "what would you do", "advice", ""),
    ("en", "why should I trust you", "doubt", ""),
    ("en", "who can read this? | and my boss?", "employer !boss", ""),
    ("en", "don't tell my mum", "secret !parents", ""),
    ("en", "wish me luck", "luck", ""),
    ("de", "schreib mir ein Gedicht", "write", ""),
    ("de", "erzähl mir einen Witz", "joke", ""),
    ("de", "bin ich eine schlechte Mutter?", "selfask", ""),
    ("es", "escríbeme un poema", "write", ""),
    ("es", "cuéntame un chiste", "joke", ""),
    ("es", "¿soy una mala madre?", "selfask", ""),
    # Who is new here is welcomed, whoever sent them; who lays a baby down mourns nobody.
    ("en", "my sister said i should try this. not sure what im supposed to do here", "begin !sibling", ""),
    ("de", "meine Schwester sagt, ich soll das mal probieren. was soll ich hier machen", "begin", ""),
    ("es", "mi hermana me dijo que probara esto, no sé qué tengo que hacer aquí", "begin !sibling", ""),
    (
        "en", "I had to put her down in the cot and walk out because I was scared I'd lose it",
        "worry !pet_dying !death", "",
    ),
    # A complaint is owned, and what is put right or said again is apologised for.
    ("en", "I work in a bakery | This is a bit pointless to be honest", "complain", ""),
    ("en", "I work in a bakery | I said that", "", "“I work in a bakery”"),
    ("en", "I work in a bakery | not asking for advice, I'm asking about the oven", "complain", ""),
    ("en", "I work in a bakery | But it's the rent I'm worried about", "complain", ""),
    ("de", "viel los | wow. da erzählt man mal was und kriegt sowas zurück. ganz toll", "complain", ""),
    ("de", "viel los | Das war jetzt echt daneben | hä wieso", "complain", ""),
    ("de", "viel los | das hab ich doch gesagt", "", "„viel los“"),
    ("de", "Ich mag Sarah | nein, ich meinte meine Tante", "mended", "entschuldige"),
    ("es", "mucho lío | eso no viene a cuento | ¿eh? ¿por qué?", "complain", ""),
    ("es", "mucho lío | no te pregunto por el trabajo, te pregunto por mi hermana", "complain", ""),
    ("es", "mucho lío | pero lo que me preocupa es el alquiler", "complain", ""),
    # How to begin a message is asked back gently, and in grief nobody is asked for a guess.
    ("de", "Ich will meinem Bruder schreiben | Wie fängt man so eine Nachricht an?", "howwrite !wonder", ""),
    ("en", "how do I start a message like that", "howwrite", ""),
    ("es", "¿cómo se empieza un mensaje así?", "howwrite", ""),
    ("de", "mein Opa ist gestorben | wie soll ich das bloß schaffen?", "quiet", ""),
    ("es", "Mi abuela murió el domingo. | ¿por qué ella?", "quiet", ""),
    # A few words after a question answer it.
    ("en", "my wife and I argue all the time | about money", "!money", "“about money”"),
    # A note with its text asks for the sentence; a step is changed on Home; an account is there.
    ("en", "note something about me: I love fishing", "note_again", ""),
    ("de", "Etwas über mich notieren: ich werde Tischlerin", "note_again", ""),
    ("es", "apuntar algo sobre mí: me encanta pescar", "note_again", ""),
    ("en", "I'll call mum on friday | actually make that thursday, not friday", "list", "home page"),
    ("de", "Ich rufe am Freitag Mama an | zeig mir die Liste", "list", "Startseite"),
    ("es", "enséñame la lista", "list", "inicio"),
    ("en", "is it free, do I have to register?", "register !real", "account"),
    ("de", "muss ich mich registrieren?", "register", ""),
    ("es", "hay que registrarse?", "register !real", ""),
    ("en", "who can read this?", "private", "the people who run this server could"),
    ("de", "Liest hier jemand mit?", "private", "wer den Server betreibt, könnte es"),
    ("es", "¿quién lee esto?", "private", "quienes llevan el servidor podrían"),
    # Who said when isn't asked when.
    ("en", "my boyfriend broke up with me yesterday", "breakup quiet", ""),
    ("de", "Mein Freund hat gestern Schluss gemacht", "breakup quiet", ""),
    ("es", "Mi novia me dejó ayer", "breakup quiet", ""),
    # What was told is found again or not, steps are dropped, nobody is blamed and nothing is cheered on.
    ("en", "Do you remember how long we were together?", "", "I can't find in what you've written here"),
    ("en", "We were together for nine years | Do you remember how long we were together?", "", "nine years”"),
    ("en", "whose fault is it", "fault", ""),
    ("es", "¿quién tiene la culpa?", "fault", ""),
    ("en", "I'll call the dentist tomorrow | Delete it", "", "is off your list"),
    ("en", "I got promoted! | He's always been like that, my brother, never glad for me", "!success", ""),
    ("de", "Im Büro haben sie eine Jüngere befördert.", "!success", ""),
    ("de", "Gut, dann ruf ich morgen den Vermieter an.", "", "„Ich ruf den Vermieter an“ steht auf"),
    # What others say of the person and what is said by the way are no situation of theirs.
    ("en", "she always says I'm lazy but I studied for three days", "!putoff", ""),
    ("en", "My sister, who got promoted, came by", "!success", ""),
    ("en", "my boss told everyone in the meeting that the delay was my fault", "boss !guilt", ""),
    ("en", "My husband used to do the talking. | He passed in March.", "quiet !success", ""),
    ("en", "I clean offices at night", "!good_night !goodbye", ""),
    ("en", "I interrupt people | I'll try to count to three before I speak tomorrow", "!goodbye", ""),
    # A question about what the tour says, does or would do is answered as what it is.
    ("en", "two job offers | so you're saying I should take the first?", "putsay", ""),
    ("de", "Zwei Angebote | also du sagst, ich soll das erste nehmen?", "putsay", ""),
    ("es", "Tengo dos ofertas | ¿me estás diciendo que coja la primera?", "putsay", ""),
    ("en", "what happens if I write something you've got no rule for?", "norule", ""),
    ("en", "are you going to tell my teacher?", "secret", ""),
    ("en", "the dog barks all night | what if he never stops", "fear", ""),
    # A decision that is told is no wish to weigh it here and now.
    ("en", "I need to decide whether I move to Leeds", "!walk", ""),
    ("en", "weigh a decision", "walk", ""),
    ("en", "I'm thinking about whether to quit my job", "quit !walk", ""),
    ("en", "I can't decide whether to stay or go", "decide !walk", ""),
    ("de", "Ich überlege, ob ich kündige", "!walk", ""),
    ("es", "No sé si dejar el trabajo", "!walk", ""),
    # What only sounds like danger is asked about by nobody, and what may be meant so still is.
    ("en", "I'm scared I can't do it", "!help_maybe !help_first !help_hint", ""),
    ("en", "I know what to do I just don't do it", "!help_maybe !help_first !help_hint", ""),
    ("en", "my cat gets put to sleep tomorrow | I don't want to be there", "quiet !help_first", ""),
    ("en", "I don't want to be here", "help_first", ""),
    ("en", "I don't want to be there any more", "help_first", ""),
    ("en", "I've written the letters. I'm scared I can't do it", "help_maybe", ""),
]  # fmt: skip


def wordings_of(name: str) -> Sequence[str]:
    """Return the beginnings of what there is to say by that name."""
    scene = next((each for each in scenes(texts.language()) if each.name == name), None)
    known = [*scene.says, *scene.more, *scene.asks] if scene else [*texts.answers(name)]
    known += texts.questions().get(name, ()) if not scene else ()
    known = known or [texts.said(name)]
    after = [(each.partition("{words}")[2] or each).strip(" .,”") for each in known]
    return [SENTENCE.split(each)[0] for each in after]


def assert_fit(reply: str, language: str, said: Sequence[str]) -> None:
    """Assert what holds for each answer."""
    assert len(questions_in(reply)) <= 1
    assert not [*claims_in(reply), *removal_claims_in(reply), *reminder_claims_in(reply)]
    assert language_of(reply) in {None, language}
    sentences = [each for each in SENTENCE.split(reply) if len(each) >= MIN_SENTENCE]
    assert not [each for each in sentences if each in "\n".join(said)]


@pytest.mark.parametrize(("language", "talk", "names", "words"), ROWS, ids=[row[1] for row in ROWS])
async def test_what_follows_is_answered_as_what_it_is(
    http: Http, language: texts.Language, talk: str, names: str, words: str
) -> None:
    header = f"<session_context>\nName: not known yet\nLanguage: {NAMES[language]}\n</session_context>"
    walk = TalkWalk(http, header=header, without={"show_help_lines"}, says_yes=True)
    said = [await walk.say({"en": "hi", "de": "hallo", "es": "hola"}[language])]
    begun = len(walk.calls)
    for turn in talk.split(" | "):
        reply = await walk.say(turn)
        assert_fit(reply, language, said)
        said.append(reply)
    called = {name for name, _ in walk.calls[begun:]}
    assert not called & RATES
    assert not walk.files
    assert words in reply
    with texts.speaking(language):
        for name in names.split():
            assert holds(name, reply, called), (name, reply)


def holds(name: str, reply: str, called: set[str]) -> bool:
    """Return whether an answer is what a name of the table says."""
    if name.startswith("!"):
        return not holds(name[1:], reply, called)
    if name == "walk":
        return bool(called)
    if name == "quiet":
        return "?" not in reply and not called
    return any(each in reply for each in wordings_of(name))
