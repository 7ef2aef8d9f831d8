"""The two readers of whole JSON documents: COCO's and Karpathy's."""

import json

import pytest

from core.errors import CounterpartError
from tests.corpus.files import records_of, written, zipped

COCO = {
    "info": {"year": 2014},
    "images": [{"id": 9, "file_name": "COCO_9.jpg", "height": 4}, {"id": 8, "file_name": "COCO_8.jpg"}],
    "annotations": [{"image_id": 9, "id": 1, "caption": "a bus "}, {"image_id": 9, "id": 2, "caption": "buses"}],
}
KARPATHY = {
    "images": [
        {
            "filepath": "val2014",
            "sentids": [770337, 771687],
            "filename": "COCO_val2014_000000391895.jpg",
            "imgid": 0,
            "split": "test",
            "sentences": [
                {"tokens": ["a", "man"], "raw": "A man. ", "imgid": 0, "sentid": 770337},
                {"tokens": ["man"], "raw": "Man", "imgid": 0, "sentid": 771687},
            ],
            "cocoid": 391895,
        }
    ],
    "dataset": "coco",
}


def test_coco_annotations_find_their_images_in_any_order(tmp_path):
    turned = {name: COCO[name] for name in ("annotations", "images")}
    records = records_of("coco", written(tmp_path / "captions_val2014.json", turned))
    assert records[0] == ("9", "COCO_9.jpg", "1", "a bus ", "")
    assert records == (records_of("coco", written(tmp_path / "captions_val2014.json", COCO)))


def test_coco_images_without_captions_come_last_and_bare(tmp_path):
    *_, last = records_of("coco", written(tmp_path / "captions_val2014.json", COCO))
    assert (last.image, last.text) == ("8", None)


def test_coco_training_captions_are_the_split_train(tmp_path):
    path = zipped(tmp_path / "captions_train2017.json.gz", json.dumps(COCO).encode())
    assert {record.split for record in records_of("coco", path)} == {"train"}


def test_karpathy_coco_is_keyed_by_the_ids_of_coco(tmp_path):
    first, second = records_of("karpathy", written(tmp_path / "dataset_coco.json", KARPATHY))
    assert first == ("391895", "val2014/COCO_val2014_000000391895.jpg", "770337", "A man. ", "test")
    assert second.caption == "771687"


def test_karpathy_images_of_one_name_are_known_by_their_folders(tmp_path):
    images = [{"filename": "1.jpg", "filepath": folder, "sentences": []} for folder in ("train", "test")]
    records = records_of("karpathy", written(tmp_path / "d.json", {"images": images}))
    assert [(one.image, one.split) for one in records] == [("train/1.jpg", "train"), ("test/1.jpg", "test")]


def test_karpathy_flickr_is_keyed_by_file_name(tmp_path):
    image = {key: value for key, value in KARPATHY["images"][0].items() if key not in ("cocoid", "filepath")}
    [first, _] = records_of("karpathy", written(tmp_path / "dataset_flickr30k.json", {"images": [image]}))
    assert first.image == first.file_name == "COCO_val2014_000000391895.jpg"


def test_a_karpathy_image_without_sentences_is_bare(tmp_path):
    image = {"filename": "a.jpg", "sentences": [], "split": "val"}
    assert (records_of("karpathy", written(tmp_path / "d.json", {"images": [image]}))) == [
        ("a.jpg", "a.jpg", "", None, "val")
    ]


@pytest.mark.parametrize(
    ("annotation", "complaint"),
    [
        ({"image_id": 7, "id": 1, "caption": "a"}, "its image 7 is not among the file's images."),
        ({"id": 1, "caption": "a"}, "the image of this caption has no id."),
        ({"image_id": 9, "caption": "a"}, "the caption has no id."),
        ({"image_id": 9, "id": 1, "bbox": [1, 2]}, "the caption has no text."),
        (5, "not a JSON object."),
    ],
)
def test_a_bad_coco_annotation_is_named_by_its_number(tmp_path, annotation, complaint):
    path = written(tmp_path / "captions.json", {**COCO, "annotations": [*COCO["annotations"], annotation]})
    with pytest.raises(CounterpartError) as raised:
        (records_of("coco", path))
    assert str(raised.value) == f"captions.json, annotation 3: {complaint}"


@pytest.mark.parametrize(
    "image", [5, {"filename": "a"}, {"filename": "a", "sentences": [1]}, {"filename": "a", "sentences": [{"raw": "b"}]}]
)
def test_a_bad_karpathy_image_is_named_by_its_number(tmp_path, image):
    with pytest.raises(CounterpartError, match=r"^d.json, image 1: "):
        (records_of("karpathy", written(tmp_path / "d.json", {"images": [image]})))


@pytest.mark.parametrize(("reader", "whole"), [("coco", COCO), ("karpathy", KARPATHY)])
@pytest.mark.parametrize("spoil", [lambda text: text[:-60], lambda text: "not json", lambda text: text + "]"])
def test_broken_json_is_one_clear_line(tmp_path, reader, whole, spoil):
    with pytest.raises(CounterpartError, match=r"^captions.json is (cut|not)") as raised:
        (records_of(reader, written(tmp_path / "captions.json", spoil(json.dumps(whole)))))
    assert "\n" not in str(raised.value)
