"""COCO's captions_*.json: a list of images and a list of annotations, each streamed. image_info_*.json has images
alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus.input_files import at, json_items
from corpus.readers.record import Record, bare_image, caption_record, key_of


def read_coco(path: Path) -> Iterator[Record]:
    """Yield a record per annotation, then the images without annotations.

    A file named captions_train… has the split ``train``; any other has no split, so that rounds can use it.
    """
    split = "train" if path.name.startswith("captions_train") else ""
    file_names = _file_names(path)
    without = dict.fromkeys(file_names)
    for number, annotation in enumerate(json_items(path, "annotations.item"), 1):
        with at(path, "annotation", number):
            record = _record(annotation, file_names, split)
        without.pop(record.image, None)
        yield record
    for image in without:
        yield bare_image(image=image, file_name=file_names[image], split=split)


def _file_names(path: Path) -> dict[str, str]:
    names = {}
    for number, image in enumerate(json_items(path, "images.item"), 1):
        with at(path, "image", number):
            if not isinstance(image, dict):
                raise ValueError("not a JSON object")
            record = bare_image(image=image.get("id"), file_name=image.get("file_name"))
            names[record.image] = record.file_name
    return names


def _record(annotation: Any, file_names: dict[str, str], split: str) -> Record:
    if not isinstance(annotation, dict):
        raise ValueError("not a JSON object")
    image = key_of(annotation.get("image_id"), "the image of this caption")
    if image not in file_names:
        raise ValueError(f"its image {image} is not among the file's images")
    return caption_record(
        image=image,
        file_name=file_names[image],
        caption=annotation.get("id"),
        text=annotation.get("caption"),
        split=split,
    )
