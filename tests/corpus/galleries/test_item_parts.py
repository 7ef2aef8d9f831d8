"""Items of a gallery as files: what is written is read back, in order, and equal items are equal files."""

import pytest
from django.core.files.storage import default_storage

from core.errors import CounterpartError
from corpus.galleries.item_parts import CAPTIONS, IMAGES, captions_of, images_of, parts_of_rows, read_part
from corpus.models import Caption, Collection, Image

pytestmark = pytest.mark.django_db


@pytest.fixture
def collection() -> Collection:
    """Five gallery images with two captions each, those of the last image first; one image of a training split."""
    made = Collection.objects.create(name="boats")
    images = [Image.objects.create(collection=made, key=f"i{n}", file=f"f{n}.jpg", sha256=str(n)) for n in range(5)]
    learnt = Image.objects.create(collection=made, key="learnt", split="train")
    for image in [*reversed(images), learnt]:
        for n in range(2):
            Caption.objects.create(collection=made, key=f"{image.key}-{n}", image=image, text=f"boat {image.key} {n}")
    return made


def test_the_gallery_rows_come_back_in_the_order_of_their_ids(collection):
    parts = parts_of_rows(collection, "galleries/boats", 2)
    images = [image for part in parts[IMAGES] for image in images_of(part)]
    captions = [caption for part in parts[CAPTIONS] for caption in captions_of(part)]
    assert [(image.key, image.file, image.sha256) for image in images] == [
        (f"i{n}", f"f{n}.jpg", str(n)) for n in range(5)
    ]
    rows = collection.captions.gallery().order_by("pk")
    assert [(one.key, one.text) for one in captions] == list(rows.values_list("key", "text"))
    assert not any(item.pk for item in [*images, *captions])


def test_a_caption_names_the_place_of_its_image(collection):
    [part] = parts_of_rows(collection, "galleries/boats", 100)[CAPTIONS]
    assert read_part(part)["image"].to_pylist() == [4, 4, 3, 3, 2, 2, 1, 1, 0, 0]


def test_a_changed_part_is_refused(collection):
    [part] = parts_of_rows(collection, "galleries/boats", 100)[IMAGES]
    with default_storage.open(part.path, "wb") as file:
        file.write(b"other")
    with pytest.raises(CounterpartError, match="was changed after"):
        images_of(part)
