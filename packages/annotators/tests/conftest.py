"""Settings of Hypothesis, and the folder of shared data."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings as hypothesis_settings

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


@pytest.fixture(scope="session")
def numbers(shared: Path) -> Callable[[str], dict[str, np.ndarray]]:
    """The arrays of one of the annotators' fixtures, by its name."""

    def load(name: str) -> dict[str, np.ndarray]:
        with np.load(shared / "fixtures" / "annotators" / f"{name}.npz") as arrays:
            return dict(arrays)

    return load
