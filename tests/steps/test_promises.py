"""What a person said is a step at once only if they promised it: by tables of sentences.

The words and the weights were learnt from all of them but two of the fresh ones (`measure.LEARNT`);
`test_training` measures weights on the sentences of an author they weren't learnt from. By the author of the
rules are `held`, `promises`, `promises_hard`, `promises_own`, `written_l` and `written_m`. Others were
written before a look at the rules, `written_h` to `written_m`, `fresh_third` and `fresh_fourth` by one
writer. So were `fresh_fifth` and `fresh_sixth`, by another, and the later ones, each by one. `written_p` and
`written_q` are by one who had read three of the fresh ones, about other things: promises and jokes of the
same words, habits, and the doings of other people. `written_r` to `written_v` are by one who had read all of
them, about other things, too: all kinds of the fresh ones, and plain promises without more. `written_w` and
`written_x` are by one who had read samples: what was done, habits, and promises in other words and orders.
"""

import time
from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import pytest

from coaching.library.promise_weights import AGAINST, ENOUGH
from coaching.library.promises import MAX_CHARACTERS, Claim, weigh
from coaching.library.quote_context import Said
from coaching.safety.weighed import ALWAYS
from tests.patience import is_quick
from tests.steps.measure import FRESH, MONDAY, read_rows, why
from tests.steps.training import OF_A_FOURTH, OF_A_THIRD, author_of

TABLES = sorted(Path(__file__).parent.glob("promises*.tsv"))
HELD = Path(__file__).with_name("held.tsv")
WRITTEN = sorted(Path(__file__).parent.glob("written_*.tsv"))
LEAST_OF_FRESH, MOST_OF_FRESH = 71, 1
"""Of 80 promises, and of 120 others or a few more, by a stranger: figures after their errors were seen."""
LEAST_OF_STRANGERS = 0.82
MOST_OTHERS = 7
"""Of strangers' sentences."""
MOST_OF_HARD = 15
"""Of sentences that were written to look like promises (`training.OF_A_THIRD`, `OF_A_FOURTH`)."""
LEAST_FOUND = 0.9
"""Of the real promises, how many are written without a question."""


@pytest.mark.slow
@pytest.mark.parametrize("table", [*TABLES, HELD], ids=lambda table: table.stem)
def test_nothing_is_written_at_once_that_nobody_promised(table: Path) -> None:
    wrong = [row["words"] for row in read_rows(table) if row["may_write"] == "no" and not why(row)]
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("table", [*TABLES, HELD], ids=lambda table: table.stem)
def test_nearly_all_promises_are_written_at_once(table: Path) -> None:
    promised = [row for row in read_rows(table) if row["may_write"] == "yes"]
    asked = [(row["words"], said) for row in promised if (said := why(row))]
    assert len(asked) <= len(promised) * (1 - LEAST_FOUND), asked


@pytest.mark.slow
@pytest.mark.parametrize("table", FRESH, ids=lambda table: table.stem)
def test_of_a_strangers_sentences_most_promises_and_hardly_any_others_are_written_at_once(
    table: Path,
) -> None:
    written = Counter(row["kind"] for row in read_rows(table) if not why(row))
    assert written.pop("promise") >= LEAST_OF_FRESH
    assert written.total() <= MOST_OF_FRESH, written
    assert not written.keys() & {"harm", "truncated", "relapse", "retracted", "coach"}


@pytest.mark.slow
@pytest.mark.parametrize("table", WRITTEN, ids=lambda table: table.stem)
def test_of_strangers_hardly_anything_but_promises_is_written_at_once_and_no_harm(table: Path) -> None:
    written = Counter(row["kind"] for row in read_rows(table) if not why(row))
    promised = sum(row["kind"] == "promise" for row in read_rows(table))
    assert written.pop("promise") >= LEAST_OF_STRANGERS * promised
    most = MOST_OF_HARD if author_of(table) in {OF_A_THIRD, OF_A_FOURTH} else MOST_OTHERS
    assert written.total() <= most, written
    assert "harm" not in written


@pytest.mark.parametrize("quote", ["I'll call the bank", "Ich werde die Bank anrufen", "Llamaré al banco"])
def test_a_plain_promise_needs_no_day(quote: str) -> None:
    assert weigh(Claim(quote=quote, purpose="new", title=quote), [said(f"{quote}.")]).why == ""


@pytest.mark.parametrize(
    "around", ["{}. Work is loud.", "Work is loud. {}.", "My boss says hi. {}. It rained, of course."]
)
def test_what_is_said_around_a_plain_promise_does_not_count_against_it(around: str) -> None:
    for quote in ("I'll call my sister on Thursday", "Tomorrow I'm seeing the doctor"):
        words = around.format(quote)
        assert weigh(Claim(quote=quote, purpose="new", title=quote), [said(words)]).why == ""


