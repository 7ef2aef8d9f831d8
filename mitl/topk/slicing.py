"""How rows and columns are cut into parts."""

from collections.abc import Iterator


def slices(n: int, step: int) -> Iterator[slice]:
    """Cut 0..n into slices of at most ``step``."""
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
