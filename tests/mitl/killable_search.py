"""A search of 20,000 images, three strips, and 10,000 captions, which may be killed in a process of its own:

python -m tests.mitl.killable_search FOLDER ROW  kills itself, with no chance to tidy up, as soon as so many rows are
searched.
"""

import hashlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

from counterpart_annotators.checkpoints import Checkpoints
from counterpart_topk import bidirectional_topk
from counterpart_topk.sweep import STRIP

IMAGES, CAPTIONS, DIMENSIONS = 20_000, 10_000, 32
K = 10


def search(folder: Path, row: int = IMAGES + 1) -> dict[str, Any]:
    """Search, or go on with what is left in the folder."""
    strips: set[int] = set()

    def progress(step: str, done: int, total: int | None) -> None:
        if total == IMAGES * CAPTIONS:
            strips.add((done - 1) // (STRIP * CAPTIONS))
        if done >= row * CAPTIONS:
            os.kill(os.getpid(), signal.SIGKILL)

    rng = np.random.default_rng(0)
    images, captions = (rng.standard_normal((n, DIMENSIONS)).astype(np.float32) for n in (IMAGES, CAPTIONS))
    found = bidirectional_topk(images, captions, K, store=Checkpoints(folder), progress=progress)
    digest = hashlib.sha256()
    for array in (found.i2t_indices, found.i2t_scores, found.t2i_indices, found.t2i_scores):
        digest.update(array.tobytes())
    return {"sha256": digest.hexdigest(), "strips": sorted(strips)}


if __name__ == "__main__":
    search(Path(sys.argv[1]), int(sys.argv[2]))