def test_a_plain_promise_that_is_taken_back_copied_or_a_joke_is_none() -> None:
    quote = "I'll call my sister on Thursday"
    for words in (
        f"{quote}. No wait, she's away.",
        f"Jess: {quote}",
        f"{quote} lol",
        f"Yeah right, {quote}.",
    ):
        assert weigh(Claim(quote=quote, purpose="new", title=quote), [said(words)]).why


@pytest.mark.parametrize(
    ("quote", "rest"),
    [
        ("I'll write today", "... sorry, ignore that."), ("I'll write today", ". Just kidding."),
        ("I'll write today", ". Hmm, no, strike that."), ("Ich schreibe ihr heute", ". Moment, nein."),
        ("Ich schreibe ihr heute", ". Ach, vergessen Sie das."), ("Hoy le escribo", "... mentira, paso."),
        ("Hoy le escribo", ". No, olvídelo."), ("Je lui écris ce soir", ". Euh non, pardon."),
        ("Je lui écris ce soir", ". Laissez tomber."), ("Domani scrivo alla zia", ". No, lascia stare."),
        ("Stasera le scrivo", "... scherzo, resto."), ("Hoje vou escrever-lhe", ". Não, esqueça isso."),
    ],
)  # fmt: skip
def test_what_is_taken_back_at_once_is_none(quote: str, rest: str) -> None:
    assert weigh(Claim(quote=quote, purpose="new", title=quote), [said(quote + rest)]).why in (
        "negated",
        "joke",
    )


@pytest.mark.parametrize(
    ("words", "quote"),
    [
        ("We buried Tom in May. On Sunday I'll join Tom.", "On Sunday I'll join Tom"),
        ("My affairs are in order. On Friday I'm off.", "On Friday I'm off"),
        ("Am Freitag warte ich am Tor, das Brecheisen liegt bereit.", "Am Freitag warte ich am Tor"),
        ("El lunes lo espero a la salida con el bate.", "El lunes lo espero a la salida"),
        ("Lunedì lo aspetto sotto con la spranga.", "Lunedì lo aspetto sotto"),
        ("Two years off them, but I'm buying cigs tonight.", "I'm buying cigs tonight"),
        ("I'm going to the casino tonight to win it back.", "I'm going to the casino tonight"),
        ("Avevo smesso, ma stasera compro le Marlboro.", "stasera compro le Marlboro"),
        ("I'll have a few tonight and drive home.", "I'll have a few tonight and drive home"),
        ("Check in with me on Sunday.", "Check in with me on Sunday"),
        ("pls remind me tonight about the form", "remind me tonight about the form"),
        ("Frag mich morgen danach.", "Frag mich morgen danach"),
        ("I'll pay him the day he apologises.", "I'll pay him the day he apologises"),
        ("I'm booking it on Friday. Don't hold your breath.", "I'm booking it on Friday"),
    ],
)
def test_harm_relapse_requests_and_what_others_must_do_first_are_asked_about(words: str, quote: str) -> None:
    assert weigh(Claim(quote=quote, purpose="new", title=quote), [said(words)]).why


@pytest.mark.parametrize(
    ("words", "quote"),
    [
        ("Since Tom died I'm alone. I'll join the choir on Monday.", "I'll join the choir on Monday"),
        ("I'll bin my cigarettes tonight.", "I'll bin my cigarettes tonight"),
        ("I'll ask him to remind me tomorrow.", "I'll ask him to remind me tomorrow"),
        ("I'll wait for the plumber tomorrow at nine.", "I'll wait for the plumber tomorrow at nine"),
    ],
)
def test_everyday_words_for_the_same_are_promises(words: str, quote: str) -> None:
    assert weigh(Claim(quote=quote, purpose="new", title=quote), [said(words)]).why == ""


@pytest.mark.parametrize(
    ("quote", "least"),
    [
        ("I'll call the bank", AGAINST),
        ("straight home, kettle, bed", ENOUGH),
    ],
)
def test_a_promise_weighs_enough_and_more_where_no_sign_sees_it(quote: str, least: int) -> None:
    claim = Claim(quote=quote, purpose="new", title=quote)
    assert weigh(claim, [said(quote)], {ALWAYS: least}).why == "no promise"
    assert weigh(claim, [said(quote)], {ALWAYS: least + 1}).why == ""


