"""Rankings that are registered for the pool of ``worlds``."""

import json
from pathlib import Path

from corpus.models import Collection
from evaluation.models import Run
from evaluation.scores.runs import register_file
from mitl.models import Pool
from tests.evaluation.worlds import level_of


def register(pool: Pool, folder: Path, model: str = "new", *, shift: int = 0) -> Run:
    """Register rankings in which every query finds its matches first, then the others from a place on."""
    images, captions = list(pool.collection.images.all()), list(pool.collection.captions.all())

    def ranked(query, items, level):
        moved = items[shift:] + items[:shift]
        return [item.key for item in sorted(moved, key=lambda item: level(query, item))]

    lists = {
        "i2t": {one.key: ranked(one, captions, level_of) for one in images},
        "t2i": {one.key: ranked(one, images, lambda caption, image: level_of(image, caption)) for one in captions},
    }
    path = folder / f"{model}.json"
    path.write_text(json.dumps(lists))
    return register_file(pool.collection, path, model=model)


def register_in_order(collection: Collection, folder: Path, model: str = "outsider") -> Run:
    """Register rankings of the whole gallery, in the order of the keys."""
    images, captions = ([row.key for row in rows.all()] for rows in (collection.images, collection.captions))
    path = folder / f"{model}.json"
    path.write_text(json.dumps({"i2t": {key: captions for key in images}, "t2i": {key: images for key in captions}}))
    return register_file(collection, path)
