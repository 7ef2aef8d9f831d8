"""A tiny collection that can be learned: plain pictures of six colours, each called by its colour's name."""

from functools import cache

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from corpus.models import Caption, Collection, Image, Match
from tests.factories import picture

COLOURS = ("red", "green", "blue", "yellow", "black", "white")


coloured = cache(picture)


def make_coloured_collection(name: str = "colours", *, train_each: int = 4, test_each: int = 1) -> Collection:
    """Per colour, ``train_each`` images in the split train and ``test_each`` in test; two captions each."""
    collection = Collection.objects.create(name=name)
    images, captions = [], []
    for colour in COLOURS:
        for i in range(train_each + test_each):
            key, drawn = f"{colour}{i}", ContentFile(coloured(colour, (48 + i, 36)))
            image = Image(
                collection=collection,
                key=key,
                file_name=f"{key}.jpg",
                file=default_storage.save(f"images/{name}/{key}.jpg", drawn),
                sha256=key,
                split="train" if i < train_each else "test",
            )
            images.append(image)
            for c, text in enumerate((f"a {colour} square", f"all of it is {colour}")):
                captions.append(Caption(collection=collection, image=image, key=f"{key}-{c}", text=text))
    Image.objects.bulk_create(images)
    Caption.objects.bulk_create(captions)
    Match.objects.bulk_create(
        Match(collection=collection, image=caption.image, caption=caption, source=Match.ORIGINAL)
        for caption in captions
    )
    return collection
