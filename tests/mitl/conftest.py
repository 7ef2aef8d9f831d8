import numpy as np
import pytest


@pytest.fixture(scope="session")
def numbers(shared):
    """The arrays of one of the annotators' fixtures, by its name."""

    def load(name: str) -> dict[str, np.ndarray]:
        with np.load(shared / "fixtures" / "annotators" / f"{name}.npz") as arrays:
            return dict(arrays)

    return load
