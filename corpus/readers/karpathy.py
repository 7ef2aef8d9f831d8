"""Karpathy's dataset_coco.json and dataset_flickr30k.json: images with their sentences, folder and split."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus.input_files import json_items
from corpus.readers.layouts import Layout
from corpus.readers.record import Notes, Record, bare_image, caption_record, noted


def read_karpathy(path: Path, notes: Notes) -> Iterator[Record]:
    """Yield a record per sentence. Images are keyed by cocoid if present, otherwise by file name
    with its folder: two folders may have files of one name."""
    for number, image in enumerate(json_items(path, "images.item"), 1):
        with noted(notes, path, "image", number):
            yield from _records(path, number, image, notes)


def _records(path: Path, number: int, image: Any, notes: Notes) -> Iterator[Record]:
    if not isinstance(image, dict) or not isinstance(image.get("sentences"), list):
        raise ValueError("sentences missing")
    name = image.get("filename")
    folder = image.get("filepath")
    if folder and isinstance(folder, str) and name:
        name = f"{folder.strip('/')}/{name}"
    described = {"image": image.get("cocoid", name), "file_name": name, "split": image.get("split", "")}
    if not image["sentences"]:
        yield bare_image(**described)
    for sentence in image["sentences"]:
        with noted(notes, path, "image", number):
            if not isinstance(sentence, dict):
                raise ValueError("a sentence is not a JSON object")
            yield caption_record(**described, caption=sentence.get("sentid"), text=sentence.get("raw"))


def is_karpathy(path: Path, head: str) -> bool:
    return head.startswith("{") and '"images"' in head and '"sentences"' in head


LAYOUT = Layout("karpathy", "Karpathy's dataset_*.json", read_karpathy, is_karpathy)
