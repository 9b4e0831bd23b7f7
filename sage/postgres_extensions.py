"""Lets the embedded server's ordinary role create the extension `vector`, which recall by meaning needs.

Otherwise that takes a superuser, and nobody can sign in as one. An extension is trusted if its control file
says so, so the server gets a second folder of control files, with a copy that does.
"""

from pathlib import Path

TRUSTED = "vector"


def trusted_extensions_option(cluster: Path, *, programs: Path) -> str | None:
    """Write the copy into a cluster; return the server's option for it, or None without the extension."""
    scripts = programs.with_name("share") / "postgresql" / "extension"
    control = scripts / f"{TRUSTED}.control"
    if not control.is_file():
        return None
    folder = cluster / "sage_extensions"
    copy = folder / "extension" / control.name
    copy.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    copy.write_text(f"{control.read_text()}\ntrusted = true\ndirectory = '{scripts}'\n")
    return f"extension_control_path={folder}:$system"
