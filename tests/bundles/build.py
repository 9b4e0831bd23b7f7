"""Makes `static/dist` with esbuild and copies Temml to `static/vendor`, in the versions of the lock file.

npm installs them outside the project (`tests.npm`).
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from coaching.templatetags.bundles import BUNDLES
from tests import npm

HERE = Path(__file__).resolve().parent
STATIC = HERE.parents[1] / "static"
MADE = ("dist", "vendor")
"""The folders of `static` that are made here, wholly."""

_VENDORED = ("LICENSE", "dist/temml.min.js")
"""Files of Temml's package."""

_OPTIONS = (
    "--bundle",
    "--minify",
    "--format=esm",
    "--target=esnext",
    "--charset=utf8",
    "--legal-comments=none",
    "--log-level=warning",
    # The typefaces: `dist` is as deep as `css`.
    "--external:../fonts/*",
)


def install() -> Path:
    """Return a folder with the packages. Raises `CalledProcessError` if npm can't get them."""
    return npm.install(HERE, name="bundles")


def build(target: Path) -> None:
    """Write the folders of `MADE` into another one. Raises `CalledProcessError` with what esbuild says."""
    packages = install() / "node_modules"
    with tempfile.TemporaryDirectory() as name:
        entries = _write_entries(Path(name))
        command: list[str | Path] = [
            packages / ".bin" / "esbuild",
            *entries,
            *_OPTIONS,
            f"--outdir={target / 'dist'}",
        ]
        subprocess.run([*command, f"--outbase={name}"], check=True, capture_output=True, text=True)
    vendored = target / "vendor" / "temml"
    vendored.mkdir(parents=True)
    for name in _VENDORED:
        shutil.copyfile(packages / "temml" / name, vendored / Path(name).name)


def write() -> None:
    """Replace the folders in `static` by newly made ones."""
    with tempfile.TemporaryDirectory() as name:
        build(Path(name))
        for made in MADE:
            shutil.rmtree(STATIC / made, ignore_errors=True)
            shutil.copytree(Path(name) / made, STATIC / made)


def files_in(folder: Path) -> dict[str, bytes]:
    """Return the contents of a folder's made files by their paths in it."""
    paths = (path for made in MADE for path in sorted((folder / made).rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _write_entries(folder: Path) -> list[Path]:
    """Write a script for each bundle, which has what its last module exports, and a style sheet."""
    written = [folder / "sage.css"]
    written[0].write_text(f'@import "{STATIC}/css/sage.css";\n')
    for name, modules in BUNDLES.items():
        path = folder / f"{name}.js"
        path.parent.mkdir(exist_ok=True)
        *before, last = (f'"{STATIC}/js/{module}.js"' for module in modules)
        path.write_text("".join(f"import {each};\n" for each in before) + f"export * from {last};\n")
        written.append(path)
    return written
