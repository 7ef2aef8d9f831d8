"""Progress of a long search: a callback that gets the step, how much of it is done, and how much there is."""

from typing import Protocol


class Progress(Protocol):
    """Called after every advance; it may raise an exception of its own to stop the work."""

    def __call__(self, step: str, done: int, total: int | None) -> None: ...


def silent(step: str, done: int, total: int | None) -> None:
    """Ignore the progress."""
