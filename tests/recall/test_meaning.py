"""Recall by meaning: with vectors that the tests make, through everything but the model itself."""

import uuid
from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from coaching.jobs.encoding import encode_passages
from coaching.models import RecallPassage, RecallSource, RecallVector
from coaching.personal_data.removal import remove_rows
from coaching.recall.encoder import Encoder
from coaching.recall.passages import read_passages
from coaching.recall.search import ANYTHING, Bounds, search
from coaching.recall.vectors import (
    has_vectors,
    make_room_for_vectors,
    people_behind,
    read_unencoded,
    store_vectors,
)
from sessions_app.database import in_database
from sessions_app.models import CorrectionKind, TurnStatus
from tests.recall.concepts import ConceptEncoder, SilentEncoder
from tests.recall.history import plan_of_ranking, talk

pytestmark = pytest.mark.django_db

ENCODER = ConceptEncoder()


@pytest.fixture(autouse=True)
def filler(user: User) -> None:
    """Other things that were said, so that closeness means something."""
    talk(user, *(f"We spoke of walking, weather and lunch, number {number}" for number in range(30)))


def encode(user: User, encoder: ConceptEncoder = ENCODER) -> int:
    """Give all passages of a user their vectors, as the job does."""
    assert make_room_for_vectors()
    passages = read_unencoded(user.pk, model=encoder.key, limit=1_000)
    begun = encoder.begin([passage.text for passage in passages])
    assert begun
    return store_vectors(user.pk, passages, begun.result(), model=encoder.key)


def found(
    user: User, query: str, *, encoder: Encoder = ENCODER, limit: int = 3, bounds: Bounds = ANYTHING
) -> Sequence[str]:
    hits = search(query, user_id=user.pk, now=timezone.now(), limit=limit, bounds=bounds, encoder=encoder)
    return [passage.text for passage in read_passages(hits, user_id=user.pk)]


def test_an_answer_in_other_words_is_found(user: User) -> None:
    talk(user, "I borrowed two thousand from Ines")
    assert "I borrowed two thousand from Ines" not in found(user, "Do I have any debt?")
    encode(user)
    assert found(user, "Do I have any debt?", limit=1) == ["I borrowed two thousand from Ines"]


def test_what_has_the_words_and_the_meaning_ranks_first(user: User) -> None:
    talk(user, "The puppy is called Milo")
    talk(user, "My dog is called Rex")
    encode(user)
    first, second, *_ = found(user, "Which dog?")
    assert (first, second) == ("My dog is called Rex", "The puppy is called Milo")


def test_nobody_finds_what_another_person_means(user: User, other_user: User) -> None:
    talk(other_user, "My spaniel bit the postman", "Oh dear")
    talk(user, "I like cats")
    encode(user)
    encode(other_user)
    assert "My spaniel bit the postman" not in found(user, "Which dog?", limit=100)
    assert found(other_user, "Which dog?", limit=1) == ["My spaniel bit the postman"]
    passages = read_unencoded(user.pk, model=99, limit=1)
    assert store_vectors(other_user.pk, passages, [[1.0]], model=99) == 0, "not even by a passage's key"


def test_what_has_no_vector_yet_is_found_by_its_words(user: User) -> None:
    talk(user, "I borrowed two thousand from Ines")
    encode(user)
    talk(user, "The debt is paid")
    assert set(found(user, "Do I have any debt?", limit=2)) == {
        "I borrowed two thousand from Ines",
        "The debt is paid",
    }


@pytest.mark.parametrize(
    "encoder", [ConceptEncoder(key=8, size=16), SilentEncoder(), ConceptEncoder(batches=0)]
)
def test_without_fitting_vectors_words_alone_decide(user: User, encoder: Encoder) -> None:
    """Another model, an encoder that doesn't answer, and one that isn't loaded."""
    talk(user, "I borrowed two thousand from Ines")
    talk(user, "The debt is paid")
    encode(user)
    assert found(user, "Do I have any debt?", encoder=encoder, limit=1) == ["The debt is paid"]


def test_without_the_extension_words_alone_decide(user: User) -> None:
    talk(user, "The debt is paid")
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE coaching_recallvector ALTER COLUMN vector TYPE bytea USING NULL")
        assert not has_vectors()
        assert found(user, "Do I have any debt?", limit=1) == ["The debt is paid"]
        cursor.execute("DROP EXTENSION IF EXISTS vector")
        cursor.execute(f"REVOKE CREATE ON DATABASE {name} FROM CURRENT_USER")
        assert not make_room_for_vectors()
        assert found(user, "Do I have any debt?", limit=1) == ["The debt is paid"]
        cursor.execute(f"GRANT CREATE ON DATABASE {name} TO CURRENT_USER")
    assert make_room_for_vectors()
    assert has_vectors()


