"""Embeddings or ranked lists uploaded for a collection: they become an annotator of kind ``files``."""

from pathlib import Path

from core.errors import CounterpartError, some_of
from corpus.models import Collection
from mitl.annotators.files import adopt


def check_covered(collection: Collection, path: Path) -> None:
    """Raise CounterpartError for an invalid file, or embeddings without some images or captions of the gallery.

    Lists are compared with a sample later, when it is searched.
    """
    arrays = adopt(path, {}).arrays
    for what, rows in (("image", collection.images), ("caption", collection.captions)):
        if f"{what}_ids" not in arrays:
            return
        known = set(arrays[f"{what}_ids"].tolist())
        if missing := [key for key in rows.gallery().values_list("key", flat=True) if key not in known]:
            raise CounterpartError(
                f"{path.name} has no embedding of {len(missing)} {what}s of {collection}: {some_of(missing)}. "
                "Embed the whole gallery, with the collection's own ids."
            )
