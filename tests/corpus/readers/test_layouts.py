"""What lies under a path is found out: layout, pictures, splits; where several layouts fit, a person chooses."""

import json
import tarfile
from collections import Counter
from zipfile import ZipFile

import pyarrow as pa
import pytest
from pyarrow import parquet

from core.errors import CounterpartError
from corpus.imports import prepared_import
from tests.corpus.files import jsonl, line, picture_folder, written
from tests.factories import picture

pytestmark = pytest.mark.django_db


def read(path, **wanted) -> tuple[str, int, int, int, Counter]:
    """The layout, the numbers of images, captions and pictures, and the images by split."""
    with prepared_import("zoo", path=path, **wanted) as found:
        assert found.troubles == []
        images = found.contents.images
        splits = Counter(split for _name, split in images.values())
        return found.found.layout.name, len(images), len(found.contents.new_captions), len(found.files), splits


@pytest.mark.shared
@pytest.mark.parametrize(
    ("case", "images", "expected"),
    [
        ("c01_blip/coco_karpathy_train.json", None, ("table", 4, 4, 0, {"train": 4})),
        ("c01_blip/coco_karpathy_test.json", None, ("table", 4, 8, 0, {"test": 4})),
        ("c02_kaggle", None, ("folder", 4, 8, 4, {"": 4})),
        ("c02_kaggle/captions.txt", "c02_kaggle/Images", ("table", 4, 8, 4, {"": 4})),
        ("c02b_kaggle_renamed", None, ("folder", 4, 8, 4, {"": 4})),
        ("c03a_hf_jsonl", None, ("folder", 4, 4, 4, {"": 4})),
        ("c03c_hf_split", None, ("folder", 4, 4, 4, {"train": 2, "test": 2})),
        ("c05_text/bom.json", None, ("coco", 1, 1, 0, {"": 1})),
        ("c13_same_name/dataset.json", "c13_same_name/pictures", ("karpathy", 2, 2, 2, {"train": 1, "test": 1})),
        ("c13_same_name/two.jsonl", "c13_same_name/pictures", ("jsonl", 2, 2, 2, {"train": 1, "test": 1})),
        ("zh.jsonl", None, ("jsonl", 16, 32, 0, {"": 16})),
    ],
)
def test_files_that_people_bring_are_read_without_their_format(shared, case, images, expected):
    folder = shared / "fixtures" / "intake"
    assert read(folder / case, images=images and folder / images) == expected


@pytest.mark.shared
def test_pictures_of_the_same_name_are_those_of_their_folders(shared):
    folder = shared / "fixtures" / "intake" / "c13_same_name"
    with prepared_import("zoo", path=folder / "dataset.json", images=folder / "pictures") as found:
        assert {key: file.parent.name for key, file in found.files.items()} == {"0": "train", "1": "test"}
    with pytest.raises(CounterpartError, match=r"folder .*; coco .*; karpathy .*2 captions\)\. Choose with --format"):
        read(folder)


IMAGES = [{"id": n, "file_name": f"{n}.jpg"} for n in range(3)]


def webdataset(folder):
    for name, shard in {"train-000.tar": "a", "test-000.tar": "b"}.items():
        made = picture_folder(folder / "made", f"{shard}.jpg")
        written(made / f"{shard}.txt", "a cat")
        written(made / f"{shard}.json", {"caption": "another"})
        with tarfile.open(folder / name, "w") as tar:
            for file in sorted(made.glob(f"{shard}.*")):
                tar.add(file, file.name)
                file.unlink()
    return folder


def parquet_of_hugging_face(folder):
    (folder / "data").mkdir(parents=True)
    for split, color in {"train": "red", "test": "blue"}.items():
        image = {"bytes": picture(color), "path": "0.jpg"}  # the same name in both
        table = pa.table({"image": [image, image], "caption": ["a cat", "a dog"]})
        parquet.write_table(table, folder / "data" / f"{split}-00000-of-00001.parquet")
    return folder


def coco_with_pictures(folder):
    picture_folder(folder, "train2017/1.jpg", "val2017/2.jpg")
    for number, name in enumerate(("train2017", "val2017"), 1):
        images = [{"id": number, "file_name": f"{number}.jpg"}]
        captions = [{"id": number, "image_id": number, "caption": "a cat"}]
        (folder / "annotations").mkdir(exist_ok=True)
        for kind in ("captions", "instances"):
            written(folder / "annotations" / f"{kind}_{name}.json", {"images": images, "annotations": captions})
    return folder


