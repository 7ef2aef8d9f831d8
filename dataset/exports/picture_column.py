"""Pictures as a column of Parquet files that Hugging Face's ``datasets`` decodes as images."""

import hashlib
import json
from collections.abc import Collection, Iterator
from typing import Any

import pyarrow as pa
from django.core.files.storage import default_storage

from core.errors import CounterpartError, some_of
from core.files.stored_files import read_file
from core.text import counted
from dataset.exports.gallery_rows import GalleryImage, gallery_images
from dataset.exports.specification import Export

PICTURE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
AT_ONCE = 100  # pictures in memory, and in a row group


def with_features(schema: pa.Schema) -> pa.Schema:
    """Return the schema with the metadata by which ``datasets`` finds the columns of images."""
    features = {field.name: feature_of(field) for field in schema}
    return schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def feature_of(field: pa.Field) -> dict[str, str]:
    """Return a column's type as ``datasets`` writes it."""
    if field.type == PICTURE:
        return {"_type": "Image"}
    return {"dtype": "float64" if field.type == pa.float64() else str(field.type), "_type": "Value"}


def pictured_images(
    export: Export, wanted: Collection[str] | None = None
) -> Iterator[tuple[GalleryImage, dict[str, Any]]]:
    """Yield the gallery's images, or those with the keys ``wanted``, each with the ``PICTURE`` it had at the release.

    Raises CounterpartError at the end if pictures are missing or were changed.
    """
    missing = list[str]()
    done = 0
    for image in gallery_images(export.version):
        if wanted is None or image.key in wanted:
            content = _content(image)
            if content is None:
                missing.append(image.key)
            elif not missing:
                yield image, {"bytes": content, "path": image.file_name}
            done += 1
            export.progress("pictures", done, None)
    if missing:
        raise CounterpartError(
            f"{counted(len(missing), 'picture is', 'pictures are')} missing or were changed since the release: "
            f"{some_of(missing)}. Import the collection again with --images, or export qrels, or hf without --pictures."
        )


def _content(image: GalleryImage) -> bytes | None:
    """Return a picture's file; None if it is missing or is another one than at the release."""
    if not image.file or not default_storage.exists(image.file):
        return None
    content = read_file(image.file)
    is_another = image.sha256 and hashlib.sha256(content).hexdigest() != image.sha256
    return None if is_another else content
