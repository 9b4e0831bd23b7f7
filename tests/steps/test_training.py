"""The weights of promises: learnt from the tables as they are, and of use for others."""

from coaching.library.promise_weights import WEIGHTS, learnt_weights
from coaching.safety.weighed import ALWAYS
from tests.steps.measure import FOLDER, is_promise, read_rows, why
from tests.steps.training import MIN_SENTENCES, Example, all_examples, digest_of, learn, read_examples

LEARNT = [FOLDER / f"written_{author}.tsv" for author in "abcd"]
LEFT_OUT = FOLDER / "written_e.tsv"
LEAST_FOUND = 0.6
MOST_OTHERS = 0.03


def test_the_weights_are_learnt_from_the_tables_and_words_of_today() -> None:
    reason = "run: python -m tests.steps.training --write"
    text = WEIGHTS.read_text(encoding="utf-8")
    assert f"# Learnt from: {digest_of(all_examples())}" in text, reason


def test_each_weight_has_a_feature() -> None:
    assert all(learnt_weights())
    assert ALWAYS in learnt_weights()


def test_what_only_promises_say_weighs_for_one_and_the_same_sentences_give_the_same_weights() -> None:
    examples = [
        Example(author="one", features=frozenset({thing, day}), is_promise=thing == "call")
        for thing in ("call", "moon")
        for day in ("today", "monday", "sunday")
        for _ in range(MIN_SENTENCES)
    ]
    weights = learn(examples)
    assert weights == learn(examples)
    assert weights["call"] > 0 > weights["moon"]


def test_weights_of_few_authors_know_promises_of_one_who_is_left_out_and_write_hardly_anything_else() -> None:
    weights = learn([each for table in LEARNT for each in read_examples(table)])
    written = [row for row in read_rows(LEFT_OUT) if not why(row, weights)]
    promised = sum(is_promise(row) for row in read_rows(LEFT_OUT))
    others = [row for row in written if not is_promise(row)]
    assert sum(map(is_promise, written)) >= LEAST_FOUND * promised
    assert len(others) <= MOST_OTHERS * (len(read_rows(LEFT_OUT)) - promised), others
    assert not [row for row in others if row["kind"] == "harm"]
