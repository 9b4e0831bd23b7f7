"""The suite's settings, whose database is patient with a busy machine, with second looks as in Sage."""

from sage import settings as product
from tests.settings import *  # noqa: F403

SAGE_SAFETY_MODEL = product.SAGE_SAFETY_MODEL
