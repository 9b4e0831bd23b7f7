"""Write `.env.example` and the table in `docs/operating/variables.md`, as `sage.env` declares variables.

uv run python -m tests.architecture.variables
"""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from sage.env import Environment, names_of
from sessions_app.rate import RateLimit

PROJECT = Path(__file__).resolve().parents[2]
EXAMPLE = PROJECT / ".env.example"
VARIABLES = PROJECT / "docs/operating/variables.md"
FIRST_OF_SECTION = {
    "ANTHROPIC_API_KEY": "The model",
    "DATABASE_URL": "Storage",
    "SECRET_KEY": "The web site",
    "EMAIL_URL": "Mail and notifications",
    "SAGE_SIGNUP": "Accounts",
    "SAGE_MAX_ROUNDS": "Limits",
    "SAGE_EMBEDDING_MODEL": "Recall",
    "SAGE_METRICS_TOKEN": "Monitoring",
}
INTRODUCTION = """\
All settings of Sage, as sage/env.py declares them. Copy this file to `.env` and change what you need.
A setting that is unset or blank has the value shown here. Environment variables override
the file."""
START, END = "| variable | default | what it is for |\n|---|---|---|\n", "\n\n"
WIDTH = 110


def env_example() -> str:
    """Return the text of `.env.example`."""
    parts = textwrap.wrap(f"# {INTRODUCTION}", WIDTH, subsequent_indent="# ")
    for names, field in _variables():
        if section := FIRST_OF_SECTION.get(names[0]):
            parts += ["", f"# --- {section} ".ljust(WIDTH - 10, "-")]
        words = f"# {field.description}"
        parts += textwrap.wrap(words, WIDTH, subsequent_indent="# ", break_on_hyphens=False)
        parts += [f"#{name}={_shown(field.default)}" for name in names]
    return "\n".join(parts) + "\n"


def page_with_table(text: str) -> str:
    """Return a text of `docs/operating/variables.md` with the rows of its table as the variables are now."""
    before, _, after = text.partition(START)
    rows = "\n".join(_row(names, field) for names, field in _variables())
    return f"{before}{START}{rows}{END}{after.partition(END)[2]}"


def _row(names: list[str], field: FieldInfo) -> str:
    default = _shown(field.default)
    words = (field.description or "").replace("<", "\\<")
    cells = (" or ".join(f"`{name}`" for name in names), default and f"`{default}`", words)
    return f"| {' | '.join(cells)} |"


def _variables() -> Iterator[tuple[list[str], FieldInfo]]:
    for field in Environment.model_fields.values():
        yield list(names_of(field)), field


def _shown(default: Any) -> str:
    match default:
        case None:
            return ""
        case bool():
            return str(default).lower()
        case tuple():
            return ",".join(default)
        case RateLimit():
            return f"{default.turns}/{default.seconds}s"
        case _:
            return str(default)


if __name__ == "__main__":
    EXAMPLE.write_text(env_example())
    VARIABLES.write_text(page_with_table(VARIABLES.read_text()))
