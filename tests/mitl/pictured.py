"""A tiny collection that can be learned: plain pictures of six colours, each called by its colour's name."""

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from corpus.models import Caption, Collection, Image, Match
from tests.factories import picture

COLOURS = ("red", "green", "blue", "yellow", "black", "white")


def make_coloured_collection(name: str = "colours", *, train_each: int = 4, test_each: int = 1) -> Collection:
    """Per colour, ``train_each`` images in the split train and ``test_each`` in test; two captions each."""
    collection = Collection.objects.create(name=name)
    for colour in COLOURS:
        for i in range(train_each + test_each):
            path = default_storage.save(f"images/{name}/{colour}{i}.jpg", ContentFile(picture(colour, (48 + i, 36))))
            image = Image.objects.create(
                collection=collection,
                key=f"{colour}{i}",
                file_name=f"{colour}{i}.jpg",
                file=path,
                sha256=f"{colour}{i}",
                split="train" if i < train_each else "test",
            )
            for c, text in enumerate((f"a {colour} square", f"all of it is {colour}")):
                caption = Caption.objects.create(collection=collection, image=image, key=f"{image.key}-{c}", text=text)
                Match.objects.create(collection=collection, image=image, caption=caption, source=Match.ORIGINAL)
    return collection
