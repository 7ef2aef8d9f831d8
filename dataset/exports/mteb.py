"""Format ``mteb``: a task per direction with the configs ``corpus``, ``query`` and ``qrels``, as MTEB has them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from dataset.exports.data_files import batches_of
from dataset.exports.exported_tables import write_parquet
from dataset.exports.gallery_rows import gallery_captions, labelled_pairs, query_keys
from dataset.exports.hugging_face import config_info, write_card
from dataset.exports.licences import on_the_hub
from dataset.exports.picture_column import AT_ONCE, PICTURE, pictured_images, with_features
from dataset.exports.specification import LABELS, Export, Format
from dataset.releases.credits import title_of
from mitl.models import Direction

QRELS = pa.schema([("query-id", pa.string()), ("corpus-id", pa.string()), ("score", pa.int32())])
TEXTS = pa.schema([("id", pa.string()), ("modality", pa.string()), ("text", pa.string())])
PICTURES = with_features(pa.schema([("id", pa.string()), ("modality", pa.string()), ("image", PICTURE)]))
SPLITS = {"corpus": "corpus", "query": "test", "qrels": "test"}


def write_mteb(export: Export) -> None:
    """Write the folders ``<version>_i2t`` and ``<version>_t2i``, each with a card.

    Ids are those of the collection after ``image-`` or ``caption-``, so that no query has the id of an item. Judged
    pairs that do not match have the score 0. Raises CounterpartError if pictures are missing or were changed.
    """
    queries = query_keys(export.version)
    folders = {direction: export.folder / f"{export.version.name}_{direction.value}" for direction in Direction}
    for direction, folder in folders.items():
        for config in SPLITS:
            (folder / config).mkdir(parents=True)
        sides = ("query", "corpus") if direction == Direction.IMAGE_TO_CAPTION else ("corpus", "query")
        asked: Any = queries[direction]
        images, captions = (asked if side == "query" else None for side in sides)
        _write(folder, sides[0], _pictures(export, images), PICTURES, size=AT_ONCE)
        _write(folder, sides[1], _texts(export, captions), TEXTS)
        _write(folder, "qrels", _qrels(export, direction), QRELS)
        _write_card(export, folder, direction)


def _path(folder: Path, config: str) -> Path:
    return folder / config / f"{SPLITS[config]}.parquet"


def _write(
    folder: Path, config: str, rows: Iterator[tuple[Any, ...]], schema: pa.Schema, *, size: int = 10_000
) -> None:
    write_parquet(_path(folder, config), batches_of(rows, schema, size=size), group=size)


def _texts(export: Export, wanted: set[str] | None) -> Iterator[tuple[str, str, str]]:
    for caption in gallery_captions(export.version):
        if wanted is None or caption.key in wanted:
            yield f"caption-{caption.key}", "text", caption.text


def _pictures(export: Export, wanted: set[str] | None) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for image, picture in pictured_images(export, wanted):
        yield f"image-{image.key}", "image", picture


def _qrels(export: Export, direction: Direction) -> Iterator[tuple[str, str, int]]:
    query, item = ("image", "caption") if direction == Direction.IMAGE_TO_CAPTION else ("caption", "image")
    for pair in labelled_pairs(export):
        if pair.direction == direction:
            yield f"{query}-{pair.query}", f"{item}-{pair.item}", pair.label


def _write_card(export: Export, folder: Path, direction: Direction) -> None:
    front = {
        **on_the_hub(export.version.manifest["licence"]),
        "pretty_name": f"{title_of(export.version)}, {direction.label}",
        "task_categories": ["image-to-text" if direction == Direction.IMAGE_TO_CAPTION else "text-to-image"],
        "tags": ["mteb", "image-text-retrieval", f"{export.labels}-labels"],
        "configs": [
            {"config_name": config, "data_files": [{"split": split, "path": f"{config}/{split}.parquet"}]}
            for config, split in SPLITS.items()
        ],
        "dataset_info": [config_info(config, {split: _path(folder, config)}) for config, split in SPLITS.items()],
    }
    write_card(export.version, folder, front)


FORMAT = Format(write_mteb, "a retrieval task per direction in MTEB's form, with the pictures", LABELS)
