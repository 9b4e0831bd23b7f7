"""deploy/compose.yaml and its example of settings. No container engine has run it (docs/installing.md)."""

import json
import os
import re
import subprocess
from typing import Any

import pytest
import yaml

from sage.env import read_environment, variable_names
from sage.env_values import is_vapid_key
from sage.version import read_version
from tests.deploy.containerfile import PATH, read_stages
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
    assert "build" in service or not service["user"].startswith(("0", "root"))
    assert "/" not in service["image"]
    assert ("ports" in service) == (name == "nginx")


def test_the_image_has_the_version_in_its_name_so_that_the_one_before_can_be_started_again() -> None:
    for name in ("web", "worker", "setup"):
        assert SERVICES[name]["image"] == f"sage:${{SAGE_IMAGE_TAG:-{read_version(PROJECT)}}}"
    upgrading = (PROJECT / "docs" / "upgrading.md").read_text()
    (going_back,) = re.findall(r"^SAGE_IMAGE_TAG=.* docker compose .* up (.*)$", upgrading, re.MULTILINE)
    assert going_back == "--detach --no-build --no-deps web worker"


def test_whoever_is_waited_for_has_a_health_check_in_this_file_and_whoever_ends_is_waited_for_to_end() -> (
    None
):
    """Podman drops the check of an image that it builds."""
    waited = {
        (name, how["condition"])
        for service in SERVICES.values()
        for name, how in service.get("depends_on", {}).items()
    }
    assert {condition for _, condition in waited} == {"service_healthy", "service_completed_successfully"}
    for name, condition in waited:
        if condition == "service_healthy":
            assert SERVICES[name]["healthcheck"]["test"][0] == "CMD", name
        else:
            assert SERVICES[name]["restart"] == "no"
    (health,) = read_stages(PATH.read_text())[-1].all("HEALTHCHECK")
    check = SERVICES["web"]["healthcheck"]
    assert check["test"] == ["CMD", *json.loads(health.text.removeprefix("CMD "))]
    assert health.options == {
        f"--{name.replace('_', '-')}".lstrip("-"): value for name, value in check.items() if name != "test"
    }


def test_the_key_for_notifications_has_its_line_and_a_command_that_makes_a_valid_one() -> None:
    """With a bucket Sage makes none (`HAS_DATA_FOLDER`), so it must be possible to set it."""
    pattern = r"^# Signs notifications: (.+=')\. Empty: .*\n(?:#.*\n)*SAGE_VAPID_PRIVATE_KEY=$"
    found = re.search(pattern, EXAMPLE, re.MULTILINE)
    assert found
    made = subprocess.run(["sh", "-c", found[1]], capture_output=True, text=True, check=True).stdout.strip()
    assert is_vapid_key(made)


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
                if source in {"./tls", "./acme"}:  # the operator's
                    assert f"deploy/{source[2:]}/\n" in (PROJECT / ".gitignore").read_text()
                else:
                    assert (DEPLOY / source).is_file(), volume
    assert os.access(DEPLOY / "postgres-role.sh", os.X_OK)
