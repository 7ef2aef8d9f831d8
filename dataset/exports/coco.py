"""Format ``coco``, that of COCO's caption files: images, and an annotation for every caption of an image."""

import json
from collections.abc import Iterable, Iterator
from itertools import count
from typing import IO, Any

from pyarrow import compute

from counterpart_metrics.ids import number_or_text
from dataset.exports.exported_tables import pair_batches
from dataset.exports.gallery_rows import gallery_captions, gallery_images
from dataset.exports.licences import licence_url
from dataset.exports.specification import COLUMNS, Export, Format
from dataset.releases.credits import authors_of, credits_of, title_of


def write_coco(export: Export) -> None:
    """Write ``captions_<version>_<labels>.json``.

    ``annotations`` holds the pairs that match by the labels asked for, and ``negatives`` in the same form those that
    were judged and do not, and those that were rejected automatically, whose ``sources`` say so. Each has COCO's ``id``
    (from 1), ``image_id`` and ``caption``, then ``caption_id`` and the columns of the version's pairs. Readers of COCO
    files ignore what they do not know.
    """
    version = export.version
    texts = {caption.key: caption.text for caption in gallery_captions(export.version)}
    with (export.folder / f"captions_{version.name}_{export.labels}.json").open("w", encoding="utf-8") as file:
        file.write('{"info": ' + json.dumps(_info(export)) + ',\n"licenses": ' + json.dumps(_licences(export)))
        _write_list(file, "images", _images(export))
        _write_list(file, "annotations", _pairs(export, texts, matching=True))
        _write_list(file, "negatives", _pairs(export, texts, matching=False))
        file.write("\n}\n")


def _info(export: Export) -> dict[str, Any]:
    version = export.version
    manifest = export.version.manifest
    details = credits_of(export.version)
    described = f"{title_of(version)}: matches of version {version} of {version.collection} by {export.labels} labels."
    return {
        "description": f"{described} {details.get('description', '')}".strip(),
        "version": manifest["version"],
        "url": details.get("url", ""),
        "contributor": ", ".join(author.name for author in authors_of(version)),
        "software": manifest["software"],
        "year": export.version.released_at.year,
        "date_created": export.version.released_at.strftime("%Y/%m/%d"),
        "votes": manifest["counts"]["votes"],
        "simulated_votes": manifest["counts"]["simulated_votes"],
    }


def _licences(export: Export) -> list[dict[str, Any]]:
    licence = export.version.manifest["licence"]
    return [{"id": 1, "name": licence, "url": licence_url(licence)}] if licence else []


def _images(export: Export) -> Iterator[dict[str, Any]]:
    for image in gallery_images(export.version):
        size = {"width": image.width, "height": image.height}
        yield {"id": number_or_text(image.key), "file_name": image.file_name, **size}


def _pairs(export: Export, texts: dict[str, str], *, matching: bool) -> Iterator[dict[str, Any]]:
    numbers = count(1)
    for batch in pair_batches(export.version, export.progress):
        wanted = (compute.greater if matching else compute.equal)(batch[COLUMNS[export.labels]], 0)
        for pair in batch.filter(wanted).to_pylist():
            image = pair.pop("image")
            caption = pair.pop("caption")
            ids = {"id": next(numbers), "image_id": number_or_text(image), "caption_id": number_or_text(caption)}
            # A merged source may name a caption outside the gallery.
            text = texts.get(caption) or export.version.collection.captions.get(key=caption).text
            yield {**ids, "caption": text, **pair}


def _write_list(file: IO[str], name: str, rows: Iterable[dict[str, Any]]) -> None:
    file.write(f',\n"{name}": [')
    encode = json.JSONEncoder(ensure_ascii=False).encode  # json.dumps would make one for every row
    for number, row in enumerate(rows):
        file.write((",\n" if number else "\n") + encode(row))
    file.write("]")


FORMAT = Format(write_coco, "pairs as COCO caption annotations", ("lenient", "strict"))