def zipped_table(folder):
    made = picture_folder(folder / "made", "Images/0.jpg", "Images/1.jpg", "Images/more.jpg")
    written(made / "captions.tsv", "Image Name\tComment\n0.jpg\ta cat\n1.jpg\ta dog\n1.jpg\tdogs\n")
    written(made / "README.md", "about")
    with ZipFile(folder / "birds.zip", "w") as archive:
        for file in made.rglob("*.*"):
            archive.write(file, f"birds/{file.relative_to(made)}")
    return folder / "birds.zip"


def image_folder_by_splits(folder):
    picture_folder(folder / "data", "Training/0.jpg", "validation/0.jpg", "test/0.jpg")
    for split in ("Training", "validation", "test"):
        jsonl(folder / "data" / split / "metadata.jsonl", {"file_name": "0.jpg", "text": ["a cat", "a bear"]})
    return folder


def table_of_names_alone(folder):
    picture_folder(folder, "train/0.jpg", "test/1.jpg", "test/2.jpg")
    written(folder / "captions.csv", "image,caption\n0.jpg,a cat\ntest\\1.jpg,a dog\n/ann/2.jpg,a dog\n")
    return folder


def shards_by_splits(folder):
    for split, color in {"train": "red", "test": "blue"}.items():
        written(folder / "0.txt", "a cat")
        (folder / "0.jpg").write_bytes(picture(color))
        (folder / split).mkdir()
        with tarfile.open(folder / split / "0000.tar", "w") as tar:
            for name in ("0.txt", "0.jpg"):
                tar.add(folder / name, name)
                (folder / name).unlink()
    return folder


def table_above_folders_of_splits(folder):
    picture_folder(folder, "Images/train/0.jpg", "Images/test/1.jpg", "Images/test/2.jpg")
    written(folder / "captions.csv", "image,caption\n0.jpg,a cat\n1.jpg,a dog\n")
    return folder


@pytest.mark.parametrize(
    ("name", "rows", "layout"),
    [
        ("c.csv", "image,caption\n0.jpg,a cat\n1.jpg,a dog\n2.jpg,a bear\n", "table"),
        ("c.token", "0.jpg#0\ta cat\n1.jpg#0\ta dog\n2.jpg#0\ta bear\n", "flickr"),
        (
            "c.jsonl",
            '{"image": "0.jpg", "text": "a"}\n{"image": "1.jpg", "text": "b"}\n{"image": "2.jpg", "text": "c"}',
            "jsonl",
        ),
        ("c.json", [{"image": f"{n}.jpg", "caption": ["a cat"]} for n in range(3)], "table"),
        (
            "d.json",
            {"images": [{"filename": f"{n}.jpg", "sentences": [{"raw": "a", "sentid": n}]} for n in range(3)]},
            "karpathy",
        ),
        (
            "captions.json",
            {"images": IMAGES, "annotations": [{"id": n, "image_id": n, "caption": "a"} for n in range(3)]},
            "coco",
        ),
    ],
)
@pytest.mark.parametrize("images", ["pictures", "pictures.zip"])
def test_the_split_of_a_row_without_one_is_that_of_the_folder_where_its_picture_lies(
    tmp_path, name, rows, layout, images
):
    folder = picture_folder(tmp_path / "pictures", "train/0.jpg", "test/1.jpg", "val/2.jpg", "train/more.jpg")
    with ZipFile(tmp_path / "pictures.zip", "w") as archive:
        for file in folder.rglob("*.jpg"):
            archive.write(file, file.relative_to(folder))
    path = written(tmp_path / name, rows)
    expected = (layout, 3, 3, 3, {"train": 1, "test": 1, "val": 1})
    assert read(path, images=tmp_path / images) == expected


@pytest.mark.parametrize(
    ("folders", "splits", "troubles"),
    [
        (("train2014", "val2014"), {"train": 1, "": 1}, 0),
        (("val2014", "test2015"), {"": 2}, 0),
        (("data/train", "data/dev"), {"train": 1, "val": 1}, 0),
        (("data/train", "data/held out"), {"train": 1, "held out": 1}, 1),
        (("cats", "dogs"), {"": 2}, 0),
    ],
)
@pytest.mark.parametrize("written_out", [True, False])
def test_only_names_of_splits_decide(tmp_path, folders, splits, troubles, written_out):
    places = [f"{folder}/{n}.jpg" for n, folder in enumerate(folders)]
    rows = [line(n, n, file_name=place if written_out else f"{n}.jpg") for n, place in enumerate(places)]
    images = None if written_out else picture_folder(tmp_path / "pictures", *places)
    with prepared_import("zoo", path=jsonl(tmp_path / "c.jsonl", *rows), images=images) as found:
        assert len(found.troubles) == troubles
        assert Counter(split for _name, split in found.contents.images.values()) == splits