def test_a_vector_goes_with_what_it_was_made_from(user: User, other_user: User) -> None:
    session = talk(user, "My spaniel bit the postman", "Poor postman")
    talk(other_user, "My dog sleeps")
    session.summary = "About a dog"
    session.save()
    session.briefs.create(version=1, text="- You own a dog [1]", covers_from=1, covers_until=1)
    encode(user)
    encode(other_user)
    assert RecallVector.of(user.pk).count() == RecallPassage.of(user.pk).count() == 34
    session.brief_corrections.create(kind=CorrectionKind.STRIKE, line="You own a dog [1]")
    session.summary = ""
    session.save()
    assert RecallVector.of(user.pk).count() == 32
    session.turns.update(is_withdrawn=True, status=TurnStatus.SUPERSEDED)
    assert RecallVector.of(user.pk).count() == 30
    assert "My spaniel bit the postman" not in found(user, "Which dog?", limit=100)
    remove_rows(user.pk)
    assert set(RecallVector.unscoped.values_list("user_id", flat=True)) == {other_user.pk}


def test_bounds_hold_for_what_is_found_by_meaning(user: User) -> None:
    old = talk(user, "My spaniel bit the postman")
    new = talk(user, "The puppy is called Milo", "A fine name")
    old.summary = "About insomnia"
    old.save()
    encode(user)
    assert found(user, "Which dog?", bounds=Bounds(session_id=new.id), limit=1) == [
        "The puppy is called Milo"
    ]
    unseen = found(user, "Which dog?", bounds=Bounds(open_session_id=new.id, open_number=1), limit=100)
    assert "My spaniel bit the postman" in unseen
    assert "The puppy is called Milo" not in unseen
    summaries = Bounds(sources=[RecallSource.SUMMARY])
    assert found(user, "Why am I awake?", bounds=summaries) == ["About insomnia"]
    assert found(user, "Which dog?", bounds=Bounds(session_id=uuid.uuid4())) == []


def test_the_question_is_encoded_as_who_is_asked_about_would_say_it(user: User) -> None:
    encoder = ConceptEncoder()
    encode(user, encoder)
    found(user, "Can you remind me what you said about your plan?", encoder=encoder)
    found(user, "What did I tell you about Tom?", encoder=encoder)
    assert encoder.asked[1:] == [["what I said about my plan?"], ["What did I tell you about Tom?"]]


def test_the_user_is_in_the_index_condition(user: User) -> None:
    encode(user)
    plan = plan_of_ranking(lambda: found(user, "Which dog?"))
    assert "Seq Scan on coaching_recall" not in plan
    assert plan.count("Index Cond: (user_id =") >= 3


@pytest.mark.django_db(transaction=True)
async def test_the_job_goes_on_where_it_was_cut_off(user: User, other_user: User) -> None:
    assert await in_database(make_room_for_vectors)
    await in_database(talk, other_user, "Hello", "Good evening")
    encoder = ConceptEncoder(batches=1)
    people = await in_database(people_behind, model=encoder.key)
    assert set(people) == {user.pk, other_user.pk}
    first = await encode_passages(people, encoder=encoder)
    assert 0 < first < 32
    again = ConceptEncoder()
    people = await in_database(people_behind, model=encoder.key)
    assert first + await encode_passages(people, encoder=again) == 32
    texts = [text for batch in (*encoder.asked, *again.asked) for text in batch]
    assert len(texts) == len(set(texts)) == 32, "each is encoded once"
    assert "Good evening" in texts
    assert await in_database(people_behind, model=encoder.key) == []
    await in_database(talk, user, "The debt is paid")
    assert await in_database(people_behind, model=encoder.key) == [user.pk]
    assert set(await in_database(people_behind, model=8)) == {user.pk, other_user.pk}, "another model"


def test_a_passage_that_is_gone_when_its_vector_comes_gets_none(user: User) -> None:
    session = talk(user, "My spaniel bit the postman")
    assert make_room_for_vectors()
    passages = read_unencoded(user.pk, model=7, limit=1_000)
    session.delete()
    assert store_vectors(user.pk, passages, [[1.0, 0.0]] * len(passages), model=7) == 30
