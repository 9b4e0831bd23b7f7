"""deploy/compose.yaml and its example of settings. No container engine has run it (docs/installing.md)."""

import os
import re
from typing import Any

import pytest
import yaml

from sage.env import read_environment, variable_names
from tests.sage.processes import PROJECT

DEPLOY = PROJECT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
EXAMPLE = (DEPLOY / ".env.example").read_text()
VARIABLE = re.compile(r"(?<!\$)\$\{([A-Z_]+)(?::[?-][^}]*)?\}")


def test_all_parts_are_there() -> None:
    assert set(SERVICES) == {"nginx", "setup", "web", "worker", "postgres", "redis"}
    assert SERVICES["web"]["deploy"]["replicas"] == "${SAGE_WEB_PROCESSES:-2}"
    assert "REDIS_URL" in SERVICES["web"]["environment"]
    assert set(COMPOSE["volumes"]) == {"postgres", "sage"}


@pytest.mark.parametrize("name", SERVICES)
def test_each_container_has_no_root_no_rights_and_a_file_system_that_it_only_reads(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    # Sage's image has its user; the others' would begin as root.
    assert service["image"] == "sage" or not service["user"].startswith(("0", "root"))
    assert "/" not in service["image"]
    assert ("ports" in service) == (name == "nginx")


def test_every_variable_is_in_the_example_and_every_setting_of_the_example_is_one_of_sage() -> None:
    used = set(VARIABLE.findall((DEPLOY / "compose.yaml").read_text()))
    given = set(re.findall(r"^([A-Z0-9_]+)=", EXAMPLE, re.MULTILINE))
    assert used <= given
    assert given - used <= set(variable_names())


def test_the_filled_in_example_starts_sage_and_no_container_of_it_gets_the_admins_password() -> None:
    filled = EXAMPLE.replace("SECRET_KEY=", f"SECRET_KEY={'k' * 64}")
    values = dict(line.split("=", 1) for line in filled.splitlines() if line and not line.startswith("#"))
    for name in ("web", "worker", "setup"):
        own = {
            key: VARIABLE.sub("secret", str(value)) for key, value in SERVICES[name]["environment"].items()
        }
        environment = read_environment({**values, **own}, PROJECT)
        assert environment.database
        assert environment.database["HOST"] == "postgres"
        assert own["POSTGRES_ADMIN_PASSWORD"] == ""


def test_the_files_that_are_mounted_are_there_and_read_only() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", []):
            source, _, rest = volume.partition(":")
            if source.startswith("."):
                assert rest.endswith(":ro"), volume
                assert source == "./tls" or (DEPLOY / source).is_file(), volume
    assert os.access(DEPLOY / "postgres-role.sh", os.X_OK)
