"""Which model does what, from the environment."""

import os
from dataclasses import dataclass
from pathlib import Path

from coaching.engine.profiles import has_profile
from sage.env import Environment

OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenModels:
    """The models by what they do. Without `safety` there is no second look."""

    coach: str
    brief: str
    classify: str
    critic: str
    safety: str


def choose_models(environment: Environment) -> ChosenModels:
    """Return the models of a server.

    Variables that are unset mean `SAGE_MODEL` if that isn't one of ours: its server has no others of ours.
    `SAGE_MODEL` itself is the model in `SAGE_MODEL_FILE`, where there is one.
    """
    coach = environment.model
    if environment.model_file and "model" not in environment.model_fields_set:
        coach = environment.model_file.stem
    is_own = not has_profile(coach)

    def chosen(field: str) -> str:
        is_set = field in environment.model_fields_set
        model: str = coach if is_own and not is_set else getattr(environment, field)
        return model

    brief = chosen("brief_model")
    return ChosenModels(
        coach=coach,
        brief=brief,
        classify=chosen("classify_model"),
        critic=chosen("critic_model"),
        safety="" if environment.safety_model == OFF else environment.safety_model or brief,
    )


def choose_speech_model(environment: Environment, project_dir: Path) -> Path | None:
    """Return the file in `SAGE_TRANSCRIBE_MODEL`, unless that is the model of a server, or unset."""
    if environment.transcribe_url or "transcribe_model" not in environment.model_fields_set:
        return None
    return Path(project_dir, os.path.expanduser(environment.transcribe_model)).absolute()  # noqa: PTH111 - a home that isn't there is no error


def practice_models(environment: Environment, name: str) -> ChosenModels:
    """Return the practice model for everything."""
    safety = "" if environment.safety_model == OFF else name
    return ChosenModels(coach=name, brief=name, classify=name, critic=name, safety=safety)
