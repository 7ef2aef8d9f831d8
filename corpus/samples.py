"""Draw or read a sample: the fixed set of query images and query captions of a round."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from django.db import transaction

from core.errors import CounterpartError, some_of
from core.events import record
from core.seeds import check_seed
from core.text import check_name, counted
from corpus.input_files import at, json_records, lines
from corpus.match_files import keys_of
from corpus.models import CaptionQuerySet, Collection, ImageQuerySet, Sample
from corpus.readers.record import key_of
from corpus.tables import CAPTION_ID, IMAGE, IMAGE_ID, columns_of, is_json, read_rows
from counterpart_metrics.table_rows import found_columns

IDS = {"images": (*IMAGE_ID, "id", "key", *IMAGE), "captions": (*CAPTION_ID, "id", "key", "caption")}


def sample_queries(
    name: str,
    *,
    collection: Collection,
    images: int | Path,
    captions: int | Path,
    uncaptioned: bool = False,
    seed: int = 0,
    actor: str = "command",
) -> Sample:
    """Create the sample ``name`` of gallery images and gallery captions: a number to draw, or a file of ids.

    The same arguments draw the same queries; images and captions are drawn independently of each other. Images are
    drawn from those with captions, as no match of the others is known; with ``uncaptioned`` from those without, for
    workers to write some. A file may name any. An existing sample with this name and content is returned.

    Raises CounterpartError for ids that are not in the gallery, more queries than the gallery has, no queries, a seed
    out of range, or a name that another sample has.
    """
    check_name(name)
    check_seed(seed)
    things = "images"
    pictures = collection.images.gallery()
    if not isinstance(images, Path):
        things, pictures = _drawable(collection, uncaptioned=uncaptioned)
    image_ids = _chosen(things, pictures, images, np.random.default_rng([seed, 0]), collection)
    caption_ids = _chosen(
        "captions", collection.captions.gallery(), captions, np.random.default_rng([seed, 1]), collection
    )
    if not image_ids and not caption_ids:
        raise CounterpartError(f"The sample {name} would have no queries. Ask for at least one image or caption.")
    with transaction.atomic():
        sample, made = Sample.objects.get_or_create(name=name, defaults={"collection": collection, "seed": seed})
        if made:
            _fill(sample, image_ids, caption_ids, actor)
        elif not _is_same(sample, collection, image_ids, caption_ids):
            raise CounterpartError(
                f"The sample {name} already exists with other queries (of {sample.collection}, seed {sample.seed}). "
                "Choose another name."
            )
    return sample


def check_drawable(collection: Collection, *, images: int, captions: int) -> None:
    """Raise CounterpartError where the gallery has fewer captions, or images with captions, than are to be drawn."""
    things, pictures = _drawable(collection)
    _check_number(things, images, pictures.count(), collection)
    _check_number("captions", captions, collection.captions.gallery().count(), collection)


def _drawable(collection: Collection, *, uncaptioned: bool = False) -> tuple[str, ImageQuerySet]:
    """Return the images that may be drawn, and what they are called."""
    gallery = collection.images.gallery()
    if uncaptioned:
        return "images without captions", gallery.uncaptioned()
    return "images with captions" if gallery.uncaptioned().exists() else "images", gallery.captioned()


def _check_number(things: str, wanted: int, there: int, collection: Collection) -> None:
    if not 0 <= wanted <= there:
        raise CounterpartError(
            f"Cannot draw {wanted:,} {things}: the gallery of {collection} has {there:,}; ask for 0 to {there}."
        )


def _chosen(
    things: str,
    gallery: ImageQuerySet | CaptionQuerySet,
    wanted: int | Path,
    rng: np.random.Generator,
    collection: Collection,
) -> list[int]:
    if isinstance(wanted, Path):
        return _listed(things, gallery, wanted, collection)
    ids = np.array(gallery.order_by("pk").values_list("pk", flat=True), np.int64)
    _check_number(things, wanted, len(ids), collection)
    return np.sort(rng.choice(ids, size=wanted, replace=False)).tolist()


def _listed(things: str, gallery: ImageQuerySet | CaptionQuerySet, file: Path, collection: Collection) -> list[int]:
    """Return the ids of the rows that ``file`` names; a repeated one counts once."""
    known = keys_of(collection)
    find = known.caption if things == "captions" else known.image
    asked = {key: find(key) for key in read_ids(file, things)}
    there = set(gallery.values_list("pk", flat=True))
    unknown = [key for key, row in asked.items() if row not in there]
    if unknown:
        raise CounterpartError(
            f"The gallery of {collection} does not contain {counted(len(unknown), things.removesuffix('s'))} "
            f"of {file.name}: {some_of(unknown)}. Correct the file, or import them first."
        )
    return sorted({row for row in asked.values() if row is not None})


def read_ids(file: Path, side: str) -> list[str]:
    """Return the ids of ``images`` or ``captions`` in a file, each once: an id a line, a JSON list of them, or the
    column of a table that has one."""
    wanted = {"id": IDS[side]}
    listed: Iterable[tuple[int, Any]] = lines(file)
    try:
        if found_columns(file.name, columns_of(file), wanted)["id"]:
            listed = ((number, row["id"]) for number, row in read_rows(file, wanted))
        elif is_json(file):
            listed = enumerate(json_records(file), 1)
    except CounterpartError:  # ids may have quotes and commas
        pass
    ids: dict[str, None] = {}
    for number, cell in listed:
        with at(file, "line", number):
            ids[key_of(cell, "it")] = None
    return list(ids)


def _is_same(sample: Sample, collection: Collection, image_ids: list[int], caption_ids: list[int]) -> bool:
    return (
        sample.collection_id == collection.pk
        and list(sample.images.order_by("pk").values_list("pk", flat=True)) == image_ids
        and list(sample.captions.order_by("pk").values_list("pk", flat=True)) == caption_ids
    )


def _fill(sample: Sample, image_ids: list[int], caption_ids: list[int], actor: str) -> None:
    # Not .set(): it first asks which ids exist, with more parameters than SQLite allows.
    sides: Sequence[tuple[Any, str, list[int]]] = (
        (Sample.images.through, "image_id", image_ids),
        (Sample.captions.through, "caption_id", caption_ids),
    )
    for asked, column, ids in sides:
        asked.objects.bulk_create((asked(sample_id=sample.pk, **{column: pk}) for pk in ids), batch_size=5_000)
    record("sampled", sample, actor=actor, images=len(image_ids), captions=len(caption_ids), seed=sample.seed)
