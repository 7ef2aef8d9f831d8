"""Collections that Hypothesis draws are written in each layout, and found and read as the model that wrote them."""

import csv
import gzip
import json
import tempfile
from io import StringIO
from pathlib import Path
from zipfile import ZipFile

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from corpus.imports import prepared_import
from tests.factories import picture

NAMES = st.sampled_from(["0", "a b", "ä", "雨", "007", "x#1", "IMG_1", "train"])
TEXTS = st.sampled_from(["a cat", "Ein „Hund“, müde", "雨の中", 'says "hi"', "a; b | c", "=1+1", "नमस्ते 👍🏽"])
SPLITS = {"": "", "Train": "train", "validation": "val", "dev": "val", "TEST": "test", "testing": "test"}
MODELS = st.dictionaries(
    NAMES, st.tuples(st.sampled_from([*SPLITS]), st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=5
)
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig"])
Model = dict[str, tuple[str, list[str]]]


def rows_of(model: Model) -> list[tuple[str, str, str]]:
    return [(f"{name}.jpg", text, split) for name, (split, texts) in model.items() for text in texts]


def separated(model: Model, separator: str, end: str = "\n") -> str:
    text = StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator=end)
    writer.writerows([("File Name", "CAPTION", "split"), *rows_of(model)])
    return text.getvalue()


def coco(model: Model) -> str:
    images = [{"id": place, "file_name": f"{name}.jpg"} for place, name in enumerate(model)]
    texts = [(place, text) for place, (_split, texts) in enumerate(model.values()) for text in texts]
    captions = [{"id": n, "image_id": place, "caption": text} for n, (place, text) in enumerate(texts)]
    return json.dumps({"images": images, "annotations": captions})


def karpathy(model: Model) -> str:
    numbers = iter(range(99))
    images = [
        {
            "filename": f"{name}.jpg",
            "split": split,
            "sentences": [{"raw": text, "sentid": next(numbers)} for text in texts],
        }
        for name, (split, texts) in model.items()
    ]
    return json.dumps({"images": images, "dataset": "drawn"})


def json_lines(model: Model) -> str:
    return "\n".join(json.dumps({"image": a, "text": b, "split": c}, ensure_ascii=False) for a, b, c in rows_of(model))


def blip(model: Model) -> str:
    return json.dumps([{"image": f"{name}.jpg", "caption": texts} for name, (_split, texts) in model.items()])


WRITERS = {
    "c.csv": lambda model: separated(model, ","),
    "c.tsv": lambda model: separated(model, "\t"),
    "c.txt": lambda model: separated(model, ";", "\r\n"),
    "c.json": blip,
    "captions_val2014.json": coco,
    "dataset_drawn.json": karpathy,
    "c.jsonl": json_lines,
}
WITHOUT_SPLITS = ("c.json", "captions_val2014.json")


def expected(model: Model, *, splits: bool) -> dict[str, tuple[str, list[str]]]:
    return {f"{name}.jpg": (SPLITS[split] if splits else "", sorted(texts)) for name, (split, texts) in model.items()}


def read(path: Path, n_pictures: int) -> dict[str, tuple[str, list[str]]]:
    with prepared_import("zoo", path=path) as found:
        assert found.troubles == []
        assert len(found.files) == n_pictures
        contents = found.contents
        texts: dict[str, list[str]] = {key: [] for key in contents.images}
        for image, text in contents.new_captions.values():
            texts[image].append(text)
        return {name.rpartition("/")[2]: (split, sorted(texts[key])) for key, (name, split) in contents.images.items()}


@pytest.mark.django_db
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(MODELS, st.sampled_from([*WRITERS]), ENCODINGS, st.sampled_from(["file", "gzip", "folder", "zip"]))
def test_a_drawn_collection_comes_back_from_every_layout(model, name, encoding, packing):
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "set"
        folder.mkdir()
        content = WRITERS[name](model).encode(encoding)
        path = folder / name
        path.write_bytes(gzip.compress(content) if packing == "gzip" else content)
        if packing in ("folder", "zip"):
            (folder / "Images").mkdir()
            for one in model:
                (folder / "Images" / f"{one}.jpg").write_bytes(picture())
            path = folder
        if packing == "zip":
            path = Path(place) / "set.zip"
            with ZipFile(path, "w") as archive:
                for file in folder.rglob("*.*"):
                    archive.write(file, file.relative_to(folder).as_posix())
        n_pictures = len(model) if packing in ("folder", "zip") else 0
        assert read(path, n_pictures) == expected(model, splits=name not in WITHOUT_SPLITS)


@pytest.mark.django_db
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(MODELS)
def test_a_drawn_collection_comes_back_from_parquet_with_its_pictures(model):
    with tempfile.TemporaryDirectory() as place:
        rows = [
            {"image": {"bytes": picture(), "path": name}, "caption": text, "split": split}
            for name, text, split in rows_of(model)
        ]
        parquet.write_table(pa.Table.from_pylist(rows), Path(place) / "c.parquet")
        assert read(Path(place) / "c.parquet", len(model)) == expected(model, splits=True)
