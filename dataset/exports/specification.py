"""What one export is asked to hold, and what a format declares."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from core.errors import CounterpartError
from core.progress import Progress, silent
from dataset.models import Version

Labels = Literal["strict", "lenient", "graded"]
LABELS: tuple[Labels, ...] = get_args(Labels)
COLUMNS = {"strict": "strict", "lenient": "positive", "graded": "graded"}


@dataclass(frozen=True)
class Export:
    """A version to be written into ``folder``.

    ``labels`` says what a match is where a format has one number for it: ``lenient`` every positive of the version,
    ``strict`` and ``graded`` the columns of these names of ``tables.with_labels``. ``pictures``: whether pictures go
    along.
    """

    version: Version
    folder: Path
    labels: Labels = "lenient"
    pictures: bool = False
    progress: Progress = silent

    def label_of(self, pair: dict[str, Any]) -> int:
        """Return the label of a row of ``tables.pair_rows``."""
        return int(pair[COLUMNS[self.labels]])

    def require_rounds(self) -> None:
        """Raise CounterpartError for a version without judgments."""
        if not self.version.manifest["rounds"]:
            raise CounterpartError(
                f"Version {self.version} has no rounds and so no judgments. Export it as eccv-json or parquet."
            )


@dataclass(frozen=True)
class Format:
    """How a format is written, what it holds, which labels it takes (empty if it has all as columns), whether it
    takes pictures, and whether it reveals the controls of the version's rounds."""

    write: Callable[[Export], None]
    holds: str
    labels: tuple[Labels, ...] = ()
    pictures: bool = False
    controls: bool = False
