"""What the tasks of a shared search pass each other, as files: embeddings, and the strips that shards searched."""

from collections.abc import Sequence
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from core.files import StoredFile, local_copy, read_arrays, write_arrays, write_file
from mitl.topk.ranking import Ranking
from mitl.topk.searching import Strip
from mitl.topk.sides import fit_together, open_side


def store_embeddings(prefix: str, images: NDArray, captions: NDArray) -> list[StoredFile]:
    """Store both sides so that their local copies can be memory-mapped.

    Raises ValueError for embeddings that cannot be searched: here once, instead of in every shard.
    """
    fit_together(open_side(images, "images"), open_side(captions, "captions"))
    return [_store(f"{prefix}/images.npy", images), _store(f"{prefix}/captions.npy", captions)]


def map_embeddings(stored: Sequence[StoredFile]) -> list[NDArray]:
    """Return images and captions as memory maps, which all shards on one machine share."""
    return [np.load(local_copy(one), mmap_mode="r") for one in stored]


def store_strip(prefix: str, strip: Strip) -> StoredFile:
    """Store what one shard found. Its precision is left out: it is the machine's choice and changes no bit."""
    return write_arrays(
        prefix,
        images=np.array([strip.images.start, strip.images.stop]),
        image_places=strip.by_image.places,
        image_scores=strip.by_image.scores,
        caption_places=strip.by_caption.places,
        caption_scores=strip.by_caption.scores,
    )


def load_strip(stored: StoredFile) -> Strip:
    """Read what ``store_strip`` stored. Raises CounterpartError if it is gone or was changed."""
    found = read_arrays(stored)
    by_image, by_caption = (Ranking(found[f"{side}_places"], found[f"{side}_scores"]) for side in ("image", "caption"))
    return Strip(slice(*found["images"].tolist()), by_image, by_caption, precision="")


def _store(path: str, array: NDArray) -> StoredFile:
    buffer = BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return write_file(path, buffer.getvalue())
