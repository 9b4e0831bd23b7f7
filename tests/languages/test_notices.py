"""What Sage says where the model's words are missing is stored in English and shown in any language."""

from django.utils.translation import ngettext, override

from coaching.engine.errors import UpstreamError
from coaching.transcript.notices import shown_notice
from coaching.turns.words import failure_sentence
from tests.languages.conftest import translated


def test_a_wait_is_named_in_the_readers_language_and_stored_in_english() -> None:
    failure = UpstreamError("overloaded", is_retryable=True, retry_after_seconds=130)
    happened, again = "The model is overloaded right now.", "Try again in %(count)s minutes."
    with override("de"):
        stored = failure_sentence(failure)
        shown_again = ngettext("Try again in %(count)s minute.", again, 3)
        assert shown_notice(stored) == f"{translated(happened, 'de')} {shown_again % {'count': 3}}"
    assert stored == f"{happened} {again % {'count': 3}}"
    assert shown_notice(stored) == stored
