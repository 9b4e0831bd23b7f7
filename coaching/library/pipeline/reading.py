"""The pipeline: what happens to documents from their bytes to their folder.

The stages stand here in their order, one file each. A batch passes through them; what has ended after a stage
is stored at once and goes no further.
"""

import structlog
from django.utils import timezone
from django.utils.translation import gettext_noop

from coaching.engine.errors import StaleRunnerError, UpstreamError
from coaching.library.documents.locks import update_documents
from coaching.library.pipeline.batch import Batch, Services, Stage
from coaching.library.pipeline.claims import Claim, put_back
from coaching.library.pipeline.settling import begin, settle
from coaching.library.pipeline.stages.assemble import assemble
from coaching.library.pipeline.stages.classify import classify
from coaching.library.pipeline.stages.critic import ask_critic
from coaching.library.pipeline.stages.duplicates import find_duplicates
from coaching.library.pipeline.stages.hold import hold
from coaching.library.pipeline.stages.place import place
from coaching.library.pipeline.stages.read_pictures import read_pictures
from coaching.library.pipeline.stages.read_text import read_text
from coaching.library.pipeline.stages.references import choose_references
from coaching.models import Document, DocumentState
from sessions_app.database import in_database
from sessions_app.errors import Refused

logger = structlog.get_logger(__name__)

STAGES: tuple[Stage, ...] = (
    find_duplicates,  # the same bytes again: linked, not read
    read_text,  # text by content, in a process of its own; near-same texts
    hold,  # what an import has brought waits until its person lets Sage read it
    read_pictures,  # a model that sees writes down the text of pages that are pictures
    choose_references,  # at most six a document, by tags and text
    classify,  # the model: a structured answer, tools offered
    ask_critic,  # a second model where the first is unsure
    place,  # folder and level by the rules
    assemble,  # filed or in review, with the reason in words
)

UNREACHABLE = gettext_noop("Sage can’t reach the AI model right now. It will try this document again soon.")


async def read_batch(claim: Claim, services: Services) -> bool:
    """Take the documents of a claim through the stages; False where the model can't be reached now.

    Over the budget of the user's day, these and all others of the user wait.
    """
    batch = await in_database(begin, claim)
    await services.stored()
    try:
        for stage in STAGES:
            batch = await _after(stage, batch, services)
    except Refused as refusal:
        await in_database(_wait, claim, str(refusal))
    except UpstreamError as error:
        logger.warning("documents_wait_for_model", documents=len(claim.document_ids), reason=str(error))
        await in_database(put_back, claim, reason=UNREACHABLE)
        return False
    except StaleRunnerError:
        logger.warning("documents_taken_over", documents=len(claim.document_ids))
    return True


async def _after(stage: Stage, batch: Batch, services: Services) -> Batch:
    if not batch.items:
        return batch
    batch = await in_database(settle, await stage(batch, services))
    await services.stored()
    return batch


def _wait(claim: Claim, sentence: str) -> None:
    """Let all documents of the user wait for the budget of the next day. Sync ORM code.

    Those on hold don't need it.
    """
    put_back(claim, state=DocumentState.WAITING, reason=sentence)
    queued = Document.of(claim.user_id).filter(state=DocumentState.QUEUED, is_on_hold=False)
    update_documents(queued, state=DocumentState.WAITING, reason=sentence[:500], updated_at=timezone.now())
