"""Units of a search by parts: encode one part of the items, or scan parts of the embeddings for a block of queries.

A unit holds all that its result depends on, in plain values that travel to any process. It reads the storage and no
database. Run anywhere, any number of times, it gives the same array.
"""

import json
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from core.errors import CounterpartError
from core.files.parts import Part
from core.files.stored_files import StoredFile, local_copy
from core.progress import Progress
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
