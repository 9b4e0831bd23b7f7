"""Measures reading documents: `uv run --group bench python -m tests.bench.extraction`."""

import os

# What is imported next marks its texts for translation, which asks for the settings.
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
