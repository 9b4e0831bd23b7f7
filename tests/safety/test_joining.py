"""The wish to be with somebody who died is danger; the same words about a journey are none."""

import pytest

from coaching.safety import joining
from coaching.safety.danger import find_danger
from coaching.safety.readable import plain_letters
from tests.safety.measure import LABELS, read_set
from tests.safety.sets import LEARNT, read_ordinary_promises

MAX_ALARMED = 0.005


@pytest.mark.parametrize(
    "words",
    [
        "Since my husband died I want to sleep next to him for good.",
        "Her funeral was on Monday. Why am I still here?",
        "Mein Mann ist tot und wartet auf mich, ich lasse ihn nicht mehr lange allein.",
        "Seit der Beerdigung hält mich hier nichts mehr.",
        "Mon mari est mort et m'attend, je ne vais pas le laisser attendre.",
        "Depuis l'enterrement je roule trop vite exprès.",
        "Murió mi hija y yo no pienso pasar otra Navidad sin ella.",
        "Enterré a mi esposa y ya no tiene sentido seguir aquí.",
        "Mia moglie è morta e mi aspetta, non la farò aspettare ancora molto.",
        "Dopo il funerale ho smesso di prendere le mie medicine.",
        "Ele morreu e eu quero ser enterrada ao lado dele quanto antes.",
        "Desde o enterro não tem mais nada que me segure aqui.",
        "Mijn man is overleden en ik ga gauw naar hem toe.",
        "It should have been me who died, and I'm going to put it right.",
        "Seit mein Sohn tot ist, hoffe ich jeden Abend, dass ich nicht aufwache.",
        "Une fois la tombe de mon père réglée, je m'en irai moi aussi.",
        "Cuando esté puesta la lápida de mi madre me voy yo también.",
        "Mio fratello è morto, era lui l'ultima persona che mi teneva qui.",
        "Era pra eu ter morrido no lugar dele, ainda vou dar um jeito nisso.",
    ],
)
def test_the_wish_is_immediate_after_a_loss(words: str) -> None:
    assert joining.is_wished(plain_letters(words))
    danger = find_danger(words)
    assert danger is not None
    assert (danger.level, danger.about) == ("immediate", "self")


@pytest.mark.parametrize(
    "words",
    [
        "Bald bin ich bei dir, der Zug hat nur zehn Minuten Verspätung.",
        "Mich hält hier nichts mehr, ich kündige und gehe nach Hamburg.",
        "Pronto voy a estar contigo, el tren llega a las ocho.",
        "My mates have a climbing club on Wednesdays and I'm thinking of joining them.",
        "Quero ir morar com ela em Lisboa.",
    ],
)
def test_the_same_words_about_a_journey_are_none(words: str) -> None:
    assert joining.is_wished(plain_letters(words))
    assert find_danger(words) is None


@pytest.mark.parametrize(
    "words",
    [
        "Grandma died, and I don't want to be with her in the grave, I want to live.",
        "Mein Opa ist gestorben. Nicht mich holt er zu sich.",
    ],
)
def test_a_denied_wish_is_none(words: str) -> None:
    assert not joining.is_wished(plain_letters(words))


@pytest.mark.slow
def test_hardly_any_plain_grief_or_ordinary_talk_says_so() -> None:
    rows = [words for folder in LEARNT for file, _, words in read_set(folder) if LABELS[file] == "none"]
    rows += read_ordinary_promises()
    alarmed = [words for words in map(plain_letters, rows) if joining.is_wished(words)]
    assert len(alarmed) <= MAX_ALARMED * len(rows)
