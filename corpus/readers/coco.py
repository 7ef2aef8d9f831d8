"""COCO's captions_*.json: a list of images and a list of annotations, each streamed. image_info_*.json has images
alone; our own export has an annotation for each pair, with the key of its caption."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus.input_files import at, json_items
from corpus.readers.layouts import Layout
from corpus.readers.record import Notes, Record, bare_image, caption_record, key_of

BEGIN = re.compile(r'\{\s*"(info|images|annotations|licenses|type|categories)"\s*:')
OTHERS = re.compile(r"(instances|person_keypoints|panoptic|stuff|stuffthings)_")  # annotations without captions


def read_coco(path: Path, notes: Notes) -> Iterator[Record]:
    """Yield a record per annotation, then the images without annotations. Of pairs with a ``caption_id``, those of
    our export, one is kept for each caption: the original one if it is there.

    A file named captions_train… has the split ``train``; any other has no split, so that rounds can use it.
    """
    split = "train" if path.name.startswith("captions_train") else ""
    file_names = _file_names(path)
    without = dict.fromkeys(file_names)
    pairs: dict[str, tuple[Record, bool]] = {}
    for number, annotation in enumerate(json_items(path, "annotations.item"), 1):
        try:
            record = _record(annotation, file_names, split)
        except ValueError as error:
            notes.fault(path, "annotation", number, error)
            continue
        without.pop(record.image, None)
        if "caption_id" not in annotation:
            yield record
            continue
        original = "original" in str(annotation.get("sources", "")).split(";")
        if original or record.caption not in pairs:
            pairs[record.caption] = record, original
    for record, _ in pairs.values():
        yield record
    for image in without:
        yield bare_image(image=image, file_name=file_names[image], split=split)


def _file_names(path: Path) -> dict[str, str]:
    names = dict[str, str]()
    for number, image in enumerate(json_items(path, "images.item"), 1):
        with at(path, "image", number):
            if not isinstance(image, dict):
                raise ValueError("not a JSON object")
            record = bare_image(image=image.get("id"), file_name=image.get("file_name"))
            if names.setdefault(record.image, record.file_name) != record.file_name:
                raise ValueError(f"the image {record.image} has another file name, {names[record.image]}, before")
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
        caption=annotation.get("caption_id", annotation.get("id")),
        text=annotation.get("caption"),
        split=split,
    )


def is_coco(path: Path, head: str) -> bool:
    return bool(BEGIN.match(head)) and '"sentences"' not in head and not OTHERS.match(path.name)


LAYOUT = Layout("coco", "COCO's captions", read_coco, is_coco)
