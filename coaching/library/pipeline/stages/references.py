"""Chooses the references that the model is shown with each document."""

from dataclasses import replace

from coaching.library.pipeline.batch import Batch, Item, Services
from coaching.library.pipeline.stages.select_references import select_references
from coaching.library.references.current import References, current_references
from sessions_app.database import in_database


async def choose_references(batch: Batch, _services: Services) -> Batch:
    """Choose at most six references for each document, by its text, name and hints."""
    references = await in_database(current_references)
    return batch.each(lambda item: with_references(item, references))


def with_references(item: Item, references: References) -> Item:
    """Return a document with its references, the likeliest first."""
    selected = select_references(
        references, name=item.document.name, text=item.ranked_text, tags=item.ranked_tags
    )
    return replace(item, references=selected.file_types)
