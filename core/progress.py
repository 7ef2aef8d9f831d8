"""Progress of long work, which packages report too: shown as a bar on the terminal or written to a Job row."""

from tqdm import tqdm

from counterpart_annotators.progress import Progress as Progress
from counterpart_annotators.progress import silent as silent
from counterpart_annotators.progress import tracked as tracked


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
