"""Settings of Hypothesis, the folder of shared data, and each first pass of a search."""

from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from first_passes import FIRST_PASSES, take_first

# The same examples in every run, and none judged by its time: a failure is of the code, not of the draw or the machine.
hypothesis_settings.register_profile("repeatable", deadline=None, derandomize=True)
hypothesis_settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared data next to the checkout; the test is skipped where it is absent."""
    folder = Path(__file__).resolve().parents[4] / "shared"
    if not folder.exists():
        pytest.skip("no shared data next to this checkout")
    return folder


@pytest.fixture(params=FIRST_PASSES)
def first_pass(request, monkeypatch):
    """Take each first pass, whatever this machine would choose."""
    take_first(request.param, monkeypatch)
    return request.param
