"""The demo collection: random scenes, drawn and captioned, with a grade for every caption and gallery picture."""

import numpy as np
from django.db import transaction

from core.errors import CounterpartError
from core.events import record
from core.progress import Progress, silent, tracked
from core.seeds import check_seed
from core.text import check_name
from corpus.models import Caption, Collection, Image, Match
from corpus.pictures.stored_pictures import StoredPicture, store_picture
from counterpart_drawn.drawing.layout import draw_scene
from counterpart_drawn.grades import Levels, grades
from counterpart_drawn.meanings import CAPTIONS_EACH
from counterpart_drawn.plates import LESSONS, ROUNDS, Plate, compose

FEWEST = 10  # pictures
MOST = 5000  # the truth grows with their square
LOWEST_LEVEL = 3  # level 4 is not written: a pair that the truth does not list has level 4
BATCH = 2000
TRUTH = "truth"
DESCRIPTION = "Drawn scenes with five captions each; how well any caption fits any picture is known exactly."


def make_demo_collection(
    name: str, *, images: int = 600, seed: int = 0, lessons: bool = False, progress: Progress = silent
) -> Collection:
    """Draw ``images`` pictures with five captions each, 40% of them in the split "test", 10% in "val", the others in
    "train". With ``lessons`` the collection is only for training annotators: 10% in "val", the others in "train".

    Writes the ``original`` matches, and for the test split the full truth: ``Match(source="truth", grade)``
    for every pair of grade 1-3 (see ``counterpart_drawn.grades``); pairs not listed have grade 4. Equal arguments give
    equal bytes. An existing collection with the same arguments is returned. Raises CounterpartError for a name that
    another collection has, and for an invalid size or seed.
    """
    check_name(name)
    if not FEWEST <= images <= MOST:
        raise CounterpartError(f"Invalid number of images {images}: use {FEWEST} to {MOST}.")
    check_seed(seed)
    drawn = {"images": images, "seed": seed, "lessons": lessons}
    existing = Collection.objects.filter(name=name).first()
    if existing is not None:
        return _same(existing, drawn)
    plates = compose(images, seed, LESSONS if lessons else ROUNDS)
    pictures = [
        store_picture(name, plate.key, f"{plate.key}.jpg", draw_scene(plate.scene, np.random.default_rng([seed, 3, n])))
        for n, plate in enumerate(tracked(plates, "Drawing pictures", progress, total=images, every=20))
    ]
    test = [plate for plate in plates if plate.split == "test"]
    levels = grades([meaning for plate in test for meaning in plate.meanings], [plate.scene for plate in test])
    with transaction.atomic():
        collection, is_new = Collection.objects.get_or_create(
            name=name, defaults={"description": DESCRIPTION, "drawn": drawn}
        )
        if not is_new:
            return _same(collection, drawn)
        rows = _write_images(collection, plates, pictures)
        captions = _write_captions(collection, plates, rows)
        _write_truth(collection, plates, levels, rows, captions, progress)
        record("drawn", collection, actor="demo_collection", **drawn)
    return collection


def _same(collection: Collection, wanted: dict[str, int | bool]) -> Collection:
    """Return the collection if it was drawn with these arguments, otherwise raise CounterpartError."""
    if collection.drawn is None:
        raise CounterpartError(f"The collection {collection} exists and was not drawn. Choose another name.")
    if collection.drawn != wanted:
        raise CounterpartError(
            f"The collection {collection} exists with {_summary(collection.drawn)}. "
            f"Choose another name for {_summary(wanted)}."
        )
    return collection


def _summary(drawn: dict[str, int | bool]) -> str:
    return f"{drawn['images']} pictures and seed {drawn['seed']}{', for lessons' if drawn['lessons'] else ''}"


def _write_images(collection: Collection, plates: list[Plate], pictures: list[StoredPicture]) -> list[Image]:
    return Image.objects.bulk_create(
        (
            Image(
                collection=collection,
                key=plate.key,
                file_name=f"{plate.key}.jpg",
                file=picture.file,
                width=picture.width,
                height=picture.height,
                sha256=picture.sha256,
                split=plate.split,
            )
            for plate, picture in zip(plates, pictures, strict=True)
        ),
        batch_size=BATCH,
    )


def _write_captions(collection: Collection, plates: list[Plate], images: list[Image]) -> list[Caption]:
    """Write the captions and their ``original`` matches, picture by picture."""
    captions = Caption.objects.bulk_create(
        (
            Caption(collection=collection, image=image, key=key, text=text)
            for image, plate in zip(images, plates, strict=True)
            for key, text in zip(plate.caption_keys, plate.texts, strict=True)
        ),
        batch_size=BATCH,
    )
    Match.objects.bulk_create(
        (
            Match(collection=collection, image_id=caption.image_id, caption=caption, source=Match.ORIGINAL)
            for caption in captions
        ),
        batch_size=BATCH,
    )
    return captions


def _write_truth(
    collection: Collection,
    plates: list[Plate],
    levels: Levels,
    images: list[Image],
    captions: list[Caption],
    progress: Progress,
) -> None:
    """Write the pairs of level 1-3 of the test split."""
    test = [place for place, plate in enumerate(plates) if plate.split == "test"]
    said, shown = np.nonzero(levels <= LOWEST_LEVEL)
    image_ids = np.array([images[place].pk for place in test])
    caption_ids = np.array([caption.pk for caption in captions]).reshape(-1, CAPTIONS_EACH)[test].ravel()
    graded = zip(image_ids[shown].tolist(), caption_ids[said].tolist(), levels[said, shown].tolist(), strict=True)
    matches = (
        Match(collection_id=collection.pk, image_id=image, caption_id=caption, source=TRUTH, grade=level)
        for image, caption, level in graded
    )
    Match.objects.bulk_create(tracked(matches, "writing the truth", progress, total=len(said)), batch_size=BATCH)
