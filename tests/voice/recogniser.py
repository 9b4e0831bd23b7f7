"""A real recogniser of English, PocketSphinx with its own model.

It understands a synthetic voice only if it knows which words can come, so it gets a grammar.
"""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from coaching.voice.sound import RATE
from tests.voice.sounds import samples_of

SAID = (
    "seven bananas, three windows, five letters, three bottles, five windows, seven children, three bananas, "
    "five windows"
)
GRAMMAR = """#JSGF V1.0;
grammar list;
<number> = three | five | seven;
<thing> = bananas | bottles | letters | windows | children;
public <list> = (<number> <thing>)+;
"""


def recognised(wav: bytes) -> str:
    """Return the words of a recording of one channel, 16,000 samples a second."""
    decoder = _decoder()
    decoder.start_utt()
    decoder.process_raw(samples_of(wav).tobytes(), full_utt=True)
    decoder.end_utt()
    found = decoder.hyp()
    return found.hypstr if found else ""


@cache
def _decoder():  # type: ignore[no-untyped-def]  # of a package that needn't be installed
    from pocketsphinx import Decoder  # noqa: PLC0415 - only where it is installed

    with TemporaryDirectory() as folder:
        grammar = Path(folder) / "list.gram"
        grammar.write_text(GRAMMAR)
        return Decoder(samprate=RATE, jsgf=str(grammar), loglevel="FATAL", cmn="batch")
