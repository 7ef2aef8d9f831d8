"""What the tests share: the same examples in every run, and the folder of shared data."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data; skips the test where it is absent."""
    folder = Path(__file__).resolve().parents[4] / "shared"
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}")
    return folder
