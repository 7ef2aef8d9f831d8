"""ECCV Caption's and CxC's published files, imported, cleaned up and released, give the figures of table 3."""

from collections.abc import Sequence

import pytest
from django.contrib.auth.models import User

from benchmarks.papers.public_files import MEANINGLESS, SEMANTICALLY_WRONG, query_files
from corpus.imports import import_collection
from corpus.matches import import_matches
from corpus.models import Collection
from corpus.samples import sample_queries
from dataset.models import Review, Version
from dataset.releases import release_leases
from dataset.reviews.cases import queue_of
from dataset.reviews.cleanup import CleanupParameters, suggest_clean_up
from dataset.reviews.reviews import Conclusion, conclude
from dataset.versions.version_files import load_positives
from tests.dataset.releasing import release_version

pytestmark = [pytest.mark.shared, pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def lease_of_an_hour(monkeypatch):
    """On SQLite, whoever renews a lease waits for the transaction of the test, and each release for them."""
    monkeypatch.setattr(release_leases, "SECONDS", 3600)


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


def exclude(coco: Collection, keys: Sequence[int], grounds: str, person: User) -> None:
    rows = coco.captions.filter(key__in=map(str, keys)).values_list("pk", flat=True)
    conclusion = Conclusion(Review.Conclusion.EXCLUDED, grounds=grounds, reason="Appendix C.1.")
    conclude(coco, [(None, pk) for pk in rows], conclusion, by=person)


def test_the_merge_and_the_two_clean_ups_give_the_published_counts(coco, person):
    """First named at the release, then decided by a person on suggestions."""

    def release(name: str, **options: object) -> Version:
        return release_version(name, collection=coco, sample=coco.samples.get(), merge="eccv,cxc>=3", **options)

    def size(version: Version) -> tuple[int, int]:
        positives = load_positives(version)
        return tuple(sum(map(len, positives[direction].values())) for direction in ("t2i", "i2t"))

    assert size(release("all")) == (11_279, 22_551)
    assert size(release("meaningless", exclude_captions=[str(key) for key in MEANINGLESS])) == (11_279, 22_550)

    counts = suggest_clean_up(CleanupParameters(collection="coco"))
    suggested = {int(case.caption.key) for case in queue_of(coco, "meaningless").select_related("caption")}
    assert suggested >= set(MEANINGLESS)
    assert (counts["meaningless"], counts["suspicious"]) == (28, 15)
    doubted = {int(case.caption.key) for case in queue_of(coco, "suspicious").select_related("caption")}
    assert [len(doubted & set(listed)) for listed in (MEANINGLESS, SEMANTICALLY_WRONG)] == [12, 3]
    assert suggest_clean_up(CleanupParameters(collection="coco", below=3))["suspicious"] == 29
    doubted = {int(case.caption.key) for case in queue_of(coco, "suspicious").select_related("caption")}
    assert [len(doubted & set(listed)) for listed in (MEANINGLESS, SEMANTICALLY_WRONG)] == [16, 13]

    exclude(coco, MEANINGLESS, "meaningless", person)
    exclude(coco, SEMANTICALLY_WRONG, "wrong", person)
    version = release("wrong")
    assert size(version) == (11_279, 22_545)
    by_source = {row["source"]: row for row in version.manifest["sources"]}
    assert (by_source["cxc>=3"]["images"], by_source["cxc>=3"]["captions"]) == (1_895, 8_906)
    assert round(by_source["wrong"]["times_images"], 2) == 8.47
