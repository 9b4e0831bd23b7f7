"""Measures reading other projects' test files: `uv run python -m tests.bench.strangers FOLDER PYTHON`."""

import os

# What is imported next marks its texts for translation, which asks for the settings.
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
