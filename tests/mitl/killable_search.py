"""A search of 20,000 images and 100,000 captions in a process of its own, which may be killed:

python -m tests.mitl.killable_search FOLDER [ROW]  prints the SHA-256 of what it found and the strips it searched; with
ROW it kills itself, with no chance to tidy up, as soon as so many rows are searched.
"""

import hashlib
import json
import os
import signal
import sys
from pathlib import Path

import numpy as np

from mitl.checkpoints import Checkpoints
from mitl.topk import bidirectional_topk
from mitl.topk.sweep import STRIP

IMAGES, CAPTIONS, DIMENSIONS = 20_000, 100_000, 64
K = 10


def main(folder: str, row: int = IMAGES + 1) -> None:
    strips: set[int] = set()

    def progress(step: str, done: int, total: int | None) -> None:
        if total == IMAGES * CAPTIONS:
            strips.add((done - 1) // (STRIP * CAPTIONS))
        if done >= row * CAPTIONS:
            os.kill(os.getpid(), signal.SIGKILL)

    rng = np.random.default_rng(0)
    images, captions = (rng.standard_normal((n, DIMENSIONS)).astype(np.float32) for n in (IMAGES, CAPTIONS))
    found = bidirectional_topk(images, captions, K, store=Checkpoints(Path(folder)), progress=progress)
    digest = hashlib.sha256()
    for array in (found.i2t_indices, found.i2t_scores, found.t2i_indices, found.t2i_scores):
        digest.update(array.tobytes())
    print(json.dumps({"sha256": digest.hexdigest(), "strips": sorted(strips)}))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
