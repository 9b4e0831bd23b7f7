"""The instructions of deploy/Containerfile, read as engines do: joined lines, no comments, stages."""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.sage.processes import PROJECT

PATH = PROJECT / "deploy" / "Containerfile"
KNOWN = frozenset(
    {"CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "RUN", "USER", "WORKDIR"}
)
"""ADD isn't among them: it unpacks archives and fetches addresses."""
_JOINED = re.compile(r"\\\n\s*")


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction with its arguments, as they are written, and its options such as `--from=build`."""

    name: str
    text: str
    options: dict[str, str] = field(default_factory=dict)

    @property
    def words(self) -> Sequence[str]:
        """Return the arguments, of a list in JSON or divided as a shell does."""
        if self.text.startswith("["):
            return [str(word) for word in json.loads(self.text)]
        return shlex.split(self.text)


@dataclass(frozen=True, slots=True)
class Stage:
    """What begins with FROM."""

    image: str
    name: str
    instructions: list[Instruction]

    def all(self, name: str) -> Sequence[Instruction]:
        return [each for each in self.instructions if each.name == name]


def read_stages(text: str) -> Sequence[Stage]:
    """Read a Containerfile. Raises `ValueError` where an instruction isn't known or complete."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    stages: list[Stage] = []
    for line in _JOINED.sub("", "\n".join(lines)).splitlines():
        instruction = _read(line)
        if instruction.name == "FROM":
            image, *rest = instruction.words
            stages.append(Stage(image=image, name=rest[1] if rest else "", instructions=[]))
        elif not stages:
            raise ValueError(f"before the first FROM: {line}")
        else:
            stages[-1].instructions.append(instruction)
    return stages


def _read(line: str) -> Instruction:
    name, _, rest = line.partition(" ")
    options: dict[str, str] = {}
    while name != "RUN" and (found := re.match(r"--([a-z-]+)=(\S+)\s+", rest)):
        options[found[1]] = found[2]
        rest = rest[found.end() :]
    if name not in KNOWN or not rest:
        raise ValueError(f"no instruction: {line}")
    return Instruction(name=name, text=rest.strip(), options=options)
