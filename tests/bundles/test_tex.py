"""What Temml may read (static/js/tex.js): no formula of a few characters may stop a page."""

import json
import shutil
import subprocess
from collections.abc import Sequence

import pytest

from tests.bundles.build import STATIC
from tests.groups import require

SET = (
    r"x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a} \leq \lambda \lim \tag{1}",
    r"\begin{aligned} a &= b \\ c &= 5\% \end{aligned}",
    r"\begin{pmatrix*}[r] 1 & 2 \\ 3 & 4 \end{pmatrix*}",
    r"1 + \frac{1}{" * 30 + "x" + "}" * 30,
    r"\rlap{x} \cancel{y} \left\{ z \right. @",
)
DEFINING = (
    r"\def\a{b}\a",
    r"\newcommand{\a}{b}",
    r"\global\let\a=b",
    r"\tag*{aaa\df@tag}x",
    r"\@firstoftwo{a}{b}",
)
COLUMNS = (
    r"\begin{alignat}{30000000}x\end{alignat}",
    r"\begin{alignat*}{30000000}x\end{alignat*}",
    r"\begin{alignedat}{30000000}x\end{alignedat}",
    "\\begin{ali%\ngnat}{30000000}x\\end{alignat}",
    r"\begin{\TextOrMath{al}{}ignat}{30000000}x\end{alignat}",
    r"\begin {alignat}{30000000}x\end{alignat}",
    r"\begin\relax{alignat}{30000000}x\end{alignat}",
    r"\verb\a\\begin{alignat}{30000000}x\end{alignat}",
)
GROWING = (
    *(rf"\{name}{{x}}{{y}}" for name in ("cancelto", "equilibriumLeft", "equilibriumRight")),
    *(rf"\{name}{{x}}" for name in ("llap", "mathllap")),
    r"\sqrt{" * 31 + "x" + "}" * 31,
    r"\begin{matrix}" * 31 + "x" + r"\end{matrix}" * 31,
    r"}\sqrt{",
    r"\sqrt" * 1001,
)
FULL = r"\begin{matrix}" + r"\\".join([" & ".join("1" * 20)] * 20) + r"\end{matrix}"
WIDE = tuple(
    r"\begin{matrix}" + "&" * 99 + row_end * 100 + r"\end{matrix}"
    for row_end in (r"\\", r"\cr ", r"\newline ")
)


def modest(sources: Sequence[str]) -> list[str]:
    """Return those that Temml may read."""
    require("bundles", shutil.which("node") is not None, "Node.js")
    rules = (STATIC / "js" / "tex.js").read_text()
    script = f"{rules}\nconsole.log(JSON.stringify({json.dumps(sources)}.filter(isModest)));"
    command = ["node", "--input-type=module"]
    done = subprocess.run(command, input=script, check=True, capture_output=True, text=True)
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.slow
def test_temml_reads_what_people_write_and_nothing_whose_work_has_no_limit() -> None:
    assert modest([*SET, FULL, *DEFINING, *COLUMNS, *GROWING, *WIDE]) == [*SET, FULL]
