"""A model that knows what each document is, by its name; without a truth it reads like the practice model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from coaching.practice.api.errors import invalid
from coaching.practice.coach.analysis import analyse, is_analysis
from coaching.practice.coach.documents import answer_of, classify, row_for, sent_documents
from coaching.practice.coach.pages import shows_pages, write_down
from coaching.practice.script import Reply

Said = Mapping[str, Any]


@dataclass
class TruthfulModel:
    """What the model says. `types` and `said` are by the document's name.

    A request with a document whose name has one of the words in `poison` is refused as invalid. `script`
    answers before all else; `seconds` is how long an answer takes.
    """

    types: dict[str, str] = field(default_factory=dict)
    said: dict[str, Said] = field(default_factory=dict)
    poison: set[str] = field(default_factory=set)
    seconds: float = 0.0
    script: Callable[[Mapping[str, Any]], Reply | None] = lambda _body: None

    def answer(self, body: dict[str, Any]) -> Reply:
        """Answer a request."""
        if (scripted := self.script(body)) is not None:
            return scripted
        if shows_pages(body):
            return write_down(body, {})
        if is_analysis(body):
            return analyse(body)
        documents = sent_documents(body)
        if any(word in document.name for document in documents for word in self.poison):
            raise invalid("messages.0: this can't be read")
        if not self.types and not self.said:
            return classify(body)
        rows = [
            row_for(document, self.types.get(document.name, "letter"), 0.95, why="It is one.")
            | dict(self.said.get(document.name, {}))
            for document in documents
        ]
        reply = answer_of(rows)
        return Reply(reply.blocks, tokens_per_second=0.0, first_token_seconds=self.seconds)
