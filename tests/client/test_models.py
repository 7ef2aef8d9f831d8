"""The client's types are those of the site's answers."""

import tomllib
from pathlib import Path

import pytest

from tests.client.write_models import MODELS, models

ROOT = Path(__file__).resolve().parents[2]


def version_of(project: Path) -> str:
    return tomllib.loads(project.read_text())["project"]["version"]


def test_the_client_has_the_version_of_the_site():
    assert version_of(ROOT / "packages/client/pyproject.toml") == version_of(ROOT / "pyproject.toml")


@pytest.mark.slow
def test_the_types_are_those_of_the_description_of_the_api():
    assert MODELS.read_text() == models(), "run make client-models"
