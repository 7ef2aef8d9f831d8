"""Progress of long work: one small protocol, shown as a bar on the terminal or written to a Job row."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from tqdm import tqdm

Thing = TypeVar("Thing")


class Progress(Protocol):
    """Called after every advance. May raise ``core.work.jobs.Cancelled`` to stop the work at a safe point."""

    def __call__(self, step: str, done: int, total: int | None) -> None: ...


def silent(step: str, done: int, total: int | None) -> None:
    """Ignore the progress."""


class TerminalBar:
    """One bar per step on standard error; nothing if that is not a terminal."""

    def __init__(self) -> None:
        self._bar: tqdm | None = None
        self._step = ""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        if step != self._step or self._bar is None:
            self.close()
            self._bar = tqdm(desc=step, total=total, disable=None, leave=False)
            self._step = step
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


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
