"""Progress of long work: a callback that gets the step, how much of it is done, and how much there is."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

Thing = TypeVar("Thing")


class Progress(Protocol):
    """Called after every advance; it may raise an exception of its own to stop the work."""

    def __call__(self, step: str, done: int, total: int | None) -> None: ...


def silent(step: str, done: int, total: int | None) -> None:
    """Ignore the progress."""


def tracked(
    things: Iterable[Thing], step: str, progress: Progress, *, total: int | None = None, every: int = 500
) -> Iterator[Thing]:
    """Yield ``things`` and call ``progress`` after every ``every`` of them and at the end."""
    done = 0
    for done, thing in enumerate(things, 1):
        yield thing
        if done % every == 0:
            progress(step, done, total)
    progress(step, done, total)
