"""Settings of Hypothesis, and the folder of shared data."""

from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

# The same examples in every run, and none judged by its time: a failure is of the code, not of the draw or the machine.
hypothesis_settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis_settings.load_profile("repeatable")


@pytest.fixture
def shared() -> Path:
    """The folder of shared data next to the checkout; the test is skipped where it is absent."""
    folder = Path(__file__).resolve().parents[4] / "shared"
    if not folder.exists():
        pytest.skip("no shared data next to this checkout")
    return folder
