"""Answers to Sage's question about suicide or harm: a yes is acute without any model, a no is none."""

import time

import pytest

from coaching.safety.answers import DANGER, danger_in_answer
from coaching.safety.danger import find_danger
from tests.safety.sets import LEARNT, read_answers

ASKED = "That sounds heavy. Are you thinking of killing yourself?"


@pytest.mark.parametrize(
    "words",
    [
        "Yes. Every night.", "kind of", "I guess so", "more than before", "not today but yes", "sometimes",
        "I don't know", "sí", "ja, manchmal", "Oui, le soir surtout.", "mi sa di sì", "mais ou menos", "soms",
        "Most nights. I never said so to anybody.", "Pra te ser sincero, sim",
    ],
)  # fmt: skip
def test_a_yes_is_immediate(words: str) -> None:
    assert danger_in_answer(words, asked=ASKED) == DANGER


@pytest.mark.parametrize(
    "words",
    [
        "No.", "no, not at all", "Nein, nur müde.", "Para nada.", "non, jamais", "Yeah, no, I'm just tired.",
        "nada disso, só cansado", "What do you mean?", "My boss called me again.", "not anymore",
        "Can we talk about something else?",
    ],
)  # fmt: skip
def test_a_no_and_other_words_are_none(words: str) -> None:
    assert danger_in_answer(words, asked=ASKED) is None


@pytest.mark.parametrize(
    "words",
    [
        "Until the kids are grown I suppose I have to stay", "It gets loud in here after midnight",
        "not actively", "No. I don't know.", "Wer würde das nicht?", "Me lo guardo para mí desde marzo",
        "I'd be lying if I said no", "Ich will nicht mehr leben", "Me gustaría decir que no",
        "credo di sì, non ce la faccio più", "Penso nisso o tempo todo",
        "Pas me tuer, juste ne plus me réveiller",
    ],
)  # fmt: skip
def test_whatever_neither_denies_nor_evades_is_immediate_if_it_was_the_last_question(words: str) -> None:
    assert danger_in_answer(words, asked=ASKED) == DANGER


@pytest.mark.parametrize(
    "words",
    [
        "I could never do that to my kids", "No, years ago, but not now", "I'd rather not talk about it",
        "Warum fragst du?", "Prefiero hablar de otra cosa", "Who can read this?", "...",
        "I did once, years back, but not now, no", "Das nicht. Ich vermisse ihn einfach.",
        "Antes sí, pero ya no", "Já pensei quando era jovem, hoje não penso mais.",
        "Não. Quero viver, só não quero viver nessa cidade.",
    ],
)  # fmt: skip
def test_denials_and_evasions_are_none(words: str) -> None:
    assert danger_in_answer(words, asked=ASKED) is None


@pytest.mark.parametrize(
    "words",
    [
        "I do. My sister died years ago. No one knows.",
        "Yes. My sister died years ago. Nobody knows about this.",
        "I am. When I was a kid my dad left. I haven't told anyone.",
        "Yes. It started years ago. I haven't stopped.",
        "Yes. My divorce was years ago. I never told anyone.",
        "I do. He died when I was young. I don't talk about it.",
        "Yeah. We lost the house years ago. I never got over it.",
        "Every day. No one knows.",
        "Ja. Meine Schwester ist vor Jahren gestorben. Niemand weiß davon.",
        "Ja. Vor Jahren ist mein Bruder gestorben. Nie habe ich das jemandem gesagt.",
        "Ja, schon. Als ich klein war, ging mein Vater. Nicht mal meine Frau weiß es.",
        "Sí. Mi hermana murió hace años. No lo sabe nadie.",
        "Sí. Hace años murió mi madre. No se lo he contado a nadie.",
        "Sí, a veces. Cuando era niño se fue mi padre. Nunca se lo dije a nadie.",
        "Oui. Ma sœur est morte il y a des années. Personne ne le sait.",
        "Oui. Il y a dix ans mon frère est parti. Je ne l'ai jamais dit à personne.",
        "Oui. Quand j'étais petite, mon père est mort. Personne ne sait.",
        "Sì. Mia sorella è morta anni fa. Non lo sa nessuno.",
        "Sì. Anni fa è morto mio fratello. Non l'ho mai detto a nessuno.",
        "Sì. Quando ero piccola se n'è andato mio padre. Mai detto a nessuno.",
        "Sim. Minha irmã morreu há anos. Ninguém sabe.",
        "Sim. Há anos morreu o meu pai. Não contei a ninguém.",
        "Sim. Quando era criança a minha mãe foi embora. Nunca falei disso.",
        "Ja. Mijn zus is jaren geleden overleden. Niemand weet het.",
        "Ja. Jaren geleden overleed mijn broer. Nooit aan iemand verteld.",
    ],
)
def test_anothers_past_and_that_nobody_knows_take_no_yes_back(words: str) -> None:
    assert danger_in_answer(words, asked=ASKED) == DANGER


