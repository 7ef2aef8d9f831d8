"""NumPy's numbers and arrays in a torch file, as data: what a training notes with its weights.

torch could be given NumPy's own functions instead. These take any state of a dtype, which may point outside of the
array's memory. Here a dtype is one of numbers or texts, and of its state only the order of the bytes counts.
"""

import re
from typing import Any

import numpy as np

PLAIN = re.compile(r"[biufcSU][0-9]+")


class Kind:
    """A dtype of numbers or texts. Raises ValueError for another one."""

    def __init__(self, code: str, *_copied: object) -> None:
        if not isinstance(code, str) or not PLAIN.fullmatch(code):
            raise ValueError(f"it has an array of {code}, not of numbers")
        self.dtype = np.dtype(code)

    def __setstate__(self, state: Any) -> None:
        """Take on the order of the bytes."""
        self.dtype = self.dtype.newbyteorder(state[1])


class Array(np.ndarray):
    """An array of such a dtype."""

    def __setstate__(self, state: Any) -> None:
        version, shape, kind, is_fortran, content = state
        super().__setstate__((version, shape, kind.dtype, is_fortran, content))


def _array(*_described: object) -> Array:
    return Array((0,))


def _scalar(kind: Kind, content: bytes) -> Any:
    return np.frombuffer(content, kind.dtype, 1)[0].item()


NUMBERS: list[Any] = [
    (Kind, "numpy.dtype"),
    (Array, "numpy.ndarray"),
    *((_array, f"numpy.{core}.multiarray._reconstruct") for core in ("core", "_core")),
    *((_scalar, f"numpy.{core}.multiarray.scalar") for core in ("core", "_core")),
]
"""For ``torch.serialization.safe_globals``."""