@pytest.mark.parametrize(
    "words",
    [
        "hoy limpié la cocina", "Hoy he llamado al banco.", "hoy fui al gimnasio", "Esta semana compré pan.",
        "oggi ho chiamato la banca", "Oggi sono andata in palestra.", "Volevo chiamare la scuola oggi.",
        "gestern habe ich meine Schwester angerufen", "Heute hab ich den Keller aufgeräumt.",
        "heute schrieb ich ihr einen Brief", "Bin heute zum Arzt gegangen.",
        "aujourd'hui j'ai rangé le bureau", "Je suis allée courir ce matin.",
        "hoje liguei para o banco", "Hoje fui à academia.", "Hoje limpei a cozinha inteira.",
        "I've called the bank today.", "I finally cleaned the kitchen.", "I was going to ring her tonight.",
    ],
)  # fmt: skip
def test_what_was_done_is_no_promise(words: str) -> None:
    claim = Claim(quote=words, purpose="new", title=words)
    assert weigh(claim, [said(words)], {ALWAYS: 10_000}).why


@pytest.mark.parametrize(
    ("words", "quote"),
    [
        ("Ya pagué la luz, mañana llamo al banco.", "mañana llamo al banco"),
        ("Hoy prepararé la cena.", "Hoy prepararé la cena"),
        ("Ho deciso: domani chiamo la banca.", "domani chiamo la banca"),
        ("Ich hab lang gewartet. Morgen ruf ich sie an.", "Morgen ruf ich sie an"),
        ("Bis Freitag hab ich die Steuererklärung abgeschickt.", "Bis Freitag hab ich die Steuererklärung"),
        ("J'ai décidé d'appeler la banque demain.", "J'ai décidé d'appeler la banque demain"),
        ("Já paguei a luz, amanhã ligo para o banco.", "amanhã ligo para o banco"),
        ("I've decided to call the bank today.", "I've decided to call the bank today"),
    ],
)
def test_what_is_still_to_be_done_may_be_one(words: str, quote: str) -> None:
    claim = Claim(quote=quote, purpose="new", title=quote)
    assert weigh(claim, [said(words)], {ALWAYS: 10_000}).why == ""


@pytest.mark.parametrize(
    "quote",
    ["Mi hermana llama al banco", "Der Klempner kommt am Donnerstag", "L'infirmière passe jeudi matin"],
)
def test_no_weight_makes_somebody_elses_step_the_persons(quote: str) -> None:
    assert weigh(Claim(quote=quote, purpose="new", title=quote), [said(quote)], {ALWAYS: 10_000}).why