def test_pictures_for_training_do_not_come_to_images_of_a_gallery(tmp_path):
    path = jsonl(tmp_path / "c.jsonl", line(0, 0), line(1, 1))
    with prepared_import("zoo", path=path) as found:
        found.store()
    with prepared_import(
        "zoo", path=path, images=picture_folder(tmp_path / "zoo", "train/0.jpg", "test/1.jpg")
    ) as found:
        assert found.troubles == [
            "1 image has another file name or split in this collection or earlier in the file: 0. "
            "Give them unique ids, or import into a new collection."
        ]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (webdataset, ("folder", 2, 2, 2, {"train": 1, "test": 1})),
        (shards_by_splits, ("folder", 2, 2, 2, {"train": 1, "test": 1})),
        (table_of_names_alone, ("folder", 3, 3, 3, {"train": 1, "test": 2})),
        (parquet_of_hugging_face, ("table", 2, 4, 2, {"train": 1, "test": 1})),
        (coco_with_pictures, ("coco", 2, 2, 2, {"train": 1, "": 1})),
        (zipped_table, ("folder", 3, 3, 3, {"": 3})),
        (table_above_folders_of_splits, ("folder", 3, 2, 3, {"train": 1, "test": 2})),
        (image_folder_by_splits, ("folder", 3, 6, 3, {"train": 1, "val": 1, "test": 1})),
    ],
)
def test_public_layouts_are_read_as_they_are_downloaded(tmp_path, make, expected):
    (tmp_path / "set").mkdir()
    assert read(make(tmp_path / "set")) == expected


def test_an_unknown_split_is_decided_by_a_person_and_never_searched_by_default(tmp_path):
    path = jsonl(tmp_path / "c.jsonl", *(line(i, i, split=split) for i, split in enumerate(["TRAIN", "Fold 1", "x"])))
    with prepared_import("zoo", path=path) as found:
        assert found.troubles == [
            "2 splits are unknown: Fold 1 (1 record), x (1 record). Name those to search with --gallery, such as "
            "--gallery 'Fold 1'; the others are for training."
        ]
    assert read(path, gallery=("Fold 1",))[-1] == {"train": 2, "Fold 1": 1}
    assert read(path, gallery=("train", "x"))[-1] == {"gallery": 1, "train": 1, "x": 1}


def test_a_file_in_another_layout_than_was_asked_for_is_named(tmp_path):
    path = written(tmp_path / "captions.csv", "image,caption\n0.jpg,a cat\n")
    with prepared_import("zoo", path=path, format="flickr") as found:
        assert "It looks like a table of images and captions: use --format table" in found.troubles[0]
    with pytest.raises(CounterpartError, match="no captions or pictures that can be read"):
        read(written(tmp_path / "notes.txt", "nothing\n"))


def test_bad_rows_are_counted_by_kind_and_can_be_left_out(tmp_path):
    path = written(tmp_path / "c.csv", "image,caption\na.jpg,a cat\na.jpg,\n,a dog\n,a bear\n")
    with prepared_import("zoo", path=path) as found:
        assert found.troubles == [
            "3 faults: the image of this caption has no id (2: c.csv, line 4, c.csv, line 5), the caption has no text "
            "(1: c.csv, line 3). Correct them, or leave them out (--skip-broken)."
        ]
    with prepared_import("zoo", path=path, skip_broken=True) as found:
        summary = found.store()
    assert (summary.captions_added, len(summary.skipped)) == (1, 3)


def test_blank_and_broken_things_of_json_cost_no_file(tmp_path):
    folder = picture_folder(tmp_path / "zoo", "1.jpg", "2.jpg")
    (folder / "2.jpg").write_bytes(b"no picture")
    images = [{"id": i, "file_name": f"{i}.jpg"} for i in (1, 2, 3)]
    captions = [{"id": i, "image_id": i, "caption": text} for i, text in ((1, "a cat"), (2, None), (3, "a dog"))]
    path = written(tmp_path / "c.json", json.dumps({"images": images, "annotations": captions}))
    with prepared_import("zoo", path=path, images=folder, skip_broken=True) as found:
        summary = found.store()
    assert (summary.captions_added, summary.images_added, summary.pictures_added) == (2, 3, 1)
    assert [one.partition(" (")[0] for one in summary.skipped] == ["c.json, annotation 2", "3.jpg", "2.jpg"]
