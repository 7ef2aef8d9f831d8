"""One side of a gallery, its items or their embeddings, is stored in parts: a process reads or writes one at a time."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """The rows ``first`` to ``first + rows`` (exclusive) of a side, in a stored file with this SHA-256 (hex)."""

    path: str
    sha256: str
    first: int
    rows: int
