"""What is wrong with a value is said in words for its fault, not only for its type."""

from datetime import date
from typing import Annotated

import pytest
from pydantic import BaseModel, Field, ValidationError

from coaching.api.value_words import values_in_words
from coaching.files.attributes import StorableText


class Given(BaseModel):
    """Values of several types, with limits."""

    words: Annotated[str, Field(max_length=3, pattern="^[a-z]*$")] = ""
    line: Annotated[StorableText, Field(min_length=2, max_length=3)] = "ab"
    several: Annotated[list[int], Field(min_length=2, max_length=3)] = [1, 2]
    one: Annotated[list[int], Field(min_length=1, max_length=1)] = [1]
    day: Annotated[date, Field(lt=date(2100, 1, 1))] = date(2026, 11, 30)
    count: int = 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"words": "abcd"}, "“words” may have up to 3 characters."),
        ({"line": "abcd"}, "“line” may have up to 3 characters."),
        ({"line": "a"}, "“line” needs at least 2 characters."),
        ({"words": "A"}, "“words” can’t be used: String should match pattern '^[a-z]*$'."),
        ({"words": "\ud800"}, "“words” contains a character that can’t be stored."),
        ({"several": [1, 2, 3, 4]}, "“several” may have up to 3 entries."),
        ({"several": [1]}, "“several” needs at least 2 entries."),
        ({"one": [1, 2]}, "“one” may have up to 1 entry."),
        ({"one": []}, "“one” mustn’t be empty."),
        ({"one": 1}, "“one” has to be a list."),
        ({"day": "2026-11-30T10:00:00"}, "“day” has to be a date like 2026-11-30."),
        ({"count": 1.5}, "“count” has to be a whole number."),
        ({"count": "9" * 5_000}, "“count” can’t be used: "),
    ],
)
def test_a_fault_is_said_as_what_it_is(given: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError) as failed:
        Given.model_validate(given)
    errors = [error | {"loc": ("query", *error["loc"])} for error in failed.value.errors()]
    assert values_in_words(errors).startswith(words)