@pytest.mark.parametrize(
    "words",
    [
        "I did once, years ago, but not now",
        "I did, years ago when my sister died. Not now.",
        "Yes, years ago. Not any more.",
        "I have, back then. I don't now. Nobody knows.",
        "Yes, as a teenager. I'm past that, no.",
        "Ja, vor Jahren mal, aber jetzt nicht mehr.",
        "Ja, damals, als meine Schwester starb. Heute nicht mehr.",
        "Manchmal, als ich jung war. Jetzt nicht mehr.",
        "Sí, hace años, pero ya no.",
        "Sí, cuando era joven. Ahora no.",
        "Sí, hace años, cuando murió mi hermana. Ya no.",
        "Oui, il y a des années, mais plus maintenant.",
        "Oui, quand j'étais ado. Plus maintenant.",
        "Oui, il y a longtemps, quand ma sœur est morte. Plus aujourd'hui.",
        "Sì, anni fa, ma ora no.",
        "Sì, quando ero ragazzo. Adesso non più.",
        "Sì, anni fa, quando è morta mia sorella. Oggi no.",
        "Sim, há anos, mas agora não.",
        "Sim, quando era jovem. Hoje não penso mais nisso.",
        "Sim, há anos, quando a minha irmã morreu. Agora não.",
        "Ja, jaren geleden, maar nu niet meer.",
        "Ja, vroeger wel. Nu niet meer.",
        "Yes, years ago. My sister helped me then. Not now.",
        "No. My sister died years ago.",
        "No. My sister died years ago. No one knows why.",
    ],
)
def test_a_past_of_ones_own_that_is_over_takes_a_yes_back(words: str) -> None:
    assert danger_in_answer(words, asked=ASKED) is None


@pytest.mark.parametrize(
    "words",
    [
        "What? No, I'm not thinking of harming myself. I'm waiting for a test result.",
        "I'm not thinking of killing myself.",
        "No, I am really not thinking about suicide, I'm tired.",
        "God no! I'd never do that to my kids.",
        "um, no",
        "Was? Nein!",
        "Nein, ich denke nicht daran, mir etwas anzutun.",
        "¿Qué? No, claro que no",
    ],
)
def test_the_questions_own_words_and_interjections_deny(words: str) -> None:
    assert danger_in_answer(words, asked=ASKED) is None
    assert find_danger(words) is None


@pytest.mark.parametrize(
    "words",
    [
        "I'm not thinking of killing myself. I'm planning it.",
        "No, I'm not thinking of killing myself, I'm doing it.",
        "I'm not thinking of suicide. It's settled.",
        "I'm not thinking of killing myself, but tomorrow it's over",
        "I'm not thinking of killing myself anymore, I've decided",
        "I'm not so much thinking of it as planning it",
    ],
)
def test_what_is_wanted_or_decided_takes_such_a_denial_back(words: str) -> None:
    assert danger_in_answer(words, asked=ASKED) == DANGER


@pytest.mark.parametrize(
    "words",
    [
        "No estoy pensando en matarme. Ya lo decidí.",
        "No pienso en hacerme daño. Lo voy a hacer mañana.",
        "No pienso más que en hacerme daño",
        "Mir etwas antun? Nein. Aber sterben will ich.",
        "Ich denke nicht daran, mir etwas anzutun, ich will nur sterben",
    ],
)
def test_only_a_whole_message_denies_in_words_that_name_danger(words: str) -> None:
    assert find_danger(words) is not None


def test_after_another_question_only_a_yes_or_a_cue_affirms() -> None:
    asked = f"{ASKED} And what did you have for dinner?"
    assert danger_in_answer("Rice with beans", asked=asked) is None
    assert danger_in_answer("Yes", asked=asked) == DANGER


@pytest.mark.parametrize(
    "asked",
    [
        "Denkst du daran, dir das Leben zu nehmen?",
        "¿Estás pensando en quitarte la vida?",
        "Est-ce que tu penses au suicide ?",
        "Stai pensando di ucciderti?",
        "Você está pensando em se matar?",
        "Denk je aan zelfmoord?",
        "Some people think about suicide then. Is that true for you?",
        "Tell me plainly whether you are thinking of suicide.",
    ],
)
def test_the_question_is_known_in_each_language_of_the_rules(asked: str) -> None:
    assert danger_in_answer("yes", asked=asked) == DANGER


@pytest.mark.parametrize(
    "asked",
    [
        "", "Shall we plan your day?", "Did you sleep?",
        "You said you aren't thinking of suicide, and I'm glad. Shall we plan your day?",
    ],
)  # fmt: skip
def test_a_yes_to_something_else_is_none(asked: str) -> None:
    assert danger_in_answer("Yes. Every night.", asked=asked) is None


@pytest.mark.parametrize(("words", "is_unsafe"), [("no", True), ("I don't know", True), ("Yes.", False)])
def test_of_safety_a_no_is_danger(words: str, is_unsafe: bool) -> None:
    assert (danger_in_answer(words, asked="Are you safe right now?") is not None) == is_unsafe


@pytest.mark.slow
def test_the_answers_that_the_words_were_chosen_with_are_heard() -> None:
    answers = [each for folder in LEARNT for each in read_answers(folder)]
    heard = [danger_in_answer(each.words, asked=each.asked) is not None for each in answers]
    affirmed = [is_heard for each, is_heard in zip(answers, heard, strict=True) if each.is_yes]
    assert sum(affirmed) >= 0.95 * len(affirmed)
    assert not [each for each, is_heard in zip(answers, heard, strict=True) if is_heard and not each.is_yes]


@pytest.mark.parametrize("piece", ["yes ", "no ", "?", "a", " ", "but ", "(", "so. ", "who "])
def test_the_longest_answer_and_question_cost_next_to_nothing(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    began = time.process_time()
    danger_in_answer(text, asked=text)
    assert time.process_time() - began < 1
