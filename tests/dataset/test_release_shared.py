"""ECCV Caption's and CxC's published files, imported and released again, give the figures of the paper's table 3."""

import pytest

from benchmarks.eccv_caption import MEANINGLESS, SEMANTICALLY_WRONG, query_files
from corpus.imports import import_collection
from corpus.matches import import_matches
from corpus.models import Collection
from corpus.samples import sample_queries
from dataset.release import release_version
from dataset.version_files import load_positives

pytestmark = [pytest.mark.shared, pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def coco(shared, tmp_path) -> Collection:
    data = shared / "data"
    import_collection("coco", format="jsonl", path=data / "coco_test_captions.jsonl.gz")
    import_collection("coco", format="jsonl", path=data / "coco_test_extra_captions.jsonl", append=True)
    collection = Collection.objects.get()
    for direction in ("image_to_caption", "caption_to_image"):
        import_matches(collection, source="eccv", path=data / f"eccv_caption/eccv_{direction}.json")
    import_matches(collection, source="cxc", path=data / "cxc/sits_test.csv.gz")
    images, captions = query_files(data, tmp_path)
    sample_queries("queries", collection=collection, images=images, captions=captions)
    return collection


def test_the_merge_and_the_two_clean_ups_give_the_published_counts(coco):
    sizes = []
    lists = {"all": (), "meaningless": MEANINGLESS, "wrong": MEANINGLESS + SEMANTICALLY_WRONG}
    for name, excluded in lists.items():
        version = release_version(
            name,
            collection=coco,
            sample=coco.samples.get(),
            merge="eccv,cxc>=3",
            exclude_captions=[str(key) for key in excluded],
        )
        positives = load_positives(version)
        sizes.append(tuple(sum(map(len, positives[direction].values())) for direction in ("t2i", "i2t")))
    assert sizes == [(11_279, 22_551), (11_279, 22_550), (11_279, 22_545)]
    by_source = {row["source"]: row for row in version.manifest["sources"]}
    assert (by_source["cxc>=3"]["images"], by_source["cxc>=3"]["captions"]) == (1_895, 8_906)
    assert round(by_source["wrong"]["times_images"], 2) == 8.47
