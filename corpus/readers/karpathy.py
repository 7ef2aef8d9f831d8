"""Karpathy's dataset_coco.json and dataset_flickr30k.json: images with their sentences and split."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus.input_files import at, json_items
from corpus.readers.record import Record, bare_image, caption_record


def read_karpathy(path: Path) -> Iterator[Record]:
    """Yield a record per sentence. Images are keyed by cocoid if present, otherwise by file name."""
    for number, image in enumerate(json_items(path, "images.item"), 1):
        with at(path, "image", number):
            records = list(_records(image))
        yield from records


def _records(image: Any) -> Iterator[Record]:
    if not isinstance(image, dict) or not isinstance(image.get("sentences"), list):
        raise ValueError("sentences missing")
    file_name = image.get("filename")
    split = image.get("split", "")
    key = image.get("cocoid", file_name)
    if not image["sentences"]:
        yield bare_image(image=key, file_name=file_name, split=split)
    for sentence in image["sentences"]:
        if not isinstance(sentence, dict):
            raise ValueError("a sentence is not a JSON object")
        yield caption_record(
            image=key, file_name=file_name, caption=sentence.get("sentid"), text=sentence.get("raw"), split=split
        )
