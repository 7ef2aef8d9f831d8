"""A plan: the units of one step of a search by parts, and their results, as files in one folder of the storage.

The folder says what is done: ``plan.json`` holds the units, ``<number>-<SHA-256>.npy`` the result of one. So a lost
process costs the unit that it was at, a lost driver nothing, and work resumes on any computer that sees the storage.
"""

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from io import BytesIO

import numpy as np
from django.core.files.storage import default_storage
from django.utils import timezone
from numpy.typing import NDArray

from core.files.stored_files import STALE_DAYS, StoredFile, files_in, folders_in, remove_file, write_file
from core.progress import Progress, silent
from mitl.search.units import UNITS, Unit

RESULT = re.compile(r"(\d+)-([0-9a-f]{64})\.npy")


@dataclass(frozen=True)
class SearchPlan:
    """Some units of work and the folder of the storage where their results come together."""

    folder: str
    units: list[Unit]

    def write(self) -> None:
        """Store the units, so that other processes can open the plan."""
        write_file(_path(self.folder), UNITS.dump_json(self.units))

    def run(self, number: int, progress: Progress = silent) -> None:
        """Compute one unit and store its result, unless the plan was removed."""
        result = self.units[number].compute(progress)
        if self.is_wanted:
            store_array(f"{self.folder}/{number}", result)

    def results(self) -> dict[int, StoredFile]:
        """Return the results that are stored, by the numbers of their units, in order.

        Where two computers gave a unit different bits, everybody takes the same of the two.
        """
        results = {}
        for path in sorted(files_in(self.folder), reverse=True):
            if match := RESULT.fullmatch(path.rpartition("/")[2]):
                results[int(match[1])] = StoredFile(path, match[2])
        return dict(sorted(results.items()))

    @property
    def is_wanted(self) -> bool:
        """Whether the plan is still stored: the search has not ended."""
        return default_storage.exists(_path(self.folder))

    def missing(self) -> list[int]:
        """Return the numbers of the units without a result."""
        return sorted(set(range(len(self.units))) - self.results().keys())


def open_plan(folder: str) -> SearchPlan | None:
    """Return a stored plan; None if it was removed, as the search has ended."""
    try:
        with default_storage.open(_path(folder), "rb") as file:
            return SearchPlan(folder, UNITS.validate_json(file.read()))
    except FileNotFoundError:
        return None


def store_array(prefix: str, array: NDArray) -> StoredFile:
    """Store an array as ``<prefix>-<SHA-256>.npy``, so that its local copies can be memory-mapped."""
    buffer = BytesIO()
    np.save(buffer, array, allow_pickle=False)
    content = buffer.getvalue()
    return write_file(f"{prefix}-{hashlib.sha256(content).hexdigest()}.npy", content)


def end_plan(folder: str) -> None:
    """Prevent processes from beginning another unit of a plan. Its results stay."""
    default_storage.delete(_path(folder))


def remove_folder(folder: str) -> None:
    """Remove a folder's files and their local copies, its plan first, so that no process begins another unit."""
    end_plan(folder)
    for path in files_in(folder):
        if match := RESULT.fullmatch(path.rpartition("/")[2]):
            remove_file(StoredFile(path, match[2]))
        else:
            default_storage.delete(path)


def remove_abandoned(root: str) -> None:
    """Remove the folders of plans in the folders of ``root`` to which nothing was added for two weeks: no process has
    resumed what a killed one left there."""
    before = timezone.now() - timedelta(days=STALE_DAYS)
    for folder in folders_in(root):
        steps = folders_in(folder)
        with suppress(FileNotFoundError):  # it ends at this moment
            files = [file for step in steps for file in files_in(step)]
            if all(default_storage.get_modified_time(file) < before for file in files):
                for step in steps:
                    remove_folder(step)


def _path(folder: str) -> str:
    return f"{folder}/plan.json"
