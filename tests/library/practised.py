"""What the practice model makes of a text, with the references that are selected for it. No database."""

from collections.abc import Sequence
from dataclasses import dataclass

from coaching.library.pipeline.answers import read_answer
from coaching.library.pipeline.batch import Item, Verdict
from coaching.library.pipeline.confidence import is_unsure
from coaching.library.pipeline.knowledge import Knowledge, Surroundings
from coaching.library.pipeline.requests import build_request
from coaching.library.pipeline.stages.select_references import select_references
from coaching.library.references.current import References
from coaching.models import Client, Document
from coaching.practice.coach.documents import classify
from coaching.practice.script import Text
from tests.library.labelled_texts import LabelledText


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How a text ends that the practice model reads once and then once more."""

    item: LabelledText
    verdict: Verdict

    @property
    def is_filed(self) -> bool:
        return not is_unsure(self.verdict)

    @property
    def is_right(self) -> bool:
        return self.verdict.file_type == self.item.file_type


def judge_all(
    references: References, items: Sequence[LabelledText], *, has_names: bool = True
) -> Sequence[Judged]:
    """Judge each text, with its file's name or without."""
    return [
        Judged(item=item, verdict=verdict_on(references, item.text, name=item.name if has_names else ""))
        for item in items
    ]


def verdict_on(references: References, text: str, *, name: str = "") -> Verdict:
    """Return what the practice model says of a document of its own call."""
    selected = select_references(references, name=name, text=text).file_types
    item = Item(document=Document(id=1, name=name or "document"), text=text, references=selected)
    knowledge = Knowledge(skill="Classify.", compact_skill="Classify.", references=references)
    around = Surroundings(client=Client(id=1), corrections=())
    request = build_request([item], knowledge=knowledge, around=around, tools=())
    reply = classify({"messages": request.messages, "output_config": {"format": request.output_format}})
    answer = "".join(block.text for block in reply.blocks if isinstance(block, Text))
    verdict = read_answer(answer, [item.evidence_source], references.vocabulary)[0]
    assert verdict is not None
    return verdict
