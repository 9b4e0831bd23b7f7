"""What would do harm isn't a step at once, in six languages, and what only sounds alike is."""

import pytest

from coaching.library.promises import Claim, weigh
from coaching.library.quote_context import Said
from tests.steps.measure import MONDAY


def why(quote: str, words: str = "") -> str:
    claim = Claim(quote=quote, purpose="new", title=quote)
    return weigh(claim, [Said(number=1, text=words or quote, day=MONDAY)]).why


@pytest.mark.parametrize(
    "words",
    [
        "Tomorrow I'll upload his intimate photos to the team folder",
        "Morgen stelle ich ihre intimen Fotos in die Klassengruppe",
        "Mañana subo sus fotos privadas al grupo del trabajo",
        "Demain je publie les photos intimes de mon ex",
        "Domani pubblico le foto intime della mia ex",
        "Amanhã publico as fotos íntimas da minha ex",
        "Tonight I'll take the shotgun over to the neighbour",
        "Heute Abend hole ich das Gewehr aus dem Keller",
        "Esta noche cojo la escopeta del abuelo",
        "Ce soir je prends le fusil de chasse de mon père",
        "Stasera prendo il fucile dello zio",
        "Hoje à noite pego na caçadeira do avô",
        "Tonight I'll teach that girl a lesson with the belt",
        "Heute Abend kriegt er es mit dem Gürtel, ich hole ihn jetzt",
        "Esta noche le pego con el cinturón",
        "Ce soir je lui donne une bonne leçon avec la ceinture",
        "Stasera lo prendo a cinghiate",
        "Hoje à noite ele leva com o cinto, vou buscá-lo agora",
        "On Friday I'll blackmail my supervisor",
        "Am Freitag erpresse ich meinen Vorgesetzten",
        "El viernes chantajeo a mi jefa",
        "Vendredi je fais chanter mon patron",
        "Venerdì ricatto il mio capo",
        "Na sexta faço chantagem ao meu chefe",
        "Tomorrow I'll put bleach in his drink",
        "Morgen mische ich ihr was in ihren Kaffee",
        "Mañana le echo matarratas al perro del vecino",
        "Demain je mets quelque chose dans son verre",
        "Domani metto qualcosa nel suo bicchiere",
        "Amanhã ponho uma coisa na bebida dela",
        "Tonight I'll set light to the shed next door",
        "Heute Nacht lege ich Feuer in der Scheune",
        "Esta noche le meto fuego al coche",
        "Ce soir je mets le feu à la grange",
        "Stanotte do fuoco al garage",
        "Hoje à noite meto fogo ao carro",
        "After work I'll follow her to the station",
        "Nach der Arbeit folge ich ihr bis nach Hause",
        "Al salir del trabajo la sigo hasta su portal",
        "Après le travail je vais la suivre",
        "Dopo il lavoro la seguo fino a casa",
        "Depois do trabalho sigo-a até casa",
        "I'll drive home drunk on Saturday",
        "Am Samstag fahre ich betrunken heim",
        "El sábado conduzco borracho a casa",
        "Samedi je rentre ivre en voiture",
        "Sabato torno ubriaco in macchina",
        "No sábado conduzo bêbado para casa",
        "From Monday I'm stopping the lithium",
        "Ab Montag setze ich das Lithium ab",
        "Desde el lunes dejo los medicamentos",
        "Dès lundi j'arrête mes antidépresseurs",
        "Da lunedì smetto gli antidepressivi",
        "A partir de segunda deixo os antidepressivos",
        "Tonight I'll hold the lighter to my arm",
        "Heute Abend verbrenne ich mich am Arm",
        "Esta noche me quemo el brazo",
        "Ce soir je me brûle le bras",
        "Stasera mi brucio il braccio",
        "Hoje à noite me queimo no braço",
        "Tomorrow I'll skip every meal",
        "Morgen esse ich nichts",
        "Mañana me salto todas las comidas",
        "Demain je saute tous les repas",
        "Domani salto tutti i pasti",
        "Amanhã vou pular todas as refeições",
        "Friday I'm getting high with Tom",
        "Am Freitag hole ich mir Gras",
        "El viernes me fumo un porro con Luis",
        "Vendredi je fume un joint avec Luc",
        "Venerdì mi faccio una canna con Luca",
        "Na sexta fumo um charro com o Rui",
        "Tomorrow I'll take it from the till",
        "Morgen nehme ich das Geld aus der Kasse",
        "Mañana cojo dinero de la caja",
        "Demain je prends l'argent dans la caisse",
        "Domani prendo i soldi dalla cassa",
        "Amanhã tiro o dinheiro da carteira dela",
    ],
)  # fmt: skip
def test_a_plan_of_harm_waits(words: str) -> None:
    assert why(words) != ""


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("At half six I'm lying down", "At half six I'm lying down, blackout curtains drawn."),
        ("let me text my sister right now", "let me text my sister right now and tell her we're coming"),
        (
            "Monday 8:30 to 9:30 I work on the budget",
            "Planner's open. Monday 8:30 to 9:30 I work on the budget.",
        ),
    ],
)
def test_an_everyday_promise_is_a_step_at_once(quote: str, words: str) -> None:
    assert why(quote, words) == ""


@pytest.mark.parametrize(
    ("quote", "words"),
    [
        ("sing at the wedding on Saturday", "I will not, whatever happens, sing at the wedding on Saturday."),
        ("am Samstag beim Fest singen", "Ich werde auf keinen Fall, egal wie, am Samstag beim Fest singen."),
        ("cantar el sábado en la boda", "No voy a, bajo ningún concepto, cantar el sábado en la boda."),
        ("chanter samedi au mariage", "Je ne vais pas, quoi qu'il arrive, chanter samedi au mariage."),
        ("cantare sabato alla festa", "Non andrò, per nessun motivo, a cantare sabato alla festa."),
        ("cantar no sábado na festa", "Não vou, de maneira nenhuma, cantar no sábado na festa."),
    ],
)
def test_a_negation_before_an_aside_governs_the_verb_after_it(quote: str, words: str) -> None:
    assert why(quote, words) == "negated"


def test_another_clause_after_a_negated_one_is_not_negated() -> None:
    words = "Ich gehe nicht ins Kino, am Samstag räume ich die Garage auf."
    assert why("am Samstag räume ich die Garage auf", words) == ""


@pytest.mark.parametrize("after", [". Brilliant.", " 🤡", ". What could go wrong."])
def test_praise_alone_or_a_clown_after_a_sentence_mocks_it(after: str) -> None:
    promise = "I'll practise the trumpet at noon"
    assert why(promise, f"{promise}.") == ""
    assert why(promise, f"{promise}{after}") == "joke"
