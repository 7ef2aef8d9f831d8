"""How rows and columns are cut into parts."""

from collections.abc import Iterator


def slices(n: int, step: int, *, start: int = 0) -> Iterator[slice]:
    """Cut start..n into slices of at most ``step``."""
    return (slice(first, min(first + step, n)) for first in range(start, n, step))
