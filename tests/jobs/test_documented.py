"""Operators find each background job in `docs/operating/jobs.md`."""

import re

from procrastinate.contrib.django import app

from tests.sage.processes import PROJECT


def test_each_job_has_a_row_in_the_table_of_jobs() -> None:
    """Names with a dot are Procrastinate's own; two jobs are only loaded where their setting is set."""
    app.perform_import_paths()  # type: ignore[no-untyped-call]  # it has no types
    lines = (PROJECT / "docs/operating/jobs.md").read_text().splitlines()
    rows = [line.split("|")[1] for line in lines if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert listed == {name for name in app.tasks if "." not in name} | {"read_inbox", "back_up"}
