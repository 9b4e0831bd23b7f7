"""The short form of the fault that needs its own database."""

import asyncio
import sys

from tests.sage.processes import PROJECT


async def test_turns_outlive_their_database_and_what_was_acknowledged_is_there(seed: int) -> None:
    arguments = ("R2-alone", "--seed", str(seed), "--points", "6", "--patience", "2.5")
    run = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.faults", *arguments, cwd=PROJECT, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await run.communicate()
    assert run.returncode == 0, told.decode()
    assert "| 6 | 0 |" in told.decode()
