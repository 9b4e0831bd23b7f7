"""The process that encodes, with a small model of random weights; and what happens without one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from coaching.jobs.encoding import encode_what_is_new
from coaching.models import RecallPassage, RecallVector
from coaching.recall.encoder import ModelEncoder, NotEncoded, configured_encoder, has_packages
from sessions_app.database import in_database
from tests.groups import require
from tests.recall.history import talk, texts

SECONDS = 200.0
"""Importing the packages takes ten seconds and more on a quiet machine."""
MAKE_MODEL = """
import sys
from pathlib import Path
from sentence_transformers import SentenceTransformer, models
from transformers import BertConfig, BertModel, BertTokenizer

folder = Path(sys.argv[1])
words = "[PAD] [UNK] [CLS] [SEP] [MASK] the dog debt is paid my was".split()
(folder / "vocab.txt").write_text("\\n".join(words))
BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
BertModel(BertConfig(
    vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
)).save_pretrained(folder / "bert")
bert = models.Transformer(str(folder / "bert"))
SentenceTransformer(modules=[bert, models.Pooling(16)]).save(str(folder / "model"))
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    require("semantic", has_packages(), "the extra semantic (uv sync --extra semantic)")
    folder = tmp_path_factory.mktemp("encoder")
    subprocess.run([sys.executable, "-c", MAKE_MODEL, str(folder)], check=True, capture_output=True)
    return str(folder / "model")


@pytest.mark.slow
def test_a_model_encodes_in_a_process_that_ends_and_starts_again(model: str) -> None:
    encoder = ModelEncoder(model, niceness=5)
    try:
        assert encoder.begin(["the dog"]) is None, "nobody waits while it is loaded"
        assert encoder.wait_until_loaded(seconds=SECONDS)
        begun = [encoder.begin([word, "my debt"]) for word in ("the dog", "the debt", "the dog")]
        first, other, same = (answer.result(SECONDS) for answer in begun if answer)
        assert first == same != other
        assert all(abs(sum(value**2 for value in vector) - 1) < 0.001 for vector in first)
        (pid,) = encoder.pids()
        assert os.getpriority(os.PRIO_PROCESS, pid) >= 5
        os.kill(pid, signal.SIGSTOP)
        waiting = encoder.begin(["paid"])
        assert waiting
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(NotEncoded):
            waiting.result(SECONDS)
        assert encoder.begin(["paid"]) is None
        encoder.close()
        assert encoder.wait_until_loaded(seconds=SECONDS)
    finally:
        encoder.close()
    assert encoder.pids() == []


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
async def test_the_job_encodes_what_is_new_and_a_search_finds_it(
    user: User, model: str, settings: Settings
) -> None:
    settings.SAGE_EMBEDDING_MODEL = model
    await in_database(talk, user, "My dog was paid", "The debt is paid")
    assert await encode_what_is_new() == 2
    assert await encode_what_is_new() == 0
    assert await in_database(RecallVector.of(user.pk).count) == await in_database(
        RecallPassage.of(user.pk).count
    )
    encoder = configured_encoder()
    assert encoder
    assert await in_database(encoder.wait_until_loaded, seconds=SECONDS)
    assert len(await in_database(texts, user, "dog")) == 2
    encoder.close()


@pytest.mark.django_db
def test_a_model_that_isnt_there_leaves_the_search_to_words(
    user: User, settings: Settings, tmp_path: Path
) -> None:
    """With the packages, and without."""
    settings.SAGE_EMBEDDING_MODEL = str(tmp_path / "nothing")
    talk(user, "The debt is paid")
    assert texts(user, "debt") == ["The debt is paid"]
    encoder = configured_encoder()
    assert (encoder is not None) == has_packages()
    if encoder:
        assert not encoder.wait_until_loaded(seconds=SECONDS)
        assert encoder.begin(["debt"]) is None
        encoder.close()


@pytest.mark.django_db(transaction=True)
async def test_without_a_model_nothing_is_encoded(user: User) -> None:
    await in_database(talk, user, "The debt is paid")
    assert configured_encoder() is None
    assert await encode_what_is_new() == 0
    assert not await in_database(RecallVector.of(user.pk).exists)