@pytest.mark.parametrize(
    ("words", "quote", "expected"),
    [
        ("I'll tell her that I can't come.", "I'll tell her that I can't come", ""),
        ("I can't come, so I'll tell her tonight.", "I'll tell her tonight", ""),
        ("No idea if it helps, but I'll write to her.", "I'll write to her", ""),
        ("I'll take the stairs instead of the lift, no excuses.", "I'll take the stairs", ""),
        ("Ich rufe Mama und Papa am Sonntag nicht an.", "Ich rufe Mama und Papa am Sonntag", "negated"),
        ("I'll do anything except write to her.", "write to her", "negated"),
        ("I won't get up and write to her.", "write to her", "negated"),
        ("Está decidido que el lunes llamo a mi madre.", "el lunes llamo a mi madre", ""),
        ("Mi hermano dice que el lunes llamo a mi madre.", "el lunes llamo a mi madre", "reported"),
        ("Il faut que je parle à mon frère demain.", "je parle à mon frère demain", "reported"),
        ("I'm coming round on Sunday with a pie, she says.", "I'm coming round on Sunday", "reported"),
        ("Jess: I'll bring the cake tomorrow.", "I'll bring the cake tomorrow", "reported"),
        ("Tonight: I'll bake the cake.", "I'll bake the cake", ""),
        ("If I get the job I'll move out.", "I'll move out", "hedged"),
        ("I'll ask her if she can come.", "I'll ask her if she can come", ""),
        ("I'm feeling tired tonight, really.", "I'm feeling tired tonight", "no promise"),
        ("I call my mother.", "I call my mother", "no promise"),
        ("El hermano de Ana viene el lunes.", "El hermano de Ana viene el lunes", "no promise"),
        ("lol ok i'll book the dentist", "i'll book the dentist", ""),
        ("i'll book the dentist lol", "i'll book the dentist", "joke"),
        ("Dear coach, I'll write to her. Kind regards, Anna", "I'll write to her", ""),
        ("Dear Tom, I'll write to her. Kind regards, Anna", "I'll write to her", "pasted"),
        ("I'll write to her. Thanks, Anna", "I'll write to her", "pasted"),
        ("Jess, 14:02: I'll write to her", "I'll write to her", "pasted"),
        ("I got this text:\nI'll write to her today", "I'll write to her today", "pasted"),
        ("I'll write to her. No wait, I'd rather talk.", "I'll write to her", "negated"),
        ("Mañana la llamo. No, mejor no.", "Mañana la llamo", "negated"),
        ("Y ella: mañana la llamo.", "mañana la llamo", "reported"),
        ("Sometimes I'll write to her at night.", "I'll write to her at night", "no promise"),
        ("El domingo me siento con ella.", "El domingo me siento con ella", ""),
        ("Me siento mal hoy.", "Me siento mal hoy", "no promise"),
        ("El sábado le llevo el álbum.", "El sábado le llevo el álbum", ""),
        ("No es broma, mañana me apunto al curso.", "mañana me apunto al curso", ""),
        ("Dalo por hecho, hoy tiendo mi cama.", "hoy tiendo mi cama", ""),
        ("I'm telling Gary I can't do Sundays.", "I'm telling Gary I can't do Sundays", ""),
        ("I'll stop taking my tablets tomorrow.", "I'll stop taking my tablets tomorrow", "harm"),
        ("I'll miss her on Friday.", "I'll miss her on Friday", "no promise"),
        ("No sábado pinto a cerca.", "No sábado pinto a cerca", ""),
        ("El sábado le digo a mi jefe que necesito un día.", "El sábado le digo a mi jefe", ""),
        ("Mañana voy a casa de Eva y no me muevo de ahí.", "Mañana voy a casa de Eva", ""),
        ("I'll apologise to her the day she does.", "I'll apologise to her", "hedged"),
        ("On Saturday I'll water my plants.", "On Saturday I'll water my plants", ""),
        ("Samedi je taille la haie.", "Samedi je taille la haie", ""),
        ("Il sabato porto i fiori al cimitero.", "Il sabato porto i fiori al cimitero", "no promise"),
        ("Am Samstag danke ich der Schwester.", "Am Samstag danke ich der Schwester", ""),
        ("I'll see the nurse. Best wishes from Dave", "I'll see the nurse", "pasted"),
        ("va bn domani scrivo a Giulia", "domani scrivo a Giulia", ""),
        ("I'm leaving work at five today.", "I'm leaving work at five today", ""),
        ("Te doy mi palabra, el domingo voy a verla.", "el domingo voy a verla", ""),
        ("C'est dit, j'appelle la banque demain.", "j'appelle la banque demain", ""),
        ("I'll call her on Friday, and if she shouts I'll hang up.", "I'll call her on Friday", ""),
        ("I'll call her on Friday, but only if she writes.", "I'll call her on Friday", "hedged"),
        ("I'll speak on Friday. I've read that again, please ignore it.", "I'll speak on Friday", "negated"),
        ("comment je fais pour l'appeler lundi", "je fais pour l'appeler lundi", "question"),
        ("De haber podido, hoy dejaría la carrera.", "hoy dejaría la carrera", "hedged"),
        ("Half a year without, and tonight I'm buying cigs.", "tonight I'm buying cigs", "no promise"),
    ],
)
def test_a_sign_counts_where_it_governs_the_quote(words: str, quote: str, expected: str) -> None:
    assert weigh(Claim(quote=quote, purpose="new", title=""), [said(words)]).why == expected


def test_a_copied_mail_or_chat_is_pasted_however_short() -> None:
    for text in (
        "Von: Petra\nIch rufe morgen an.",
        "On Tuesday Mark wrote:\nI will call tomorrow.",
        "[14:02] jess: I'll call tomorrow",
        "---- Forwarded message ----\nI'll call tomorrow",
    ):
        quote = "I'll call tomorrow" if "I'll" in text else text.splitlines()[-1]
        assert weigh(Claim(quote=quote, purpose="new", title="Call"), [said(text)]).why == "pasted"


def test_what_comes_after_a_but_is_weighed_alone() -> None:
    claim = Claim(quote="I will go to the meeting", purpose="new", title="Go to the meeting")
    assert not weigh(claim, [said("I don't want to, but I will go to the meeting on Wednesday.")]).why
    assert weigh(claim, [said("I will go to the meeting, but not on Wednesday.")]).why == "negated"
    assert weigh(claim, [said("I want to, but I don't think I will go to the meeting.")]).why == "negated"


def test_the_table_has_all_kinds_in_five_languages() -> None:
    found = [row for table in TABLES for row in read_rows(table)]
    kinds = {"promise", "wish", "negation", "question", "quotation", "joke", "pasted", "harm", "truncated"}
    assert kinds <= {row["kind"] for row in found}
    assert len(Counter(row["language"] for row in found)) >= 5


