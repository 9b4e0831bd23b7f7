"""Which lines of a brief say what its user has struck, however the model rewords them, and which don't."""

import time

import pytest

from coaching.context.closeness import has_word, is_close, without_struck

STRUCK = "You want to leave the clinic by summer [12]"


@pytest.mark.parametrize(
    "written",
    [
        "The clinic: leaving it by summer is something you want",
        "By the summer, you really want to be leaving the clinic [3]",
        "You still want to finally leave the clinic, currently planned by the end of summer [3; 9]",
        "You wanted to leave the clinics by summers",
        "LEAVE – clinic – by summer – you want",
        "You have a sister, and you want, as you said, to leave the clinic by this summer, if possible [1]",
        "You want to leave the clinic [12]\nYou want to do so by summer [12]",
        "The clinic: [12]\nYou want to leave by summer",
        "You want to leave the clinc by sumer",
        "You wish to leave the clinic by summer",
    ],
)
def test_a_struck_line_is_known_in_reworded_ones(written: str) -> None:
    lines = ["You have a cat", *written.splitlines(), "Your sister is Anna"]
    assert without_struck(lines, ["You like coffee", STRUCK]) == ["You have a cat", "Your sister is Anna"]


@pytest.mark.parametrize(
    ("struck", "others"),
    [
        (
            STRUCK,
            [
                "You want to leave the choir by summer",
                "You want to leave the clinic by winter",
                "You want to see the clinic by summer",
                "You want to stay at the clinic until summer",
                "Your work at the clinic is good",
                "You want a summer at the sea",
                "In summer you want to visit your sister, who works at a clinic and will leave town",
            ],
        ),
        ("Hannah is your sister", ["Anna is your sister", "Hannah is your boss", "Your sister is a nurse"]),
        ("You owe Mark 400 euros since May", ["You owe Mark 900 euros since May", "You owe Lena 400 euros"]),
        ("You take 20 mg of sertraline in the morning", ["You take 50 mg of sertraline in the morning"]),
        ("You will see Dr Weber on Monday", ["You will see Dr Weber on Friday"]),
        ("Your mother is ill", ["Your brother is ill", "Your mother is well", "Your mother lives in Bonn"]),
        ("You sleep badly", ["You sleep well", "You eat badly"]),
        ("You like tea", ["You like jam", "Your sister likes tea with milk and you like coffee"]),
        ("あなたは夏までに診療所を辞めたい", ["あなたの妹は東京に住んでいる"]),
    ],
)
def test_other_facts_in_nearly_the_same_words_stay(struck: str, others: list[str]) -> None:
    assert without_struck(others, [struck]) == others


@pytest.mark.parametrize(
    ("struck", "written"),
    [
        ("Du willst die Klinik bis zum Sommer verlassen", "Bis zum Sommer verlässt du die Klinik"),
        ("あなたは夏までに診療所を辞めたい [1]", "あなたは、夏までに診療所を辞めたいです [2]"),
        (
            "You and Anna argued about money at Easter",
            "Over Easter there was an argument about money between you and Anna",
        ),
    ],
)
def test_other_words_and_languages_are_compared_too(struck: str, written: str) -> None:
    assert without_struck([written, "You have a cat"], [struck]) == ["You have a cat"]


def test_a_correction_isnt_taken_for_the_line_that_it_corrects() -> None:
    assert is_close("Anna is your sister", "Your sister is Anna [4]")
    assert not is_close("Anna is your sister", "Hannah is your sister [4]")


def test_a_word_is_found_with_a_short_ending_alone_also_in_a_long_text_that_repeats_its_letters() -> None:
    assert has_word("tom", "i saw toms cat")
    assert has_word("tom", "tomorrow i see tom")
    assert not has_word("tom", "tomorrow i see an atom")
    began = time.process_time()
    assert not has_word("a", "a" * 50_000)
    assert time.process_time() - began < 2
