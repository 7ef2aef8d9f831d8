"""What a released version holds to match, and where that came from."""

import json
from typing import Any

from core.errors import CounterpartError
from dataset.models import Version
from dataset.version_files import checked_file, positives_file
from mitl.models import Direction

Positives = dict[Direction, dict[int, set[int]]]


def load_positives(version: Version) -> Positives:
    """Return direction → query → its positives, in database ids, from the version's checked files.

    Every query of the version is there, those without a positive with an empty set. Raises CounterpartError if a
    file is gone or changed, or names a picture or caption that has left the collection.
    """
    sample, excluded = version.sample, version.manifest["excluded_captions"]
    images = dict(version.collection.images.values_list("key", "pk"))
    captions = dict(version.collection.captions.values_list("key", "pk"))
    image_queries = sample.images.order_by("pk").values_list("pk", flat=True)
    caption_queries = sample.captions.exclude(key__in=excluded).order_by("pk").values_list("pk", flat=True)
    i2t = _read(version, Direction.IMAGE_TO_CAPTION, images, captions)
    t2i = _read(version, Direction.CAPTION_TO_IMAGE, captions, images)
    return {
        Direction.IMAGE_TO_CAPTION: {query: i2t.get(query, set()) for query in image_queries},
        Direction.CAPTION_TO_IMAGE: {query: t2i.get(query, set()) for query in caption_queries},
    }


def source_table(version: Version) -> list[dict[str, Any]]:
    """Return the rows of the table "positives per source, × over original".

    Each row: ``source``; ``images``, the caption-to-image pairs; ``captions``, the image-to-caption pairs;
    ``times_images`` and ``times_captions`` over the original ones, None where there are none. The first row is the
    original association, the last the version; sources are counted as they came, before any caption was
    excluded.
    """
    return version.manifest["sources"]


def _read(
    version: Version, direction: Direction, queries: dict[str, int], items: dict[str, int]
) -> dict[int, set[int]]:
    listed = json.loads(checked_file(version, positives_file(version, direction)).read_bytes())
    try:
        return {queries[query]: {items[str(item)] for item in positives} for query, positives in listed.items()}
    except KeyError as error:
        raise CounterpartError(
            f"Version {version} names {error.args[0]}, which {version.collection} lacks now; import it again."
        ) from error