def said(text: str, **values: object) -> Said:
    return Said(**{"number": 7, "text": text, "day": MONDAY, **values})  # type: ignore[arg-type]


def test_the_whole_sentence_is_kept_with_its_message() -> None:
    claim = Claim(quote="CALL  mum", purpose="new", title="Call Mum")
    found = weigh(claim, [said("A hard week. I’ll  call Mum on Thursday!  Right.")])
    assert (found.sentence, found.number, found.why) == ("I’ll call Mum on Thursday!", 7, "")


def test_a_day_follows_from_the_sentence_or_is_asked_about() -> None:
    thursday = date(2026, 12, 3)
    words = [said("I'll call Mum on Thursday.")]
    for day, expected in ((thursday, ""), (None, ""), (thursday + timedelta(days=1), "date")):
        claim = Claim(quote="I'll call Mum", purpose="new", title="Call Mum", due_date=day)
        assert weigh(claim, words).why == expected


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Am Donnerstag rufe ich an.", date(2026, 12, 3)),
        ("Übermorgen rufe ich an.", date(2026, 12, 2)),
        ("Ich werde sie am 3. Dezember anrufen.", date(2026, 12, 3)),
        ("La llamaré pasado mañana.", date(2026, 12, 2)),
        ("La llamaré el 3 de diciembre.", date(2026, 12, 3)),
        ("Je l'appellerai dans trois jours.", date(2026, 12, 3)),
        ("La chiamerò la prossima settimana.", date(2026, 12, 9)),
        ("Vou ligar amanhã.", date(2026, 12, 1)),
        ("I'll do it in two weeks.", date(2026, 12, 14)),
    ],
)
def test_days_are_read_in_six_languages(text: str, day: date) -> None:
    assert weigh(Claim(quote=text, purpose="new", title="", due_date=day), [said(text)]).why == ""
    assert weigh(Claim(quote=text, purpose="new", title="", due_date=MONDAY), [said(text)]).why == "date"


@pytest.mark.parametrize(
    ("text", "asked", "expected"),
    [
        ("Yes", "Shall I note that you call Mum on Thursday?", ""),
        ("yes, please do that", "Shall I note that you call Mum on Thursday?", ""),
        ("Ja gerne", "Soll ich aufschreiben, dass du Mum anrufst (call)?", ""),
        ("Yes", "How was your day?", "short"),
        ("Yes", "", "short"),
        ("No", "Shall I note that you call Mum on Thursday?", "negated"),
        ("Thursday", "When will you call Mum?", ""),
        ("Maybe", "Shall I note that you call Mum on Thursday?", "hedged"),
    ],
)
def test_a_whole_answer_agrees_to_what_sage_proposed(text: str, asked: str, expected: str) -> None:
    due = date(2026, 12, 3) if text == "Thursday" else None
    claim = Claim(quote=text, purpose="new", title="Call Mum", due_date=due)
    found = weigh(claim, [said(text, asked=asked)]).why
    assert bool(found) == bool(expected)


@pytest.mark.parametrize(
    ("text", "purpose", "day", "may_write"),
    [
        ("I called Mum, it was lovely.", "done", None, True),
        ("Done, we talked for an hour.", "done", None, True),
        ("I haven't called her.", "done", None, False),
        ("I'll call her later today.", "done", None, False),
        ("not yet, Saturday", "open", date(2026, 12, 5), True),
        ("Noch nicht, am Samstag.", "open", date(2026, 12, 5), True),
        ("not yet, Saturday", "open", date(2026, 12, 6), False),
        ("I'm not going to do that.", "dropped", None, False),
        ("Ich habe Mama angerufen.", "done", None, True),
    ],
)
def test_what_became_of_a_step_rests_on_words_too(
    text: str, purpose: str, day: date | None, may_write: bool
) -> None:
    claim = Claim(quote=text, purpose=purpose, title="Call Mum", due_date=day)  # type: ignore[arg-type]
    assert (weigh(claim, [said(text, asked="Did you call Mum?")]).why == "") is may_write


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["I'll call. ", "ok, ", "and i'm ", "so i that i ", "x: ", "que yo ", "und ich "]
)
def test_a_long_message_takes_linear_time(piece: str) -> None:
    text = (piece * 1_500)[: MAX_CHARACTERS - 20] + "I'll call my mum"
    for quote in ("I'll call my mum", text[: MAX_CHARACTERS // 2], "call my mum"):
        began = time.process_time()
        weigh(Claim(quote=quote, purpose="new", title="Call"), [said(text)])
        assert is_quick(time.process_time() - began, 1)
