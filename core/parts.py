"""A side of a gallery, items or their embeddings, in parts: files that are read, made and lost one at a time."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A stored file with ``rows`` rows of a side, the first of which is the side's row ``first``; its SHA-256 (hex)."""

    path: str
    sha256: str
    first: int
    rows: int
