"""A plan: the units of one step of a search by parts, and their results, as files in one folder of the storage.

The folder says what is done: ``plan.json`` holds the units, ``<number>-<SHA-256>.npy`` the result of one. So a lost
process costs the unit that it was at, a lost driver nothing, and work resumes on any computer that sees the storage.

A unit encodes one part of the items, or scans parts of the embeddings for a block of queries. It holds all that its
result depends on, in plain values that travel to any process, and reads the storage and no database. Run anywhere, any
number of times, it gives the same array.
"""

import hashlib
import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from io import BytesIO
from typing import Any

import numpy as np
from django.core.files.storage import default_storage
from django.utils import timezone
from numpy.typing import NDArray
from pydantic import TypeAdapter

from core.errors import CounterpartError
from core.files.stored_files import (
    STALE_DAYS,
    Part,
    StoredFile,
    files_in,
    folders_in,
    local_copy,
    read_file,
    remove_file,
    write_file,
)
from core.progress import Progress, silent
from corpus.galleries.item_parts import IMAGES, captions_of, images_of
from counterpart_annotators.base import ComparingAnnotator, EmbeddingAnnotator
from counterpart_annotators.encoding import encode_rows
from mitl import annotators
from mitl.hosting.plain_rows import plain_captions, plain_images
from mitl.models import Annotator


@dataclass(frozen=True)
class Encode:
    """Encode the items of one part of a side, ``images`` or ``captions``: an array (rows, D) or (rows, K, D).

    ``annotator``: the values of its row that decide its embeddings, and its name (``encoder_of``). ``threads``: those
    of torch, whose number may change the last bits.
    """

    annotator: dict[str, Any]
    side: str
    items: Part
    device: str
    threads: int

    def compute(self, progress: Progress) -> NDArray:
        import torch

        opened = _opened(json.dumps(self.annotator, sort_keys=True), self.device)
        before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        try:
            if self.side == IMAGES:
                images = plain_images(images_of(self.items))
                opened.check_pictures(images)
                return encode_rows(opened.encode_images, images, None, "reading images", progress)
            captions = plain_captions(captions_of(self.items), {})
            return encode_rows(opened.encode_captions, captions, None, "reading captions", progress)
        finally:
            torch.set_num_threads(before)


@dataclass(frozen=True)
class Scan:
    """Find the ``k`` best items of some parts for each query of a block: an array of ``scan.ENTRY`` (queries, k)."""

    queries: Part
    items: tuple[Part, ...]
    k: int
    device: str

    def compute(self, progress: Progress) -> NDArray:
        from mitl.search.scan import merge, packed, scan  # with torch, which takes seconds

        queries = read_embeddings(self.queries)
        first, *others = self.items
        ranking = scan(first, queries, self.k, read_embeddings, device=self.device, progress=progress)
        for part in others:
            here = scan(part, queries, self.k, read_embeddings, device=self.device, progress=progress)
            ranking = merge(ranking, here)
        return packed(ranking)


Unit = Encode | Scan
UNITS: TypeAdapter[list[Unit]] = TypeAdapter(list[Unit])


def encoding_threads() -> int:
    """Return the number of torch's threads with which this computer encodes: OMP_NUM_THREADS, or one a processor.

    torch's own word for it changes while a process runs: numba sets the same number.
    """
    return int(os.environ.get("OMP_NUM_THREADS", "0").partition(",")[0]) or len(os.sched_getaffinity(0))


def read_embeddings(part: Part) -> NDArray:
    """Return the embeddings of a part as a memory map, which all processes of a computer share."""
    embeddings: NDArray = np.load(local_copy(StoredFile(part.path, part.sha256)), mmap_mode="r")
    return embeddings


def encoder_of(annotator: Annotator) -> dict[str, Any]:
    """Return what ``Encode`` needs to know of an annotator.

    Raises CounterpartError for one that does not search by inner products of embeddings, and for one without weights.
    """
    encoder = {name: getattr(annotator, name) for name in ("name", "kind", "options", "checkpoint", "checksum")}
    _opened(json.dumps(encoder, sort_keys=True), "cpu")
    return encoder


@lru_cache(maxsize=1)
def _opened(encoder: str, device: str) -> EmbeddingAnnotator:
    """Load an annotator, once a process for all units of a search."""
    annotator = Annotator(**json.loads(encoder))
    opened = annotators.load(annotator, device)
    if not isinstance(opened, EmbeddingAnnotator) or isinstance(opened, ComparingAnnotator):
        raise CounterpartError(
            "only searches by inner products of embeddings can be made by parts; leave --engine-on, --shards and"
            " --gallery out."
        )
    return opened


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
        return SearchPlan(folder, UNITS.validate_json(read_file(_path(folder))))
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
