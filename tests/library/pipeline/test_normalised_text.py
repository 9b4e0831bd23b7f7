"""How near-same texts are found and compared."""

import random

import pytest

from coaching.library.pipeline.normalised_text import fingerprint, similarity, word_pairs

WORDS = [f"word{number}" for number in range(2_000)]


def test_the_similarity_is_the_share_of_common_pairs() -> None:
    one, other = word_pairs("The rent is due on Monday."), word_pairs("the rent is due on friday")
    assert similarity(one, other) == pytest.approx(4 / 6)
    assert similarity(one, one) == 1.0
    assert similarity(word_pairs(""), word_pairs("Rent")) == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("length", [20, 200, 5_000])
def test_texts_that_are_almost_the_same_share_a_number(length: int) -> None:
    chance = random.Random(length)
    for _ in range(50):
        words = chance.choices(WORDS, k=length)
        changed = list(words)
        for place in chance.sample(range(length), k=max(1, length // 45)):
            changed[place] = "changed"
        one, other = word_pairs(" ".join(words)), word_pairs(" ".join(changed))
        assert 0.8 < similarity(one, other) < 1
        assert set(fingerprint(one)) & set(fingerprint(other))
