"""Embeddings or ranked lists that somebody uploads for a collection: they become an annotator of kind ``files``."""

import tempfile
from pathlib import Path

from core.errors import CounterpartError, some_of
from core.files import StoredFile, local_copy, remove_file
from corpus.models import Collection
from mitl.annotators.files import adopt
from mitl.models import Annotator
from mitl.registration import add_annotator

FORMS = (".npz", ".json")


def add_embeddings(name: str, collection: Collection, stored: StoredFile, file_name: str) -> Annotator:
    """Add the annotator, which keeps the arrays, and remove the uploaded file.

    Raises CounterpartError for a file that is not valid, or embeddings that lack images or captions of the gallery.
    """
    with tempfile.TemporaryDirectory() as folder:
        named = Path(folder) / file_name  # the suffix tells the form
        named.symlink_to(local_copy(stored))
        try:
            _check_covered(collection, named)
            annotator = add_annotator(name, kind="files", checkpoint=named)
        except CounterpartError as error:
            remove_file(stored)
            raise CounterpartError(str(error).replace(f"{folder}/", "")) from error
    remove_file(stored)  # not after any other error: the job may be sent again
    return annotator


def _check_covered(collection: Collection, path: Path) -> None:
    arrays = adopt(path, {}).arrays
    for what, rows in (("image", collection.images), ("caption", collection.captions)):
        if f"{what}_ids" not in arrays:  # lists are compared with the sample that is searched
            return
        known = set(arrays[f"{what}_ids"].tolist())
        if missing := [key for key in rows.gallery().values_list("key", flat=True) if key not in known]:
            raise CounterpartError(
                f"{path.name} has no embedding of {len(missing)} {what}s of {collection}: {some_of(missing)}. "
                "Embed the whole gallery, with the collection's own ids."
            )
